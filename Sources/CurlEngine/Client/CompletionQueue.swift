import CShims
import RetryCore

/// Ended calls, in the order in which they ended, and a descriptor that is readable while there are any.
public final class CompletionQueue: CallDestination {
    private struct State {
        let eventfd: Int32
        var calls = CallQueue()
        var isClosed = false
        /// Somebody may poll the descriptor.
        var isPolled = false
        /// Calls that will be delivered here, and the loop of all of them: a thread that waits here may drive it. Nil:
        /// there are no calls, or several loops.
        var expected = 0
        var loop: (any CallLoop)?
        var waiters = 0
        /// Calls in progress on loops without a thread: a thread that waits here drives the loop.
        var begun = 0

        init(_ eventfd: Int32) {
            self.eventfd = eventfd
        }

        /// One that was expected has come, or does not come.
        mutating func expectNoMore() {
            expected -= 1
            if expected == 0 { loop = nil }
        }

        mutating func append(_ call: Call) {
            if isPolled, calls.isEmpty { shim_eventfd_signal(eventfd) }
            calls.append(call)
            call.isInQueue = true
        }

        mutating func takeFirst() -> Call? {
            guard let call = calls.takeFirst() else { return nil }
            left(call)
            return call
        }

        mutating func remove(_ call: Call) {
            guard call.isInQueue else { return }
            calls.remove(call)
            left(call)
        }

        /// A call is not among those here any more.
        private func left(_ call: Call) {
            call.isInQueue = false
            if isPolled, calls.isEmpty { shim_eventfd_clear(eventfd) }
        }
    }

    private let monitor: Monitor<State>
    private let eventfd: Int32

    /// Nil if there is no memory, or no descriptor.
    public static func make() -> CompletionQueue? {
        let eventfd = shim_eventfd_new()
        guard eventfd >= 0 else { return nil }
        guard let monitor = Monitor(State(eventfd)) else {
            shim_close(eventfd)
            return nil
        }
        return CompletionQueue(monitor, eventfd)
    }

    private init(_ monitor: consuming Monitor<State>, _ eventfd: Int32) {
        self.monitor = monitor
        self.eventfd = eventfd
    }

    deinit {
        shim_close(eventfd)
    }

    public var descriptor: Int32 {
        monitor.withLock { held in
            if !held.state.isPolled, !held.state.calls.isEmpty { shim_eventfd_signal(eventfd) }
            held.state.isPolled = true
        }
        return eventfd
    }

    public func expect(_ loop: any CallLoop) -> Bool {
        monitor.withLock { held in
            if held.state.expected == 0 {
                held.state.loop = loop
            } else if held.state.loop !== loop {
                held.state.loop = nil
            }
            held.state.expected += 1
            return !held.state.isPolled
        }
    }

    public func wakeTakers() {
        monitor.withLock { held in
            held.state.begun += 1
            if held.state.waiters > 0 { held.wakeAll() }
        }
    }

    public func expectNoMore() {
        monitor.withLock { $0.state.expectNoMore() }
    }

    public func put(_ call: Call) -> Bool {
        monitor.withLock { held in
            held.state.expectNoMore()
            guard !held.state.isClosed else { return false }
            guard !call.isAbandoned else { return true }
            held.state.append(call)
            if held.state.waiters > 0 { held.wakeAll() }
            return true
        }
    }

    public var hasCalls: Bool { monitor.withLock { !$0.state.calls.isEmpty } }

    public func abandon(_ call: Call) {
        monitor.withLock { held in
            call.isAbandoned = true
            held.state.remove(call)
        }
    }

    /// Accepts no further calls, and passes to `body` those that the program has no reference to.
    public func close(_ body: (Call) -> Void) {
        let unowned = monitor.withLock { held in
            held.state.isClosed = true
            var unowned: [Call] = []
            while let call = held.state.takeFirst() {
                if call.isUnowned { unowned.append(call) }
            }
            held.wakeAll()
            return unowned
        }
        for call in unowned { body(call) }
    }

    /// Passes at most `capacity` ended calls to `body`, and waits up to the timeout for the first. Returns their
    /// number.
    public func take(atMost capacity: Int, timeoutMilliseconds: Int64, _ body: (Call, Int) -> Void) -> Int {
        let limit = Instant(nanoseconds: shim_monotonic_nanoseconds()).advanced(byMilliseconds: timeoutMilliseconds)
        return monitor.withLock { held in
            while held.state.calls.isEmpty {
                guard timeoutMilliseconds > 0, wait(held, until: limit.nanoseconds) || !held.state.calls.isEmpty else {
                    return 0
                }
            }
            var count = 0
            while count < capacity, let call = held.state.takeFirst() {
                body(call, count)
                count += 1
            }
            return count
        }
    }

    /// Drives the loop of the calls that are to come, or waits for one. False if that time came first.
    private func wait(_ held: borrowing Monitor<State>.Held, until limit: Int64) -> Bool {
        let seen = held.state.begun
        if let loop = held.state.loop {
            let hasDriven = held.unlocked { loop.drive(for: self, until: limit) }
            if hasDriven { return shim_monotonic_nanoseconds() < limit }
        }
        held.state.waiters += 1
        defer { held.state.waiters -= 1 }
        while held.state.calls.isEmpty, held.state.begun == seen {
            guard held.wait(until: limit) else { return false }
        }
        return true
    }
}
