import CShims
import RetryCore

/// A manual clock that any number of threads may use at once, and on which they may sleep.
public final class SharedManualClock: Clock {
    /// Guards all that follows, and wakes the threads that wait for a change of it.
    private let monitor: OpaquePointer
    private let clock = ManualClock()
    /// Those who wait for a time. If it has come, they have not noticed yet.
    private var waiting: [User] = []
    private var isClosed = false
    private var auto = AutoAdvance()
    /// The thread that advances the clock has been started, and waits until something changes.
    private var hasThread = false
    private var isThreadResting = false

    /// Somebody who waits for times of this clock, and whose work it waits for before it advances by itself. All of it
    /// is guarded by the clock.
    final class User {
        fileprivate var activity = AutoAdvance.Activity.none
        /// Among those who wait; -1: it does not.
        fileprivate var index = -1
        /// For what it waits on the monotonic timeline; the least of all: its time has come.
        fileprivate var due: Int64 = .max
        /// Nil: a thread that sleeps.
        fileprivate var ring: (() -> Void)?
    }

    /// Nil if out of memory.
    public static func make() -> SharedManualClock? {
        shim_monitor_new(0).map { SharedManualClock($0) }
    }

    private init(_ monitor: OpaquePointer) {
        self.monitor = monitor
    }

    deinit {
        shim_monitor_free(monitor)
    }

    public var monotonic: Instant { locked { clock.monotonic } }
    public var boottime: Instant { locked { clock.boottime } }
    public var wall: Double { locked { clock.wall } }

    /// All timelines at one moment: read one by one, another thread might advance the clock in between.
    var moment: TokenMoment { locked { TokenMoment(clock) } }

    /// Nanoseconds by which boottime is ahead of the monotonic timeline.
    var boottimeAhead: Int64 {
        let moment = moment
        return moment.boottime.nanoseconds - moment.monotonic.nanoseconds
    }

    /// Moves all timelines on, and wakes those whose time has come. False if the clock does not go so far.
    public func advance(bySeconds seconds: Double) -> Bool {
        shim_monitor_lock(monitor)
        let isAdvanced = move(bySeconds: seconds)
        shim_monitor_unlock(monitor)
        ring()
        return isAdvanced
    }

    /// With the lock held; then `ring` is to be called without it.
    private func move(bySeconds seconds: Double) -> Bool {
        guard clock.advance(bySeconds: seconds) else { return false }
        wake(isSuspended: false)
        return true
    }

    /// As if the machine had slept. Each waiter looks at the clock again: some times have come on boottime.
    public func suspend(forSeconds seconds: Double) -> Bool {
        shim_monitor_lock(monitor)
        let isSuspended = clock.suspend(forSeconds: seconds)
        wake(isSuspended: isSuspended)
        shim_monitor_unlock(monitor)
        ring()
        return isSuspended
    }

    /// With the lock held; then `ring` is to be called without it. Those whose time has come are at work from now on,
    /// although their threads are yet to wake.
    private func wake(isSuspended: Bool) {
        let now = clock.monotonic.nanoseconds
        for user in waiting where user.due <= now || isSuspended && user.ring != nil {
            user.due = .min
            change(user, to: .work)
        }
        auto.event()
        shim_monitor_wake_all(monitor)
    }

    /// Without the lock, which what is called may take; and so may what is let go of then.
    private func ring() {
        while let ring = takeRing() { ring() }
    }

    private func takeRing() -> (() -> Void)? {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        for user in waiting where user.due == .min {
            guard let ring = user.ring else { continue }
            remove(user)
            return ring
        }
        return nil
    }

    public func setWall(_ unixTime: Double) -> Bool {
        locked { clock.setWall(unixTime) }
    }

    // MARK: - Those who use the clock

    /// `ring` is called when that time has come, on the thread that advances the clock; it may use the clock. From then
    /// on `user` is at work. False if that time has come already. On a clock that is closed it may never come.
    /// `activity`: what else `user` waits for. `isEvent`: something has happened before that.
    func wait(
        _ user: User, until due: Int64, _ activity: AutoAdvance.Activity, isEvent: Bool, ring: @escaping () -> Void
    ) -> Bool {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        if isEvent { auto.event() }
        guard clock.monotonic.nanoseconds < due else {
            change(user, to: .work)
            return false
        }
        user.ring = ring
        add(user, until: due)
        change(user, to: activity)
        if isClosed { _ = startThread() }
        return true
    }

    /// What somebody does from now on.
    func set(_ user: User, _ activity: AutoAdvance.Activity, isEvent: Bool = true) {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        if isEvent { auto.event() }
        change(user, to: activity)
    }

    /// A waiter continues.
    func resume(_ user: User) {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        change(user, to: .work)
        remove(user)
    }

    /// Somebody is at work who has no `User`, until `workEnded`.
    func workBegan() {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        auto.event()
        auto.change(from: .none, to: .work)
    }

    func workEnded() {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        auto.change(from: .work, to: .none)
        wakeThread()
    }

    // With the lock held:

    private func change(_ user: User, to activity: AutoAdvance.Activity) {
        auto.change(from: user.activity, to: activity)
        user.activity = activity
        wakeThread()
    }

    private func add(_ user: User, until due: Int64) {
        user.due = due
        user.index = waiting.count
        waiting.append(user)
        shim_monitor_wake_all(monitor)
    }

    private func remove(_ user: User) {
        guard user.index >= 0 else { return }
        let last = waiting.removeLast()
        if last !== user {
            waiting[user.index] = last
            last.index = user.index
        }
        user.index = -1
        user.ring = nil
    }

    /// When the next of those who wait is due; `Int64.max` if there is none whose time has not come.
    private var nextDue: Int64 {
        var next = Int64.max
        for user in waiting where user.due > .min { next = min(next, user.due) }
        return next
    }

    // MARK: - Waits

    public enum WaitResult {
        case done
        case timedOut
        case closed
    }

    /// Waits until `seconds` have passed on the monotonic timeline.
    public func sleep(seconds: Double) -> WaitResult {
        let user = User()
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        let due = clock.monotonic.advanced(bySeconds: seconds).nanoseconds
        guard clock.monotonic.nanoseconds < due else { return .done }
        auto.event()
        add(user, until: due)
        while user.due > .min, !isClosed { _ = shim_monitor_wait_until(monitor, .max) }
        change(user, to: .none)
        remove(user)
        return user.due > .min ? .closed : .done
    }

    /// Waits, in real time, until somebody waits on this clock for a time that has not come yet.
    public func waitForTimer(timeoutMilliseconds: Int64) -> WaitResult {
        let limit = Instant(nanoseconds: shim_monotonic_nanoseconds()).advanced(byMilliseconds: timeoutMilliseconds)
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        while nextDue == .max {
            guard !isClosed else { return .closed }
            guard shim_monotonic_nanoseconds() < limit.nanoseconds else { return .timedOut }
            _ = shim_monitor_wait_until(monitor, limit.nanoseconds)
        }
        return .done
    }

    /// Ends all sleeps: no caller can move this clock any more. If it advances by itself, it continues for those who
    /// still use it.
    public func close() {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        isClosed = true
        shim_monitor_wake_all(monitor)
    }

    // MARK: - Advancing by itself

    /// False if no thread can be made for it.
    public func setAutoAdvance(_ isOn: Bool) -> Bool {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        auto.isOn = isOn
        auto.event()
        shim_monitor_wake_all(monitor)
        auto.isOn = isOn && startThread()
        return auto.isOn == isOn
    }

    /// With the lock held. False if no thread can be made.
    private func startThread() -> Bool {
        guard auto.isOn, !hasThread else { return true }
        let context = Unmanaged.passRetained(self)
        hasThread = shim_thread_start(
            { context in
                guard let context else { return }
                Unmanaged<SharedManualClock>.fromOpaque(context).takeRetainedValue().runThread()
            }, nil, context.toOpaque())
        if !hasThread { context.release() }
        return hasThread
    }

    /// With the lock held.
    private func wakeThread() {
        if isThreadResting, !auto.isAtWork { shim_monitor_wake_all(monitor) }
    }

    private func runThread() {
        shim_monitor_lock(monitor)
        var isUsed = true
        while auto.isOn, isUsed {
            let due = nextDue
            switch auto.next(hasTimer: due < .max) {
            case .rest: isUsed = rest()
            case .wait:
                let isOver = !shim_monitor_wait_until(monitor, shim_monotonic_nanoseconds() + AutoAdvance.wait)
                let isBusy = isOver && isMachineBusy()
                if isOver { auto.waited(isBusy: isBusy) }
            case .advance:
                let seconds = Double(due - clock.monotonic.nanoseconds) / 1e9
                if !move(bySeconds: min(seconds, Delay.maximum)) { auto.isOn = false }  // At the end of the clock.
                shim_monitor_unlock(monitor)
                ring()
                shim_monitor_lock(monitor)
            }
        }
        hasThread = false
        shim_monitor_unlock(monitor)
    }

    /// With the lock held, before and after: others want this processor, or none would be free for them.
    private func isMachineBusy() -> Bool {
        shim_monitor_unlock(monitor)
        defer { shim_monitor_lock(monitor) }
        let before = shim_monotonic_nanoseconds()
        shim_yield()
        return shim_monotonic_nanoseconds() - before > AutoAdvance.wait / 5
    }

    /// With the lock held. False if the clock is closed, and has not been used for a second.
    private func rest() -> Bool {
        isThreadResting = true
        defer { isThreadResting = false }
        let limit = isClosed ? shim_monotonic_nanoseconds() + 1_000_000_000 : .max
        return shim_monitor_wait_until(monitor, limit) || !waiting.isEmpty
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        return body()
    }
}
