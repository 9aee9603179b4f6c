/// Tells the time. The core is always given a clock, and never reads one of its own.
public protocol Clock: AnyObject {
    /// Never set back; rests while the machine sleeps. For backoff waits and idle timeouts (M6).
    var monotonic: Instant { get }
    /// Never set back; goes on while the machine sleeps. For deadlines and the lives of tokens (M6).
    var boottime: Instant { get }
    /// Seconds since 1970, which somebody may set. For dates in headers.
    var wall: Double { get }
}

/// A point on a timeline that is never set back, in nanoseconds.
public struct Instant: Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// For ever.
    public static let distantFuture = Instant(nanoseconds: .max)

    public var seconds: Double { Double(nanoseconds) / 1e9 }

    /// This instant and a delay to the nearest nanosecond, saturating. NaN and negative delays count as 0.
    public func advanced(bySeconds seconds: Double) -> Instant {
        adding(nanoseconds: Int64(Delay.clamped(seconds) * 1e9 + 0.5))  // 1.001 s are 1000999999.9999999 ns.
    }

    /// This instant and a number of milliseconds, saturating; `Int64.max` means for ever.
    public func advanced(byMilliseconds milliseconds: Int64) -> Instant {
        let (nanoseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .distantFuture : adding(nanoseconds: nanoseconds)
    }

    /// This instant and a number of nanoseconds, saturating; `Int64.max` means for ever.
    public func advanced(byNanoseconds nanoseconds: Int64) -> Instant { adding(nanoseconds: nanoseconds) }

    private func adding(nanoseconds: Int64) -> Instant {
        let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return overflow ? .distantFuture : Instant(nanoseconds: sum)
    }
}
