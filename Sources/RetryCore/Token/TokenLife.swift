/// How long a token lives, from the moment at which the provider answered (T2).
public struct TokenLife {
    private let expiresAt: Instant
    private let arrivedAt: Instant
    private let arrivedWall: Double
    /// Nanoseconds by which the wall clock had run ahead when it was last looked at; 0 if it was not much.
    private var ahead: Int64 = 0
    private var lookedAt: Instant
    /// The token never expires.
    private let isEndless: Bool

    /// The wall clock is looked at no more often.
    private static let nanosecondsBetweenLooks: Int64 = 1_000_000_000
    /// Seconds by which it may run ahead before that means something.
    private static let tolerance = 5.0

    /// `seconds` is more than 0; a huge life saturates (T6).
    init(seconds: Double, from moment: TokenMoment) {
        expiresAt = moment.boottime.advanced(bySeconds: seconds)
        arrivedAt = moment.boottime
        arrivedWall = moment.wall
        // The first look may come at once.
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

    /// A machine that was restored from a snapshot has lost time on CLOCK_BOOTTIME, but not on the wall clock: where that
    /// one has run ahead, the smaller remaining life counts.
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

    /// When so many seconds or fewer will be left.
    func end(leaving seconds: Double) -> Instant {
        guard !isEndless else { return .distantFuture }
        let cut = Instant(nanoseconds: ahead).advanced(bySeconds: seconds).nanoseconds
        return Instant(nanoseconds: expiresAt.nanoseconds - cut)
    }

    /// Seconds, never negative; `Delay.maximum` if it never ends.
    public func left(at boottime: Instant) -> Double {
        guard !isEndless else { return Delay.maximum }
        return Delay.clamped(Double(end(leaving: 0).nanoseconds - boottime.nanoseconds) / 1e9)
    }
}
