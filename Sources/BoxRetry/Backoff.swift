import CBoxRetry
import RetryCore

/// A number that selects a value in the range of a jitter.
func checkedUnitRandom(_ unitRandom: Double) throws(Failure) {
    guard unitRandom >= 0, unitRandom <= 1 else {
        throw .invalidArgument("unit_random", "must be from 0 to 1", is: unitRandom)
    }
}

@_cdecl("boxretry_backoff_delay") @implementation
public func boxretry_backoff_delay(
    _ options: UnsafePointer<boxretry_retry_options>!, _ attempt_number: Int32, _ unit_random: Double,
    _ delay_out: UnsafeMutablePointer<Double>!
) -> boxretry_error {
    answer { () throws(Failure) in
        let checked = try BoxRetryOptions(reading: options)
        _ = try DelayHeaders(reading: options)
        _ = try VerdictHeader.reading(options)
        try checkedAttemptNumber(attempt_number, atLeast: 0, "attempt_number")
        try checkedUnitRandom(unit_random)
        let out = try required(delay_out, "delay_out")
        out.pointee = checked.backoffDelay(attemptNumber: attempt_number, unitRandom: unit_random)
    }
}

@_cdecl("boxretry_parse_retry_after") @implementation
public func boxretry_parse_retry_after(
    _ value: UnsafePointer<CChar>!, _ unix_time: Int64, _ seconds_out: UnsafeMutablePointer<Double>!
) -> boxretry_error {
    answer { () throws(Failure) in
        let value = try required(value, "value")
        guard HTTPDate.range.contains(unix_time) else {
            throw .invalidArgument("unix_time", nil, "must be in the years 1 to 9999", is: unix_time)
        }
        let out = try required(seconds_out, "seconds_out")
        guard let seconds = RetryAfter.parse(ByteCursor(cString: value), unixTime: unix_time) else {
            throw .notUsable
        }
        out.pointee = seconds
    }
}
