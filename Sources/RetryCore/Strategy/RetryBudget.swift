/// Limits the retries of many calls together, so that they add little to the load of a server that is down (C1).
///
/// Each retry takes 1, and each success gives back a fraction; at half of the capacity or below, there are no retries.
/// With a capacity of 10 and a ratio of 0.1, starting full:
///
/// | what happens | level | a retry now? |
/// | --- | --- | --- |
/// | nothing | 10 | yes |
/// | 5 retries | 5 | no |
/// | 1 success | 5.1 | yes |
/// | 1 retry | 4.1 | no |
/// | 10 successes | 5.1 | yes |
public struct RetryBudget: Sendable {
    public static let capacityRange: ClosedRange<Int32> = 1...1_000_000
    public static let defaultRatio = 0.1

    /// From 0 to the capacity.
    public var level: Double
    private let capacity: Double
    private let ratio: Double

    /// `ratio`: more than 0, at most 1.
    public init(capacity: Int32, ratio: Double = RetryBudget.defaultRatio) {
        self.capacity = Double(capacity)
        self.ratio = ratio
        level = self.capacity
    }

    /// False: no retry is allowed.
    public mutating func take() -> Bool {
        guard level > capacity / 2 else { return false }
        level = max(level - 1, 0)
        return true
    }

    public mutating func giveBack() {
        level = min(level + ratio, capacity)
    }
}
