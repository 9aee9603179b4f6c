/// The lifetime of a token, from the time of the provider's answer (T2).
public struct TokenLife {
    private let expiresAt: Instant
    private let arrivedAt: Instant
    private let arrivedWall: Double
    /// By how many nanoseconds the wall clock was ahead when it was last checked; 0 if not significantly.
    private var ahead: Int64 = 0
    private var lookedAt: Instant
    /// The token never expires.
    private let isEndless: Bool

    /// The wall clock is not checked more often than this.
    private static let nanosecondsBetweenLooks: Int64 = 1_000_000_000
    /// The number of seconds by which it may be ahead without consequences.
    private static let tolerance = 5.0

    /// `seconds` is more than 0; a very long lifetime saturates (T6).
    init(seconds: Double, from moment: TokenMoment) {
        expiresAt = moment.boottime.advanced(bySeconds: seconds)
        arrivedAt = moment.boottime
        arrivedWall = moment.wall
        // The first check may happen immediately.
        lookedAt = Instant(nanoseconds: moment.boottime.nanoseconds - Self.nanosecondsBetweenLooks)
        isEndless = false
    }

    private init(endlessFrom moment: TokenMoment) {
        expiresAt = .distantFuture
        arrivedAt = moment.boottime
        arrivedWall = moment.wall
        lookedAt = moment.boottime
        isEndless = true
    }

    static func endless(from moment: TokenMoment) -> TokenLife { TokenLife(endlessFrom: moment) }

    /// A machine that was restored from a snapshot has lost time on CLOCK_BOOTTIME, but not on the wall clock: if that
    /// one is ahead, the shorter remaining lifetime counts.
    mutating func look(at moment: TokenMoment) {
        guard !isEndless, moment.boottime.nanoseconds >= nextLook.nanoseconds else { return }
        lookedAt = moment.boottime
        let passed = Double(moment.boottime.nanoseconds - arrivedAt.nanoseconds) / 1e9
        let lead = moment.wall - arrivedWall - passed
        ahead = lead > Self.tolerance ? Instant(nanoseconds: 0).advanced(bySeconds: lead).nanoseconds : 0
    }

    private var nextLook: Instant {
        isEndless ? .distantFuture : Instant(nanoseconds: lookedAt.nanoseconds + Self.nanosecondsBetweenLooks)
    }

    /// The time at which only that many seconds will be left.
    func end(leaving seconds: Double) -> Instant {
        guard !isEndless else { return .distantFuture }
        let cut = Instant(nanoseconds: ahead).advanced(bySeconds: seconds).nanoseconds
        return Instant(nanoseconds: expiresAt.nanoseconds - cut)
    }

    /// Seconds, never negative; `Delay.maximum` if it never expires.
    public func left(at boottime: Instant) -> Double {
        guard !isEndless else { return Delay.maximum }
        return Delay.clamped(Double(end(leaving: 0).nanoseconds - boottime.nanoseconds) / 1e9)
    }
}
