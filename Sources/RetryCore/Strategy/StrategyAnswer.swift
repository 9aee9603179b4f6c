/// The strategy's decision about one outcome, and the resulting state of the retry loop. The call keeps its own loop
/// until it acts on the answer.
public struct StrategyAnswer {
    public let loop: RetryLoop
    /// Nil: the strategy's callback failed.
    public var decision: Decision?
    public let failure: StrategyFailure?

    public init(of loop: RetryLoop, about outcome: Outcome, clock: any Clock) {
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
