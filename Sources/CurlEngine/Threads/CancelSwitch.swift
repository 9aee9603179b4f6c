import CShims
import RetryCore

/// One switch that ends any number of calls, and of waits for a token. Any thread.
public final class CancelSwitch {
    private struct State {
        var calls: [Call] = []
        var waiters: [TokenWaiter] = []
        var isTriggered = false
    }

    private let monitor: Monitor<State>

    /// Nil if out of memory.
    public static func make() -> CancelSwitch? {
        guard let monitor = Monitor(State()) else { return nil }
        return CancelSwitch(monitor)
    }

    private init(_ monitor: consuming Monitor<State>) {
        self.monitor = monitor
    }

    public var isTriggered: Bool { monitor.withLock { $0.state.isTriggered } }

    public func trigger() {
        let (calls, waiters) = monitor.withLock { held in
            held.state.isTriggered = true
            let waiters = held.state.waiters
            held.state.waiters = []
            return (held.state.calls, waiters)
        }
        for call in calls { call.engine.cancel(call) }
        for waiter in waiters { waiter.source.cancel(waiter) }
    }

    /// From now on, the switch ends this call.
    func add(_ call: Call) {
        let isTooLate = monitor.withLock { held in
            if held.state.isTriggered { return true }
            call.indexInSwitch = held.state.calls.count
            held.state.calls.append(call)
            return false
        }
        if isTooLate { call.engine.cancel(call) }
    }

    func remove(_ call: Call) {
        monitor.withLock { held in
            let index = call.indexInSwitch
            guard index < held.state.calls.count, held.state.calls[index] === call else { return }
            let last = held.state.calls.removeLast()
            guard last !== call else { return }
            held.state.calls[index] = last
            last.indexInSwitch = index
        }
    }

    /// From now on, the switch ends the wait of this waiter; if it has been triggered, that is for the waiter to see.
    func add(_ waiter: TokenWaiter) {
        monitor.withLock { held in
            if held.state.isTriggered { return }
            waiter.indexInSwitch = held.state.waiters.count
            held.state.waiters.append(waiter)
        }
    }

    func remove(_ waiter: TokenWaiter) {
        monitor.withLock { held in
            let index = waiter.indexInSwitch
            guard index < held.state.waiters.count, held.state.waiters[index] === waiter else { return }
            let last = held.state.waiters.removeLast()
            guard last !== waiter else { return }
            held.state.waiters[index] = last
            last.indexInSwitch = index
        }
    }
}
