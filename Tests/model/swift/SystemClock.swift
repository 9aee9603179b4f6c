import Foundation
import RetryCore

/// The clocks of the operating system: the core does not read one.
final class SystemClock: Clock, Sendable {
    var monotonic: Instant { Self.now(CLOCK_MONOTONIC) }
    var boottime: Instant { Self.now(CLOCK_BOOTTIME) }
    var wall: Double { Date().timeIntervalSince1970 }

    private static func now(_ clock: clockid_t) -> Instant {
        var time = timespec()
        clock_gettime(clock, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

let systemClock = SystemClock()
