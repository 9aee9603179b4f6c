import CShims
import RetryCore

/// Ended calls, in the order in which they ended, and a descriptor that is readable while there are any.
public final class CompletionQueue {
    private let monitor: OpaquePointer
    private let eventfd: Int32
    private var calls = CallQueue()
    private var isClosed = false
    /// Somebody may poll the descriptor.
    private var isPolled = false
    /// Calls that will be delivered here, and the engine of all of them: a thread that waits here may drive it. Nil:
    /// there are no calls, or several engines.
    private var expected = 0
    private var waiters = 0
    /// Calls in progress on engines without a thread: a thread that waits here drives the engine.
    private var begun = 0
    private var engine: Engine?

    /// Nil if there is no memory, or no descriptor.
    public static func make() -> CompletionQueue? {
        let eventfd = shim_eventfd_new()
        guard eventfd >= 0 else { return nil }
        guard let monitor = shim_monitor_new() else {
            shim_close(eventfd)
            return nil
        }
        return CompletionQueue(monitor, eventfd)
    }

    private init(_ monitor: OpaquePointer, _ eventfd: Int32) {
        self.monitor = monitor
        self.eventfd = eventfd
    }

    deinit {
        shim_monitor_free(monitor)
        shim_close(eventfd)
    }

    public var descriptor: Int32 {
        shim_monitor_lock(monitor)
        if !isPolled, !calls.isEmpty { shim_eventfd_signal(eventfd) }
        isPolled = true
        shim_monitor_unlock(monitor)
        return eventfd
    }

    /// A call of that engine will be delivered here. False if no thread will wait here: the program polls the
    /// descriptor.
    func expect(_ engine: Engine) -> Bool {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        if expected == 0 { self.engine = engine } else if self.engine !== engine { self.engine = nil }
        expected += 1
        return !isPolled
    }

    /// A call that is expected has begun, and its engine has no thread.
    func wakeTakers() {
        shim_monitor_lock(monitor)
        begun += 1
        if waiters > 0 { shim_monitor_wake_all(monitor) }
        shim_monitor_unlock(monitor)
    }

    /// One that was expected does not come.
    func expectNoMore() {
        shim_monitor_lock(monitor)
        forgetOne()
        shim_monitor_unlock(monitor)
    }

    private func forgetOne() {
        expected -= 1
        if expected == 0 { engine = nil }
    }

    /// A call that was expected has ended. False if the queue is closed.
    func put(_ call: Call) -> Bool {
        shim_monitor_lock(monitor)
        forgetOne()
        let isOpen = !isClosed
        if isOpen, !call.isAbandoned {
            if isPolled, calls.isEmpty { shim_eventfd_signal(eventfd) }
            calls.append(call)
            call.isInQueue = true
            if waiters > 0 { shim_monitor_wake_all(monitor) }
        }
        shim_monitor_unlock(monitor)
        return isOpen
    }

    var hasCalls: Bool {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        return !calls.isEmpty
    }

    /// The program has abandoned this call: the queue does not accept it, or removes it.
    func abandon(_ call: Call) {
        shim_monitor_lock(monitor)
        call.isAbandoned = true
        if call.isInQueue {
            calls.remove(call)
            left(call)
        }
        shim_monitor_unlock(monitor)
    }

    /// With the lock held: a call is not among those here any more.
    private func left(_ call: Call) {
        call.isInQueue = false
        if isPolled, calls.isEmpty { shim_eventfd_clear(eventfd) }
    }

    /// Accepts no further calls, and passes to `body` those that the program has no reference to.
    public func close(_ body: (Call) -> Void) {
        shim_monitor_lock(monitor)
        isClosed = true
        var unowned: [Call] = []
        while let call = takeFirst() {
            if call.isUnowned { unowned.append(call) }
        }
        shim_monitor_wake_all(monitor)
        shim_monitor_unlock(monitor)
        for call in unowned { body(call) }
    }

    /// Passes at most `capacity` ended calls to `body`, and waits up to the timeout for the first. Returns their
    /// number.
    public func take(atMost capacity: Int, timeoutMilliseconds: Int64, _ body: (Call, Int) -> Void) -> Int {
        let limit = Instant(nanoseconds: shim_monotonic_nanoseconds()).advanced(byMilliseconds: timeoutMilliseconds)
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        while calls.isEmpty {
            guard timeoutMilliseconds > 0, wait(until: limit.nanoseconds) || !calls.isEmpty else { return 0 }
        }
        var count = 0
        while count < capacity, let call = takeFirst() {
            body(call, count)
            count += 1
        }
        return count
    }

    /// With the lock held, before and after: drives the engine of the calls that are to come, or waits for one. False if
    /// that time came first.
    private func wait(until limit: Int64) -> Bool {
        let seen = begun
        if let engine {
            shim_monitor_unlock(monitor)
            let hasDriven = engine.drive(for: self, until: limit)
            shim_monitor_lock(monitor)
            if hasDriven { return shim_monotonic_nanoseconds() < limit }
        }
        waiters += 1
        defer { waiters -= 1 }
        while calls.isEmpty, begun == seen {
            guard shim_monitor_wait_until(monitor, limit) else { return false }
        }
        return true
    }

    /// With the lock held.
    private func takeFirst() -> Call? {
        guard let call = calls.takeFirst() else { return nil }
        left(call)
        return call
    }
}
