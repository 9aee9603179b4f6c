/// The exponential backoff (B6).
extension BoxRetryOptions {
    /// `2^attemptNumber * retryBaseInterval * (1 - factor … 1 + factor)`, in seconds, saturating at `Delay.maximum` and
    /// at `backoffCap`. `unitRandom` in [0, 1] selects a value in the range of the jitter; `attemptNumber` is not
    /// negative.
    ///
    /// With the defaults:
    ///
    /// | attempt | 0 → least | 0.5 → middle | 1 → most |
    /// |---------|-----------|--------------|----------|
    /// | 1       | 1         | 2            | 3        |
    /// | 2       | 2         | 4            | 6        |
    /// | 3       | 4         | 8            | 12       |
    /// | 4       | 8         | 16           | 24       |
    /// | 40      | 2^31 - 1  | 2^31 - 1     | 2^31 - 1 |
    @inline(__always)
    public func backoffDelay(attemptNumber: Int32, unitRandom: Double) -> Double {
        // 2^1023 is the largest power that fits in a Double, but the smallest base, 2^-1074, saturates only at 2^1105:
        // so the power is split into two factors. The spread is applied last, because a tiny base has no digits to
        // spare; infinity times a spread of 0 is NaN, and counts as 0.
        let exponent = Int(min(max(attemptNumber, 0), 1_200))
        let first = min(exponent, 600)
        let spread = (1 - retryRandomizationFactor) + unitRandom * (2 * retryRandomizationFactor)
        let delay = Delay.clamped(retryBaseInterval * powerOfTwo(first) * powerOfTwo(exponent - first) * spread)
        return backoffCap > 0 && delay > backoffCap ? backoffCap : delay
    }

    /// 2^exponent, for 0 to 1023.
    private func powerOfTwo(_ exponent: Int) -> Double {
        Double(bitPattern: UInt64(1023 + exponent) << 52)
    }
}
