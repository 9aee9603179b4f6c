import CShims
import RetryCore

/// A manual clock that any number of threads may use at once, and on which they may sleep.
public final class SharedManualClock: Clock {
    private typealias Held = Monitor<State>.Held

    private struct State {
        let clock = ManualClock()
        /// Those who wait for a time. If it has come, they have not noticed yet.
        var waiting: [User] = []
        var isClosed = false
        var auto = AutoAdvance()
        /// The thread that advances the clock has been started, and waits until something changes.
        var hasThread = false
        var isThreadResting = false

        /// Those who wait for a change of the clock are to be woken.
        mutating func add(_ user: User, until due: Int64) {
            user.due = due
            user.index = waiting.count
            waiting.append(user)
        }

        mutating func remove(_ user: User) {
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
        var nextDue: Int64 {
            var next = Int64.max
            for user in waiting where user.due > .min { next = min(next, user.due) }
            return next
        }
    }

    /// The lock also wakes the threads that wait for a change of the clock.
    private let monitor: Monitor<State>

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
        guard let monitor = Monitor(State()) else { return nil }
        return SharedManualClock(monitor)
    }

    private init(_ monitor: consuming Monitor<State>) {
        self.monitor = monitor
    }

    public var monotonic: Instant { monitor.withLock { $0.state.clock.monotonic } }
    public var boottime: Instant { monitor.withLock { $0.state.clock.boottime } }
    public var wall: Double { monitor.withLock { $0.state.clock.wall } }

    /// All timelines at one moment: read one by one, another thread might advance the clock in between.
    var moment: TokenMoment { monitor.withLock { TokenMoment($0.state.clock) } }

    /// Nanoseconds by which boottime is ahead of the monotonic timeline.
    var boottimeAhead: Int64 {
        let moment = moment
        return moment.boottime.nanoseconds - moment.monotonic.nanoseconds
    }

    /// Moves all timelines on, and wakes those whose time has come. False if the clock does not go so far.
    public func advance(bySeconds seconds: Double) -> Bool {
        let isAdvanced = monitor.withLock { move($0, bySeconds: seconds) }
        ring()
        return isAdvanced
    }

    /// Then `ring` is to be called without the lock.
    private func move(_ held: borrowing Held, bySeconds seconds: Double) -> Bool {
        guard held.state.clock.advance(bySeconds: seconds) else { return false }
        wake(held, isSuspended: false)
        return true
    }

    /// As if the machine had slept. Each waiter looks at the clock again: some times have come on boottime.
    public func suspend(forSeconds seconds: Double) -> Bool {
        let isSuspended = monitor.withLock { held in
            let isSuspended = held.state.clock.suspend(forSeconds: seconds)
            wake(held, isSuspended: isSuspended)
            return isSuspended
        }
        ring()
        return isSuspended
    }

    /// Then `ring` is to be called without the lock. Those whose time has come are at work from now on, although their
    /// threads are yet to wake.
    private func wake(_ held: borrowing Held, isSuspended: Bool) {
        let now = held.state.clock.monotonic.nanoseconds
        for user in held.state.waiting where user.due <= now || isSuspended && user.ring != nil {
            user.due = .min
            change(held, user, to: .work)
        }
        held.state.auto.event()
        held.wakeAll()
    }

    /// Without the lock, which what is called may take; and so may what is let go of then.
    private func ring() {
        while let ring = takeRing() { ring() }
    }

    private func takeRing() -> (() -> Void)? {
        monitor.withLock { held in
            for user in held.state.waiting where user.due == .min {
                guard let ring = user.ring else { continue }
                held.state.remove(user)
                return ring
            }
            return nil
        }
    }

    public func setWall(_ unixTime: Double) -> Bool {
        monitor.withLock { $0.state.clock.setWall(unixTime) }
    }

    // MARK: - Those who use the clock

    /// `ring` is called when that time has come, on the thread that advances the clock; it may use the clock. From then
    /// on `user` is at work. False if that time has come already. On a clock that is closed it may never come.
    /// `activity`: what else `user` waits for. `isEvent`: something has happened before that.
    func wait(
        _ user: User, until due: Int64, _ activity: AutoAdvance.Activity, isEvent: Bool, ring: @escaping () -> Void
    ) -> Bool {
        monitor.withLock { held in
            if isEvent { held.state.auto.event() }
            guard held.state.clock.monotonic.nanoseconds < due else {
                change(held, user, to: .work)
                return false
            }
            user.ring = ring
            held.state.add(user, until: due)
            held.wakeAll()
            change(held, user, to: activity)
            if held.state.isClosed { _ = startThread(held) }
            return true
        }
    }

    /// What somebody does from now on.
    func set(_ user: User, _ activity: AutoAdvance.Activity, isEvent: Bool = true) {
        monitor.withLock { held in
            if isEvent { held.state.auto.event() }
            change(held, user, to: activity)
        }
    }

    /// A waiter continues.
    func resume(_ user: User) {
        monitor.withLock { held in
            change(held, user, to: .work)
            held.state.remove(user)
        }
    }

    /// Somebody is at work who has no `User`, until `workEnded`.
    func workBegan() {
        monitor.withLock { held in
            held.state.auto.event()
            held.state.auto.change(from: .none, to: .work)
        }
    }

    func workEnded() {
        monitor.withLock { held in
            held.state.auto.change(from: .work, to: .none)
            wakeThread(held)
        }
    }

    private func change(_ held: borrowing Held, _ user: User, to activity: AutoAdvance.Activity) {
        held.state.auto.change(from: user.activity, to: activity)
        user.activity = activity
        wakeThread(held)
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
        return monitor.withLock { held in
            let due = held.state.clock.monotonic.advanced(bySeconds: seconds).nanoseconds
            guard held.state.clock.monotonic.nanoseconds < due else { return .done }
            held.state.auto.event()
            held.state.add(user, until: due)
            held.wakeAll()
            while user.due > .min, !held.state.isClosed { _ = held.wait() }
            change(held, user, to: .none)
            held.state.remove(user)
            return user.due > .min ? .closed : .done
        }
    }

    /// Waits, in real time, until somebody waits on this clock for a time that has not come yet.
    public func waitForTimer(timeoutMilliseconds: Int64) -> WaitResult {
        let limit = Instant(nanoseconds: shim_monotonic_nanoseconds()).advanced(byMilliseconds: timeoutMilliseconds)
        return monitor.withLock { held in
            while held.state.nextDue == .max {
                guard !held.state.isClosed else { return .closed }
                guard shim_monotonic_nanoseconds() < limit.nanoseconds else { return .timedOut }
                _ = held.wait(until: limit.nanoseconds)
            }
            return .done
        }
    }

    /// Ends all sleeps: no caller can move this clock any more. If it advances by itself, it continues for those who
    /// still use it.
    public func close() {
        monitor.withLock { held in
            held.state.isClosed = true
            held.wakeAll()
        }
    }

    // MARK: - Advancing by itself

    /// False if no thread can be made for it.
    public func setAutoAdvance(_ isOn: Bool) -> Bool {
        monitor.withLock { held in
            held.state.auto.isOn = isOn
            held.state.auto.event()
            held.wakeAll()
            held.state.auto.isOn = isOn && startThread(held)
            return held.state.auto.isOn == isOn
        }
    }

    /// False if no thread can be made.
    private func startThread(_ held: borrowing Held) -> Bool {
        guard held.state.auto.isOn, !held.state.hasThread else { return true }
        let context = Unmanaged.passRetained(self)
        held.state.hasThread = shim_thread_start(
            { context in
                guard let context else { return }
                Unmanaged<SharedManualClock>.fromOpaque(context).takeRetainedValue().runThread()
            }, nil, context.toOpaque())
        if !held.state.hasThread { context.release() }
        return held.state.hasThread
    }

    private func wakeThread(_ held: borrowing Held) {
        if held.state.isThreadResting, !held.state.auto.isAtWork { held.wakeAll() }
    }

    private func runThread() {
        monitor.withLock { held in
            var isUsed = true
            while held.state.auto.isOn, isUsed {
                let due = held.state.nextDue
                switch held.state.auto.next(hasTimer: due < .max) {
                case .rest: isUsed = rest(held)
                case .wait:
                    guard !held.wait(until: shim_monotonic_nanoseconds() + AutoAdvance.wait) else { continue }
                    let isBusy = held.unlocked { isMachineBusy() }
                    held.state.auto.waited(isBusy: isBusy)
                case .advance:
                    let seconds = Double(due - held.state.clock.monotonic.nanoseconds) / 1e9
                    if !move(held, bySeconds: min(seconds, Delay.maximum)) {
                        held.state.auto.isOn = false  // At the end of the clock.
                    }
                    held.unlocked { ring() }
                }
            }
            held.state.hasThread = false
        }
    }

    /// Others want this processor, or none would be free for them.
    private func isMachineBusy() -> Bool {
        let before = shim_monotonic_nanoseconds()
        shim_yield()
        return shim_monotonic_nanoseconds() - before > AutoAdvance.wait / 5
    }

    /// False if the clock is closed, and has not been used for a second.
    private func rest(_ held: borrowing Held) -> Bool {
        held.state.isThreadResting = true
        defer { held.state.isThreadResting = false }
        let limit = held.state.isClosed ? shim_monotonic_nanoseconds() + 1_000_000_000 : .max
        return held.wait(until: limit) || !held.state.waiting.isEmpty
    }
}
