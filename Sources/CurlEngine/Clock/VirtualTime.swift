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
