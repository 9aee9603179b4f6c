/// One of the clients that share an engine: which calls are its own, and whether it takes further ones. Guarded by the engine's
/// lock.
public final class CallOwner {
    var isClosed = false
    private(set) var unfinished = 0
    var waiters: [Waiter] = []

    /// A call of it begins. False if it takes no calls any more.
    func begin() -> Bool {
        guard !isClosed else { return false }
        unfinished += 1
        return true
    }

    /// A call of it has ended.
    func end() {
        unfinished -= 1
        guard unfinished == 0, !waiters.isEmpty else { return }
        for waiter in waiters { waiter.signal() }
        waiters = []
    }
}
