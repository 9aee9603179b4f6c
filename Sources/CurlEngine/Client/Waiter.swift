import CShims
import RetryCore

/// A thread that waits for a signal.
public final class Waiter {
    private let monitor: OpaquePointer
    private var isSignaled = false

    /// Nil if out of memory.
    public static func make() -> Waiter? {
        shim_monitor_new().map { Waiter($0) }
    }

    private init(_ monitor: OpaquePointer) {
        self.monitor = monitor
    }

    deinit {
        shim_monitor_free(monitor)
    }

    func signal() {
        shim_monitor_lock(monitor)
        isSignaled = true
        shim_monitor_wake_all(monitor)
        shim_monitor_unlock(monitor)
    }

    /// False if that time came first.
    func wait(until limit: Int64) -> Bool {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        while !isSignaled {
            if !shim_monitor_wait_until(monitor, limit), !isSignaled { return false }
        }
        return true
    }
}
