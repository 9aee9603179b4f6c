import RetryCore

/// What the strategy says about one outcome, and the retry loop as it is afterward. The call keeps its own loop until it
/// acts on the answer.
struct StrategyAnswer {
    let loop: RetryLoop
    /// Nil: the strategy's callback failed.
    var decision: Decision?
    let failure: StrategyFailure?

    init(of loop: RetryLoop, about outcome: Outcome, clock: any Clock) {
        var loop = loop
        do throws(StrategyFailure) {
            decision = try loop.next(outcome, clock: clock)
            failure = nil
        } catch {
            decision = nil
            failure = error
        }
        self.loop = loop
    }
}

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
        answer = StrategyAnswer(of: loop, about: outcome, clock: call.engine.clock)
    }
}
