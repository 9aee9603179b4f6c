/// A clock that moves only when it is advanced. One thread at a time.
public final class ManualClock: Clock {
    public private(set) var monotonic = Instant(nanoseconds: 0)
    public private(set) var boottime = Instant(nanoseconds: 0)
    public private(set) var wall = 0.0

    /// The range of a manual clock, in seconds. Far below the range of an `Instant`, so that no sum overflows.
    public static let maximumSeconds = 4_294_967_296.0

    public init() {}

    /// Advances all timelines. False, with nothing changed, if `seconds` is not a delay or exceeds the range.
    public func advance(bySeconds seconds: Double) -> Bool {
        let moved = monotonic
        guard suspend(forSeconds: seconds) else { return false }
        monotonic = moved.advanced(bySeconds: seconds)
        return true
    }

    /// Advances boottime and the wall clock, as if the machine had slept. False in the same cases as for `advance`.
    public func suspend(forSeconds seconds: Double) -> Bool {
        guard seconds >= 0, seconds <= Delay.maximum else { return false }
        let later = boottime.advanced(bySeconds: seconds)
        guard later.nanoseconds <= Int64(Self.maximumSeconds) * 1_000_000_000 else { return false }
        boottime = later
        wall += seconds
        return true
    }

    /// Sets only the wall clock. False, with nothing changed, outside the years 1 to 9999.
    public func setWall(_ unixTime: Double) -> Bool {
        guard HTTPDate.isRepresentable(unixTime) else { return false }
        wall = unixTime
        return true
    }
}
