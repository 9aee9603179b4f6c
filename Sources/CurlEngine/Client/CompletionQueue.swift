import CShims
import RetryCore

/// Ended calls, in the order in which they ended, and a descriptor that is readable while there are any.
public final class CompletionQueue {
    private let monitor: OpaquePointer
    private let eventfd: Int32
    private var calls: [Call] = []
    /// Where the first call stands; those before it have been taken.
    private var first = 0
    private var isClosed = false
    /// Somebody may poll the descriptor.
    private var isPolled = false
    /// Calls that are to come here, and the engine of all of them: whoever waits here may drive it. Nil: there are none, or
    /// those of several engines.
    private var expected = 0
    private var waiters = 0
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
        if !isPolled, first < calls.count { shim_eventfd_signal(eventfd) }
        isPolled = true
        shim_monitor_unlock(monitor)
        return eventfd
    }

    /// Somebody polls the descriptor, and so waits elsewhere.
    var isWatched: Bool {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        return isPolled
    }

    /// A call of that engine will come here.
    func expect(_ engine: Engine) {
        shim_monitor_lock(monitor)
        if expected == 0 { self.engine = engine } else if self.engine !== engine { self.engine = nil }
        expected += 1
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
        if isOpen, !call.isGone {
            if isPolled, first == calls.count { shim_eventfd_signal(eventfd) }
            calls.append(call)
            if waiters > 0 { shim_monitor_wake_all(monitor) }
        }
        shim_monitor_unlock(monitor)
        return isOpen
    }

    private var hasCalls: Bool {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        dropAbandoned()
        return first < calls.count
    }

    /// The engine that may be driven by who waits here.
    private var onlyEngine: Engine? {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        return engine
    }

    /// Passes over the calls at its front that nobody will ask for.
    func tidy() {
        shim_monitor_lock(monitor)
        dropAbandoned()
        shim_monitor_unlock(monitor)
    }

    /// Takes no further calls, and gives those to `body` that nobody else knows of.
    public func close(_ body: (Call) -> Void) {
        shim_monitor_lock(monitor)
        isClosed = true
        let left = calls[first...].filter { $0.isUnowned }
        calls.removeAll()
        first = 0
        shim_monitor_wake_all(monitor)
        shim_monitor_unlock(monitor)
        for call in left { body(call) }
    }

    /// Gives at most so many ended calls to `body`, and waits so long for the first one. The number of calls given.
    public func take(atMost capacity: Int, timeoutMilliseconds: Int64, _ body: (Call, Int) -> Void) -> Int {
        let limit = Instant(nanoseconds: shim_monotonic_nanoseconds()).advanced(byMilliseconds: timeoutMilliseconds)
        if timeoutMilliseconds > 0, !hasCalls {
            while let engine = onlyEngine, engine.drive(forQueue: { hasCalls }, until: limit.nanoseconds), !hasCalls,
                shim_monotonic_nanoseconds() < limit.nanoseconds
            {}
        }
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        dropAbandoned()
        waiters += 1
        defer { waiters -= 1 }
        while first == calls.count {
            guard timeoutMilliseconds > 0, shim_monitor_wait_until(monitor, limit.nanoseconds) || first < calls.count
            else { return 0 }
            dropAbandoned()
        }
        var count = 0
        while first < calls.count, count < capacity {
            body(calls[first], count)
            count += 1
            first += 1
            dropAbandoned()
        }
        return count
    }

    /// With the lock held: passes over the calls that nobody will ask for, and takes what has been passed out of memory.
    private func dropAbandoned() {
        while first < calls.count, calls[first].isGone { first += 1 }
        if first == calls.count {
            guard first > 0 else { return }
            calls.removeAll(keepingCapacity: calls.count <= 1_024)
            first = 0
            if isPolled { shim_eventfd_clear(eventfd) }
        } else if first > 1_024, first > calls.count / 2 {
            calls.removeFirst(first)
            first = 0
        }
    }
}
