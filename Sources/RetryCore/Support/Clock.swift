/// Tells the time. The core never reads the system's clock: it always gets a clock as an argument.
public protocol Clock: AnyObject {
    /// Never goes back; stops while the machine sleeps. For backoff waits and idle timeouts (M6).
    var monotonic: Instant { get }
    /// Never goes back; continues while the machine sleeps. For deadlines and token lifetimes (M6).
    var boottime: Instant { get }
    /// Seconds since 1970; can be set by users. For dates in headers.
    var wall: Double { get }
}

/// A point on a timeline that never goes back, in nanoseconds.
public struct Instant: Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Never.
    public static let distantFuture = Instant(nanoseconds: .max)

    public var seconds: Double { Double(nanoseconds) / 1e9 }

    /// This instant plus a delay, rounded to a nanosecond, saturating. NaN and negative delays count as 0.
    public func advanced(bySeconds seconds: Double) -> Instant {
        adding(nanoseconds: Int64(Delay.clamped(seconds) * 1e9 + 0.5))  // 1.001 s is 1000999999.9999999 ns.
    }

    /// This instant plus a number of milliseconds, saturating; `Int64.max` means never.
    public func advanced(byMilliseconds milliseconds: Int64) -> Instant {
        let (nanoseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .distantFuture : adding(nanoseconds: nanoseconds)
    }

    /// This instant plus a number of nanoseconds, saturating; `Int64.max` means never.
    public func advanced(byNanoseconds nanoseconds: Int64) -> Instant { adding(nanoseconds: nanoseconds) }

    private func adding(nanoseconds: Int64) -> Instant {
        let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return overflow ? .distantFuture : Instant(nanoseconds: sum)
    }
}
