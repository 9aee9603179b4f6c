/// One of the clients that share an engine: which calls are its own, and whether it takes further ones.
public final class CallOwner {
    struct Shared {
        var isClosed = false
        private(set) var unfinished = 0
        var waiters: [Waiter] = []

        /// A call of it begins. False if it takes no calls any more.
        mutating func begin() -> Bool {
            guard !isClosed else { return false }
            unfinished += 1
            return true
        }

        /// A call of it has ended.
        mutating func end() {
            unfinished -= 1
            guard unfinished == 0, !waiters.isEmpty else { return }
            for waiter in waiters { waiter.signal() }
            waiters = []
        }
    }

    private var guarded = Shared()

    /// The lock of its engine is held.
    @inline(__always)
    func shared<Lock: EngineLock, Result>(
        _ held: borrowing Monitor<Lock>.Held, _ body: (inout Shared) -> Result
    ) -> Result {
        body(&guarded)
    }
}
