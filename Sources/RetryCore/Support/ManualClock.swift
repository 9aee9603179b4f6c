/// A clock that only moves when told. One thread at a time.
public final class ManualClock: Clock {
    public private(set) var monotonic = Instant(nanoseconds: 0)
    public private(set) var boottime = Instant(nanoseconds: 0)
    public private(set) var wall = 0.0

    /// How far a manual clock goes, in seconds. Far below what an `Instant` can hold, so that no sum overflows.
    public static let maximumSeconds = 4_294_967_296.0

    public init() {}

    /// Moves all timelines on. False, with nothing moved, if `seconds` is not a delay or leads past the end.
    public func advance(bySeconds seconds: Double) -> Bool {
        let moved = monotonic
        guard suspend(forSeconds: seconds) else { return false }
        monotonic = moved.advanced(bySeconds: seconds)
        return true
    }

    /// Moves boottime and wall clock on, as if the machine had slept. False as for `advance`.
    public func suspend(forSeconds seconds: Double) -> Bool {
        guard seconds >= 0, seconds <= Delay.maximum else { return false }
        let later = boottime.advanced(bySeconds: seconds)
        guard later.nanoseconds <= Int64(Self.maximumSeconds) * 1_000_000_000 else { return false }
        boottime = later
        wall += seconds
        return true
    }

    /// Sets the wall clock alone. False, with nothing set, outside the years 1 to 9999.
    public func setWall(_ unixTime: Double) -> Bool {
        guard HTTPDate.isRepresentable(unixTime) else { return false }
        wall = unixTime
        return true
    }
}
