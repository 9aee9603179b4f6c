/// What a switch can end: a call, or a wait for a token.
protocol Cancelable: AnyObject {
    /// Its index in its switch; guarded by the switch's lock.
    var indexInSwitch: Int { get set }

    /// Any thread, without the switch's lock.
    func cancel()
}

/// One switch that ends any number of calls, and of waits for a token. Any thread.
public final class CancelSwitch {
    private struct State {
        /// Each leaves when it has ended.
        var entries: [any Cancelable] = []
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
        let entries = monitor.withLock { held in
            held.state.isTriggered = true
            return held.state.entries
        }
        for entry in entries { entry.cancel() }
    }

    /// From now on, the switch ends it. False if the switch has been triggered before: then it is not added.
    func add(_ entry: any Cancelable) -> Bool {
        monitor.withLock { held in
            if held.state.isTriggered { return false }
            entry.indexInSwitch = held.state.entries.count
            held.state.entries.append(entry)
            return true
        }
    }

    /// It has ended.
    func remove(_ entry: any Cancelable) {
        monitor.withLock { held in
            let index = entry.indexInSwitch
            guard index < held.state.entries.count, held.state.entries[index] === entry else { return }
            let last = held.state.entries.removeLast()
            guard last !== entry else { return }
            held.state.entries[index] = last
            last.indexInSwitch = index
        }
    }
}
