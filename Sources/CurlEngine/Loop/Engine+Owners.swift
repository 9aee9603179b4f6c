import CShims
import RetryCore

extension Engine {
    /// The first client of this engine, or one derived from another. Nil if that one is closed.
    public func addOwner(from other: CallOwner?) -> CallOwner? {
        role.withLock { role in
            if let other, other.shared(role, { $0.isClosed }) { return nil }
            role.state.owners += 1
            return CallOwner()
        }
    }

    /// Ends the calls of one client. With the last one, the engine closes.
    public func close(_ owner: CallOwner) {
        let isLast = role.withLock { role in
            let (wasClosed, unfinished) = owner.shared(role) { shared in
                defer { shared.isClosed = true }
                return (shared.isClosed, shared.unfinished)
            }
            guard !wasClosed else { return false }
            role.state.owners -= 1
            guard role.state.owners > 0 else { return true }
            guard unfinished > 0 else { return false }
            role.state.cancelAll(of: owner)
            startThread(role)
            role.state.endsCalls = true
            wakeDriver(role)
            role.wakeAll()
            endCallsIfDriven(role)
            return false
        }
        if isLast { close() }
    }

    /// Waits until all calls of a closed client have ended. For the last client of the engine, also waits until the engine
    /// has closed. Returns false if `limit`, in nanoseconds of CLOCK_MONOTONIC, comes first.
    public func waitUntilClosed(_ owner: CallOwner, until limit: Int64) -> Bool {
        if role.withLock({ $0.state.isClosing }) { return waitUntilClosed(until: limit) }
        if shim_exit_has_begun() { return waitAtExit(until: limit, .ends(owner)) }
        let waiter = Waiter.make()
        let isIdle = role.withLock { role in
            guard let waiter else { return look(role, until: limit, .ends(owner)) }
            return owner.shared(role) { shared in
                if shared.unfinished > 0 { shared.waiters.append(waiter) }
                return shared.unfinished == 0
            }
        }
        return isIdle || waiter?.wait(until: limit) == true
    }
}
