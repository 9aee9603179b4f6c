import RetryCore
import Synchronization

/// A retry budget that clients and retry loops share (C1). Any number of threads may use one at once.
///
/// The level is replaced by compare-and-exchange, so that no thread ever waits for another one.
public final class SharedRetryBudget: Sendable {
    /// The capacity and the ratio; the level is in `level`.
    private let initial: RetryBudget
    /// The bit pattern of `RetryBudget.level`.
    private let level: Atomic<UInt64>
    private let taken = Atomic<Int64>(0)
    private let givenBack = Atomic<Int64>(0)
    private let refused = Atomic<Int64>(0)

    public struct Stats {
        /// Retries that were allowed.
        public var taken: Int64
        /// Successes.
        public var givenBack: Int64
        /// Retries that were not allowed.
        public var refused: Int64
        public var level: Double
    }

    public init(_ budget: RetryBudget) {
        initial = budget
        level = Atomic(budget.level.bitPattern)
    }

    /// False: do not retry.
    public func take() -> Bool {
        guard update({ $0.take() }) else {
            refused.add(1, ordering: .relaxed)
            return false
        }
        taken.add(1, ordering: .relaxed)
        return true
    }

    public func giveBack() {
        update { $0.giveBack() }
        givenBack.add(1, ordering: .relaxed)
    }

    /// The counters are read one after another: while other threads use the budget, they may not add up.
    public var stats: Stats {
        Stats(
            taken: taken.load(ordering: .relaxed), givenBack: givenBack.load(ordering: .relaxed),
            refused: refused.load(ordering: .relaxed), level: Double(bitPattern: level.load(ordering: .relaxed)))
    }

    @discardableResult
    private func update<Result>(_ change: (inout RetryBudget) -> Result) -> Result {
        var seen = level.load(ordering: .relaxed)
        while true {
            var budget = initial
            budget.level = Double(bitPattern: seen)
            let result = change(&budget)
            let wanted = budget.level.bitPattern
            // A full budget, and one that refuses, is only read: threads then do not contend for it.
            if wanted == seen { return result }
            let (isExchanged, found) = level.weakCompareExchange(expected: seen, desired: wanted, ordering: .relaxed)
            if isExchanged { return result }
            seen = found
        }
    }
}
