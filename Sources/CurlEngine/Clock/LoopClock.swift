import CShims
import RetryCore

/// The clock of one loop, and what the loop has last read from it. Only the holder of the loop touches what is not
/// constant.
final class LoopClock {
    let clock: any Clock
    /// Nil: the clock is the system's.
    let virtualTime: VirtualTime?
    /// It is read at each event: without a dynamic call.
    private let isSystem: Bool
    /// When it was last read, in nanoseconds of CLOCK_MONOTONIC, or of the manual clock.
    private(set) var now: Int64 = 0
    /// The same when the last wait ended.
    private(set) var waitEndedAt: Int64 = 0
    /// How much CLOCK_BOOTTIME was ahead of CLOCK_MONOTONIC when that was last looked at.
    var boottimeAhead = Int64.min / 2
    /// How often something has moved on a transfer.
    var movements = 0

    convenience init(_ clock: SystemClock) {
        self.init(clock, isSystem: true, virtualTime: nil)
    }

    convenience init(_ clock: SharedManualClock) {
        self.init(clock, isSystem: false, virtualTime: VirtualTime(clock))
    }

    /// A clock that the loop's transport moves: the loop takes it for the system's clock.
    convenience init(movedByTransport clock: any Clock) {
        self.init(clock, isSystem: false, virtualTime: nil)
    }

    private init(_ clock: any Clock, isSystem: Bool, virtualTime: VirtualTime?) {
        self.clock = clock
        self.isSystem = isSystem
        self.virtualTime = virtualTime
    }

    @_optimize(speed)
    func read() {
        now = isSystem ? shim_monotonic_nanoseconds() : clock.monotonic.nanoseconds
    }

    /// What was waited for is about to be let happen.
    func waitEnded() {
        read()
        waitEndedAt = now
    }

    /// CLOCK_BOOTTIME when the clock was last read, in nanoseconds.
    var boottime: Int64 { now + boottimeAhead }

    /// Nanoseconds of CLOCK_MONOTONIC when the clock was last read.
    var realNow: Int64 { virtualTime == nil ? now : shim_monotonic_nanoseconds() }
}
