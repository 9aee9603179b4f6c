import CShims
import RetryCore

/// A manual clock that any number of threads may use at once, and on which they may sleep.
public final class SharedManualClock: Clock {
    /// Guards all that follows, and wakes whoever waits for a change of it.
    private let monitor: OpaquePointer
    private let clock = ManualClock()
    /// For what somebody sleeps, on the monotonic timeline; all of it is still to come.
    private var dueTimes: [Int64] = []
    private var alarms: [Alarm] = []
    private var isClosed = false

    /// What is to happen when that time has come on the monotonic timeline, for those who wait for other things too.
    public final class Alarm {
        fileprivate let due: Int64
        fileprivate let ring: () -> Void

        /// `ring` runs on the thread that advances the clock, and may use the clock.
        public init(at due: Int64, ring: @escaping () -> Void) {
            self.due = due
            self.ring = ring
        }
    }

    /// Nil if there is no memory.
    public static func make() -> SharedManualClock? {
        shim_monitor_new().map { SharedManualClock($0) }
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

    /// Moves all timelines on, and wakes the sleepers whose time has come. False if the clock does not go so far.
    public func advance(bySeconds seconds: Double) -> Bool {
        var due: [Alarm] = []
        let isAdvanced = locked {
            guard clock.advance(bySeconds: seconds) else { return false }
            let now = clock.monotonic.nanoseconds
            dueTimes.removeAll { $0 <= now }
            due = alarms.filter { $0.due <= now }
            alarms.removeAll { $0.due <= now }
            shim_monitor_wake_all(monitor)
            return true
        }
        for alarm in due { alarm.ring() }
        return isAdvanced
    }

    /// False if its time has come already. On a clock that is closed it never comes.
    public func set(_ alarm: Alarm) -> Bool {
        locked {
            guard clock.monotonic.nanoseconds < alarm.due else { return false }
            alarms.append(alarm)
            shim_monitor_wake_all(monitor)
            return true
        }
    }

    public func remove(_ alarm: Alarm) {
        locked { alarms.removeAll { $0 === alarm } }
    }

    public func suspend(forSeconds seconds: Double) -> Bool {
        locked { clock.suspend(forSeconds: seconds) }
    }

    public func setWall(_ unixTime: Double) -> Bool {
        locked { clock.setWall(unixTime) }
    }

    public enum WaitResult {
        case done
        case timedOut
        case closed
    }

    /// Waits until so many seconds have passed on the monotonic timeline.
    public func sleep(seconds: Double) -> WaitResult {
        locked {
            let due = clock.monotonic.advanced(bySeconds: seconds).nanoseconds
            if clock.monotonic.nanoseconds < due, !isClosed {
                dueTimes.append(due)
                shim_monitor_wake_all(monitor)
            }
            while clock.monotonic.nanoseconds < due {
                guard !isClosed else { return .closed }
                _ = shim_monitor_wait_until(monitor, .max)
            }
            return .done
        }
    }

    /// Waits, in real time, until somebody waits on this clock for a time that has not come yet.
    public func waitForTimer(timeoutMilliseconds: Int64) -> WaitResult {
        let limit = Instant(nanoseconds: shim_monotonic_nanoseconds()).advanced(byMilliseconds: timeoutMilliseconds)
        return locked {
            while dueTimes.isEmpty, alarms.isEmpty {
                guard !isClosed else { return .closed }
                guard shim_monotonic_nanoseconds() < limit.nanoseconds else { return .timedOut }
                _ = shim_monitor_wait_until(monitor, limit.nanoseconds)
            }
            return .done
        }
    }

    /// Ends all waits: nobody can move this clock any more.
    public func close() {
        locked {
            isClosed = true
            shim_monitor_wake_all(monitor)
        }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        return body()
    }
}
