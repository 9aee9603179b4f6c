import RetryCore

/// An attempt that a custom strategy is asked about on a thread of the pool. That thread touches nothing of the call: the
/// loop takes the answer, and only if the call is still at this attempt.
final class StrategyQuestion {
    let call: Call
    let transfer: Transfer
    private let loop: RetryLoop
    private let outcome: Outcome
    private(set) var answer: StrategyAnswer?

    init(_ call: Call, _ transfer: Transfer) {
        self.call = call
        self.transfer = transfer
        loop = call.retryLoop
        outcome = transfer.outcome
    }

    /// Runs the strategy's callbacks.
    func ask() {
        answer = StrategyAnswer(of: loop, about: outcome, clock: call.time.clock)
    }
}
