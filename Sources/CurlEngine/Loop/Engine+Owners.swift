import CShims
import RetryCore

extension Engine {
    /// The first client of this engine, or one derived from another. Nil if that one is closed.
    public func addOwner(from other: CallOwner?) -> CallOwner? {
        locked {
            guard other?.isClosed != true else { return nil }
            owners += 1
            return CallOwner()
        }
    }

    /// Ends the calls of one client. With the last one, the engine closes.
    public func close(_ owner: CallOwner) {
        let isLast = locked {
            guard !owner.isClosed else { return false }
            owner.isClosed = true
            owners -= 1
            guard owners > 0 else { return true }
            guard owner.unfinished > 0 else { return false }
            commands.append(.cancelAll(owner))
            startThread()
            endsCalls = true
            wakeDriver()
            shim_monitor_wake_all(lock)
            endCallsIfDriven()
            return false
        }
        if isLast { close() }
    }

    /// Waits until all calls of a closed client have ended. For the last client of the engine, also waits until the engine
    /// has closed. Returns false if `limit`, in nanoseconds of CLOCK_MONOTONIC, comes first.
    public func waitUntilClosed(_ owner: CallOwner, until limit: Int64) -> Bool {
        if locked({ isClosing }) { return waitUntilClosed(until: limit) }
        if shim_exit_has_begun() { return waitAtExit(until: limit, .ends(owner)) }
        let waiter = Waiter.make()
        shim_monitor_lock(lock)
        var isIdle = owner.unfinished == 0
        if !isIdle, let waiter { owner.waiters.append(waiter) }
        if waiter == nil { isIdle = look(until: limit, .ends(owner)) }
        shim_monitor_unlock(lock)
        return isIdle || waiter?.wait(until: limit) == true
    }
}
