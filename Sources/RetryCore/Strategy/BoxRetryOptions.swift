/// The parameters of Box's strategy, with the documented defaults (B1), and options that extend it (B11, B12).
public struct BoxRetryOptions {
    /// Maximum number of attempts that end in a response; it also limits all retries (B5).
    public var maxAttempts: Int32 = 5
    public var maxRetriesOnException: Int32 = 2
    /// Seconds.
    public var retryBaseInterval = 1.0
    public var retryRandomizationFactor = 0.5
    /// Seconds, applied after the jitter; 0 means no cap.
    public var backoffCap = 0.0
    /// Seconds; 0 means no cap.
    public var retryAfterCap = 0.0
    public var retryAfterOverCap = OverCap.clamp
    /// A Retry-After is multiplied by 1 to 1 + this value, so that clients do not all return at the same moment (C2).
    public var retryAfterJitter = 0.0
    /// If off, a request that may not be safe to send twice is retried only if the server cannot have acted on it
    /// (B12).
    public var retryUnsafeMethods = true

    public enum OverCap: Int32 {
        case clamp = 0
        case stop = 1
    }

    public init() {}

    /// Throws for the values that B1 rejects, and names the field.
    public func validate() throws(InvalidOption) {
        try InvalidOption.check("max_attempts", maxAttempts, in: 0...1_000_000, "must be from 0 to 1000000")
        try InvalidOption.check(
            "max_retries_on_exception", maxRetriesOnException, in: 0...1_000_000, "must be from 0 to 1000000")
        try InvalidOption.checkDelay("retry_base_interval", retryBaseInterval)
        try InvalidOption.checkRatio("retry_randomization_factor", retryRandomizationFactor)
        try InvalidOption.checkDelay("backoff_cap", backoffCap)
        try InvalidOption.checkDelay("retry_after_cap", retryAfterCap)
        try InvalidOption.checkRatio("retry_after_jitter", retryAfterJitter)
    }
}

/// An option has an invalid value.
public struct InvalidOption: Error {
    public let field: StaticString
    public let requirement: StaticString
    public let value: Value

    public enum Value: Sendable {
        case integer(Int64)
        case real(Double)
    }

    public static func check(
        _ field: StaticString, _ value: Int32, in range: ClosedRange<Int32>, _ requirement: StaticString
    ) throws(InvalidOption) {
        guard range.contains(value) else {
            throw InvalidOption(field: field, requirement: requirement, value: .integer(Int64(value)))
        }
    }

    static func checkDelay(_ field: StaticString, _ value: Double) throws(InvalidOption) {
        guard value >= 0, value.isFinite else {
            throw InvalidOption(field: field, requirement: "must be 0 or more, and finite", value: .real(value))
        }
    }

    static func checkRatio(_ field: StaticString, _ value: Double) throws(InvalidOption) {
        guard value >= 0, value <= 1 else {
            throw InvalidOption(field: field, requirement: "must be from 0 to 1", value: .real(value))
        }
    }

    static func checkMultiplier(_ field: StaticString, _ value: Double) throws(InvalidOption) {
        guard value >= 1, value.isFinite else {
            throw InvalidOption(field: field, requirement: "must be 1 or more, and finite", value: .real(value))
        }
    }
}
