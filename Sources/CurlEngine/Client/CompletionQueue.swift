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

    /// Nil if there is no memory, or no descriptor.
    public init?() {
        let eventfd = shim_eventfd_new()
        guard eventfd >= 0 else { return nil }
        guard let monitor = shim_monitor_new() else {
            shim_close(eventfd)
            return nil
        }
        self.monitor = monitor
        self.eventfd = eventfd
    }

    deinit {
        shim_monitor_free(monitor)
        shim_close(eventfd)
    }

    public var descriptor: Int32 { eventfd }

    /// False if the queue is closed.
    func put(_ call: Call) -> Bool {
        shim_monitor_lock(monitor)
        let isOpen = !isClosed
        if isOpen, !call.isGone {
            if first == calls.count { shim_eventfd_signal(eventfd) }
            calls.append(call)
            shim_monitor_wake_all(monitor)
        }
        shim_monitor_unlock(monitor)
        return isOpen
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
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        dropAbandoned()
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
            shim_eventfd_clear(eventfd)
        } else if first > 1_024, first > calls.count / 2 {
            calls.removeFirst(first)
            first = 0
        }
    }
}
