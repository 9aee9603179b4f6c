/// Limits of a delay. A delay is a `Double` in seconds, never negative, never NaN.
public enum Delay {
    /// The longest delay, 2^31 - 1 seconds; longer ones saturate (B6, B7).
    public static let maximum = 2_147_483_647.0

    /// A delay from any number: NaN and negative numbers count as 0, large ones saturate (B9).
    public static func clamped(_ seconds: Double) -> Double {
        guard seconds > 0 else { return 0 }
        return seconds < maximum ? seconds : maximum
    }
}
