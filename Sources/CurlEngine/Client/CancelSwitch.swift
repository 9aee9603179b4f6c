import CShims
import RetryCore

/// One switch that ends any number of calls, and of waits for a token. Any thread.
public final class CancelSwitch {
    private let monitor: OpaquePointer
    private var calls: [Call] = []
    private var waiters: [TokenWaiter] = []
    private var triggered = false

    /// Nil if out of memory.
    public static func make() -> CancelSwitch? {
        shim_monitor_new().map { CancelSwitch($0) }
    }

    private init(_ monitor: OpaquePointer) {
        self.monitor = monitor
    }

    deinit {
        shim_monitor_free(monitor)
    }

    public var isTriggered: Bool {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        return triggered
    }

    public func trigger() {
        shim_monitor_lock(monitor)
        triggered = true
        let calls = self.calls
        let waiters = self.waiters
        self.waiters = []
        shim_monitor_unlock(monitor)
        for call in calls { call.engine.cancel(call) }
        for waiter in waiters { waiter.source.cancel(waiter) }
    }

    /// From now on, the switch ends this call.
    func add(_ call: Call) {
        shim_monitor_lock(monitor)
        let isTooLate = triggered
        if !isTooLate {
            call.indexInSwitch = calls.count
            calls.append(call)
        }
        shim_monitor_unlock(monitor)
        if isTooLate { call.engine.cancel(call) }
    }

    func remove(_ call: Call) {
        shim_monitor_lock(monitor)
        let index = call.indexInSwitch
        if index < calls.count, calls[index] === call {
            calls.swapAt(index, calls.count - 1)
            calls[index].indexInSwitch = index
            calls.removeLast()
        }
        shim_monitor_unlock(monitor)
    }

    /// From now on, the switch ends the wait of this waiter; if it has been triggered, that is for the waiter to see.
    func add(_ waiter: TokenWaiter) {
        shim_monitor_lock(monitor)
        if !triggered {
            waiter.indexInSwitch = waiters.count
            waiters.append(waiter)
        }
        shim_monitor_unlock(monitor)
    }

    func remove(_ waiter: TokenWaiter) {
        shim_monitor_lock(monitor)
        let index = waiter.indexInSwitch
        if index < waiters.count, waiters[index] === waiter {
            waiters.swapAt(index, waiters.count - 1)
            waiters[index].indexInSwitch = index
            waiters.removeLast()
        }
        shim_monitor_unlock(monitor)
    }
}
