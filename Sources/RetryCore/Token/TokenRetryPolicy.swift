/// How often and after what delays a token provider is called again after retryable failures (T5).
public struct TokenRetryPolicy {
    /// Includes the first call.
    public var maximumAttempts: Int32 = 9
    /// Seconds.
    public var initialDelay = 1.0
    public var multiplier = 2.0
    /// Seconds.
    public var maximumDelay = 8.0
    public var jitterRatio = 0.2

    public init() {}

    /// Throws for the values that T5 rejects, and names the field.
    public func validate() throws(InvalidOption) {
        try InvalidOption.check("maximum_attempts", maximumAttempts, in: 1...Int32.max, "must be 1 or more")
        try InvalidOption.checkDelay("initial_delay", initialDelay)
        try InvalidOption.checkMultiplier("multiplier", multiplier)
        try InvalidOption.checkDelay("maximum_delay", maximumDelay)
        try InvalidOption.checkRatio("jitter_ratio", jitterRatio)
    }

    /// The wait after the k-th failed call, in seconds: `min(maximumDelay, initialDelay * multiplier^(k-1))`, jittered
    /// by `jitterRatio`, then capped at `maximumDelay` again, and at `Delay.maximum`. `failedAttempt` is 1 or more, and
    /// `unitRandom` in [0, 1] selects a value in the range of the jitter.
    ///
    /// With the defaults:
    ///
    /// | failure | 0 → least | 0.5 → middle | 1 → most |
    /// |---------|-----------|--------------|----------|
    /// | 1       | 0.8       | 1            | 1.2      |
    /// | 2       | 1.6       | 2            | 2.4      |
    /// | 3       | 3.2       | 4            | 4.8      |
    /// | 4 … 8   | 6.4       | 8            | 8        |
    public func delay(afterFailure failedAttempt: Int32, unitRandom: Double) -> Double {
        guard initialDelay > 0 else { return 0 }
        // Two factors, because the power may overflow while its product with a tiny delay does not.
        let exponent = max(failedAttempt, 1) - 1
        let power = initialDelay * multiplierPower(exponent / 2)
        let base = min(maximumDelay, power * multiplierPower(exponent - exponent / 2))
        let spread = (1 - jitterRatio) + unitRandom * (2 * jitterRatio)
        return Delay.clamped(min(maximumDelay, base * spread))
    }

    /// `multiplier^exponent`, by squaring; infinite if it is too large.
    private func multiplierPower(_ exponent: Int32) -> Double {
        var result = 1.0
        var factor = multiplier
        var rest = exponent
        while rest > 0 {
            if rest & 1 == 1 { result *= factor }
            factor *= factor
            rest >>= 1
        }
        return result
    }
}
