import CShims
import RetryCore

/// The clocks of the operating system. Thread-safe.
public final class SystemClock: Clock, Sendable {
    public init() {}

    public var monotonic: Instant { Instant(nanoseconds: shim_monotonic_nanoseconds()) }
    public var boottime: Instant { Instant(nanoseconds: shim_boottime_nanoseconds()) }
    public var wall: Double { shim_wall_seconds() }

    /// Waits until `seconds` have passed; signals do not shorten it.
    public func sleep(seconds: Double) {
        guard seconds > 0 else { return }  // The kernel would take 50 µs for it.
        shim_sleep_until(monotonic.advanced(bySeconds: seconds).nanoseconds)
    }
}
