import CBoxRetry
import CurlEngine
import RetryCore

/// `boxretry_clock`: a manual clock. NULL is the system's clock.
final class ClockHandle: Handle, HandleClass {
    static var kind: HandleKind { .clock }

    let clock: SharedManualClock

    init(_ clock: SharedManualClock) {
        self.clock = clock
        super.init(.clock)
    }

    /// The clock for a pointer; NULL means the system's clock.
    static func clock(behind pointer: OpaquePointer?, _ argument: StaticString) throws(Failure) -> any Clock {
        guard let pointer else { return systemClock }
        return try retained(pointer, argument).clock
    }
}

/// The default clock.
let systemClock = SystemClock()

private func checkedSeconds(_ seconds: Double) throws(Failure) {
    guard seconds >= 0, seconds <= Delay.maximum else {
        throw .invalidArgument("seconds", "must be from 0 to 2^31 - 1", is: seconds)
    }
}

@_cdecl("boxretry_clock_new_manual") @implementation
public func boxretry_clock_new_manual(_ out: UnsafeMutablePointer<OpaquePointer?>!) -> boxretry_error {
    answer { () throws(Failure) in
        let out = try required(out, "out")
        guard let clock = SharedManualClock.make() else { throw .outOfMemory }
        ClockHandle(clock).give(to: out)
    }
}

@_cdecl("boxretry_clock_advance") @implementation
public func boxretry_clock_advance(_ clock: OpaquePointer!, _ seconds: Double) -> boxretry_error {
    ClockHandle.with(clock, "clock") { handle throws(Failure) in
        let clock = handle.clock
        try checkedSeconds(seconds)
        guard clock.advance(bySeconds: seconds) else {
            throw .invalidArgument("seconds", "exceeds the clock's range", is: seconds)
        }
    }
}

@_cdecl("boxretry_clock_suspend") @implementation
public func boxretry_clock_suspend(_ clock: OpaquePointer!, _ seconds: Double) -> boxretry_error {
    ClockHandle.with(clock, "clock") { handle throws(Failure) in
        let clock = handle.clock
        try checkedSeconds(seconds)
        guard clock.suspend(forSeconds: seconds) else {
            throw .invalidArgument("seconds", "exceeds the clock's range", is: seconds)
        }
    }
}

@_cdecl("boxretry_clock_set_wall") @implementation
public func boxretry_clock_set_wall(_ clock: OpaquePointer!, _ unix_time: Double) -> boxretry_error {
    ClockHandle.with(clock, "clock") { handle throws(Failure) in
        let clock = handle.clock
        guard clock.setWall(unix_time) else {
            throw .invalidArgument("unix_time", "must be in the years 1 to 9999", is: unix_time)
        }
    }
}

@_cdecl("boxretry_clock_now") @implementation
public func boxretry_clock_now(
    _ clock: OpaquePointer!, _ timeline: Int32, _ seconds_out: UnsafeMutablePointer<Double>!
) -> boxretry_error {
    answer { () throws(Failure) in
        let clock = try ClockHandle.clock(behind: clock, "clock")
        let out = try required(seconds_out, "seconds_out")
        switch Int(timeline) {
        case BOXRETRY_TIMELINE_MONOTONIC: out.pointee = clock.monotonic.seconds
        case BOXRETRY_TIMELINE_BOOTTIME: out.pointee = clock.boottime.seconds
        case BOXRETRY_TIMELINE_WALL: out.pointee = clock.wall
        default: throw .invalidArgument("timeline", nil, "is not a BOXRETRY_TIMELINE_ constant", is: Int64(timeline))
        }
    }
}

@_cdecl("boxretry_clock_sleep") @implementation
public func boxretry_clock_sleep(_ clock: OpaquePointer!, _ seconds: Double) -> boxretry_error {
    answer { () throws(Failure) in
        try refuseInCallback()
        try checkedSeconds(seconds)
        guard let clock else { return systemClock.sleep(seconds: seconds) }
        // Retained, because another thread may free the clock's handle meanwhile.
        try ClockHandle.retained(clock, "clock").clock.sleep(seconds: seconds).check()
    }
}

@_cdecl("boxretry_clock_wait_for_timer") @implementation
public func boxretry_clock_wait_for_timer(_ clock: OpaquePointer!, _ timeout_ms: Int64) -> boxretry_error {
    answer { () throws(Failure) in
        try refuseInCallback()
        let clock = try ClockHandle.retained(try required(clock, "clock"), "clock").clock
        guard timeout_ms >= 0 else {
            throw .invalidArgument("timeout_ms", nil, "must be 0 or more", is: timeout_ms)
        }
        try clock.waitForTimer(timeoutMilliseconds: timeout_ms).check()
    }
}

extension SharedManualClock.WaitResult {
    fileprivate func check() throws(Failure) {
        switch self {
        case .done: return
        case .timedOut: throw .waitTimeout
        case .closed: throw .closed
        }
    }
}

@_cdecl("boxretry_clock_set_auto_advance") @implementation
public func boxretry_clock_set_auto_advance(_ clock: OpaquePointer!, _ on: Int32) -> boxretry_error {
    ClockHandle.with(clock, "clock") { handle throws(Failure) in
        guard handle.clock.setAutoAdvance(on != 0) else { throw .exhausted }
    }
}

@_cdecl("boxretry_clock_free") @implementation
public func boxretry_clock_free(_ clock: OpaquePointer!) {
    ClockHandle.take(clock) { $0.clock.close() }
}
