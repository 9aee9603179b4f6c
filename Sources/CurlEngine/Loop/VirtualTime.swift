import CShims
import RetryCore

/// How an engine uses a manual clock: all its timers run on it, but sockets, and libcurl's own timers, in real time.
///
/// The driver waits for its sockets and for an alarm of the clock. The clock knows what the engine waits for, since it
/// may advance by itself (see `AutoAdvance`).
final class VirtualTime {
    let clock: SharedManualClock
    private let user = SharedManualClock.User()

    // Only the holder of the loop touches these.
    private var isResting = false
    private var movementsBefore = 0

    init(_ clock: SharedManualClock) {
        self.clock = clock
    }

    /// There is something to be done, at once.
    func workArrived() { clock.set(user, .work) }

    /// There is nothing left to do.
    func leave() { clock.set(user, .none, isEvent: false) }

    /// The driver is about to wait. `ring` is called when the clock has come to `due`. False if it has already.
    func rest(
        until due: Int64?, _ activity: AutoAdvance.Activity, movements: Int, ring: @escaping () -> Void
    ) -> Bool {
        let isEvent = movements != movementsBefore
        movementsBefore = movements
        isResting = true
        guard let due else {
            clock.set(user, activity, isEvent: isEvent)
            return true
        }
        return clock.wait(user, until: due, activity, isEvent: isEvent, ring: ring)
    }

    /// The driver's wait is over.
    func resume() {
        guard isResting else { return }
        isResting = false
        clock.resume(user)
    }
}

extension Engine {
    /// Nanoseconds after which to look at a transfer again whose end libcurl may not see.
    static let timeBetweenLooks: Int64 = 10_000_000

    /// Nanoseconds of CLOCK_MONOTONIC, when `now` was read.
    var realNow: Int64 { virtualTime == nil ? now : shim_monotonic_nanoseconds() }

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
        let isEarly = virtualTime.rest(until: timers.nextDueOfWaiting, activity, movements: movements) { [self] in
            clockRang()
        }
        if !isEarly { hasMoreToDo = true }
    }

    /// The clock has come to the time that the driver waited for. The driver may have left meanwhile.
    func clockRang() {
        locked {
            wakeDriver()
            leaveClockIfIdle()
        }
    }

    /// The driver has waited.
    func waited(_ happened: Int) {
        guard let virtualTime else { return }
        virtualTime.resume()
        guard happened == 0 else { return }
        for call in active where call.attempt.mayHaveEnded { call.transfer?.carrier?.resume() }
    }

    /// With the lock held: a client that has nothing to do does not hold up the clock.
    func leaveClockIfIdle() {
        if unfinished == 0, !hasDriver { virtualTime?.leave() }
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
