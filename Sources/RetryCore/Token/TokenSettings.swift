/// The settings of a token source. `Int64.max` nanoseconds means no timeout.
public struct TokenSettings {
    public var retryPolicy = TokenRetryPolicy()
    /// Seconds: a token is used while more than this is left of its lifetime (T2).
    public var refreshLeeway = 60.0
    /// Maximum duration of one provider call in nanoseconds (T4); unlimited by default, as in the source.
    public var providerTimeout = Int64.max
    /// Maximum duration of all provider calls for one token in nanoseconds, including waits.
    public var fetchTimeout = Int64.max
    /// Seconds before the leeway in which a token is renewed while callers still get the old one (T11); 0: off.
    public var refreshAheadWindow = 0.0
    /// A token that is within the leeway but still valid is served while a refresh runs, and after it failed (T11).
    public var servesStale = false

    public init() {}

    /// The lifetime of a new token must be longer than this, in seconds (T6).
    var leastLife: Double { max(60, refreshLeeway) }

    /// Throws if a setting is invalid, and names the field.
    public func validate() throws(InvalidOption) {
        try retryPolicy.validate()
        try InvalidOption.checkDelay("refresh_leeway", refreshLeeway)
        try InvalidOption.checkDelay("refresh_ahead_window", refreshAheadWindow)
    }
}

/// A moment on all timelines.
public struct TokenMoment {
    /// For the waits between provider calls, and for timeouts (M6).
    public var monotonic: Instant
    /// For token lifetimes (T2).
    public var boottime: Instant
    /// Seconds since 1970.
    public var wall: Double

    public init(monotonic: Instant, boottime: Instant, wall: Double) {
        self.monotonic = monotonic
        self.boottime = boottime
        self.wall = wall
    }

    public init(_ clock: any Clock) {
        self.init(monotonic: clock.monotonic, boottime: clock.boottime, wall: clock.wall)
    }
}
