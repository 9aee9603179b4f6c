import CShims
import RetryCore

extension Engine {
    /// Nanoseconds after which to look at a transfer again whose end libcurl may not see.
    static let timeBetweenLooks: Int64 = 10_000_000

    /// Nanoseconds for which the transport may wait.
    func timeToWait(until limit: Int64) -> Int64 {
        guard virtualTime == nil else { return realTimeToWait(until: limit) }
        return max(min(timers.nextDue ?? .max, limit) - now, 0)
    }

    /// The same on a manual clock, whose alarm ends the wait.
    private func realTimeToWait(until limit: Int64) -> Int64 {
        let left = limit == .max ? .max : max(limit - shim_monotonic_nanoseconds(), 0)
        return active.contains { $0.transfer != nil && $0.attempt.mayHaveEnded }
            ? min(left, Self.timeBetweenLooks) : left
    }

    /// With the lock held: the driver is about to wait.
    func rest() {
        guard let virtualTime else { return }
        let isEarly = virtualTime.rest(until: timers.nextDueOfWaiting, activity, movements: time.movements) { [self] in
            clockRang()
        }
        if !isEarly { hasMoreToDo = true }
    }

    /// The clock has come to the time that the driver waited for. The driver may have left meanwhile.
    func clockRang() {
        role.withLock { role in
            wakeDriver(role)
            leaveClockIfIdle(role)
        }
    }

    /// The driver has waited.
    func waited(_ happened: Int) {
        guard let virtualTime else { return }
        virtualTime.resume()
        guard happened == 0 else { return }
        for call in active where call.attempt.mayHaveEnded { call.transfer?.carrier?.resume() }
    }

    /// A client that has nothing to do does not hold up the clock.
    func leaveClockIfIdle(_ role: borrowing LoopRole.Held) {
        if role.state.unfinished == 0, !role.state.hasDriver { virtualTime?.leave() }
    }

    /// What the engine waits for, apart from its timers.
    private var activity: AutoAdvance.Activity {
        var hasAttempts = false
        for call in active {
            if call.machine.state == .deciding { return .slow }
            guard let transfer = call.transfer else { continue }
            if call.attempt.isHeld || transfer.isConnecting { return .slow }
            if transfer.isDetached { continue }
            hasAttempts = true
        }
        return hasAttempts ? .attempt : .none
    }
}
