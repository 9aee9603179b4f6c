/// Decides whether an attempt is followed by another one, and after how long.
///
/// `attemptNumber` counts the network exceptions if the outcome is one, else the attempts, from 1 (B4).
public protocol RetryStrategy: AnyObject {
    /// Foreign code runs while the strategy decides, and may free whatever it likes.
    var callsBack: Bool { get }

    /// How many retries of both kinds together a call may have (B5); nil if the strategy knows no such bound.
    var retryBound: Int32? { get }

    /// What the header lines say about when to come back.
    func readRetryAfter(_ headers: HeaderList, clock: any Clock) -> RetryAfter

    /// The same, for as long as calls with this strategy would wait. It holds the other attempts to the origin, too (C3).
    func readSharedRetryAfter(_ headers: HeaderList, clock: any Clock, unitRandom: Double) -> RetryAfter

    func shouldRetry(
        _ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32
    ) throws(StrategyFailure) -> RetryAnswer

    /// `unitRandom` in [0, 1] says where in the range of the jitter.
    func retryAfter(
        _ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32, unitRandom: Double
    ) throws(StrategyFailure) -> Wait

    /// The whole decision about one outcome. All strategies share the one below; it stands here so that asking for a
    /// decision is one dynamic call, not three.
    ///
    /// - `refusal`: why there may be no retry, whatever the strategy says; nil if there may be one.
    /// - Throws what the strategy's callback throws.
    func decide(
        _ outcome: Outcome, attemptNumber: Int32, refusal: Reason?, clock: any Clock, random: inout SplitMix64
    ) throws(StrategyFailure) -> Decision
}

/// The answer to "is this retried?".
public struct RetryAnswer {
    public var action: Action
    public var reason: Reason

    public enum Action {
        case stop
        case retry
        case refreshTokenAndRetry
    }

    public static func stop(_ reason: Reason) -> RetryAnswer { RetryAnswer(action: .stop, reason: reason) }
    public static func retry(_ reason: Reason) -> RetryAnswer { RetryAnswer(action: .retry, reason: reason) }
    public static func refresh(_ reason: Reason) -> RetryAnswer {
        RetryAnswer(action: .refreshTokenAndRetry, reason: reason)
    }
}

/// The answer to "after how long?".
public struct Wait {
    /// Seconds.
    public var delay: Double
    public var source: DelaySource
    /// The server asks for more than its cap, and the caller said to stop then (B11).
    public var isOverCap = false

    public init(delay: Double, source: DelaySource, isOverCap: Bool = false) {
        self.delay = delay
        self.source = source
        self.isOverCap = isOverCap
    }
}

/// A strategy could not answer: its callback failed (B9). That ends the call.
public struct StrategyFailure: Error {
    /// What the callback did, for the error detail.
    public let why: StaticString
    /// It forked: this is the child, in which the parent's handles must not be touched any more.
    public let isForked: Bool

    public init(_ why: StaticString, isForked: Bool = false) {
        self.why = why
        self.isForked = isForked
    }
}

extension RetryStrategy {
    public func readSharedRetryAfter(_ headers: HeaderList, clock: any Clock, unitRandom: Double) -> RetryAfter {
        readRetryAfter(headers, clock: clock)
    }

    @inline(__always)
    public func decide(
        _ outcome: Outcome, attemptNumber: Int32, refusal: Reason?, clock: any Clock, random: inout SplitMix64
    ) throws(StrategyFailure) -> Decision {
        let retryAfter = readRetryAfter(outcome.headers, clock: clock)
        let answer = try shouldRetry(outcome, retryAfter: retryAfter, attemptNumber: attemptNumber)
        var decision = Decision(
            action: .stop, reason: answer.reason, attemptNumber: attemptNumber,
            exceptionNumber: outcome.isNetworkException ? attemptNumber : 0, retryAfter: retryAfter)

        switch answer.action {
        case .stop:
            decision.stop(answer.reason, after: outcome)
            return decision
        case .retry: decision.action = .retry
        case .refreshTokenAndRetry:
            decision.action = .refreshTokenAndRetry
            decision.rejectsToken = true
        }
        if let refusal = outcome.obstacle ?? refusal {
            decision.stop(refusal, after: outcome)
            return decision
        }
        let wait = try self.retryAfter(
            outcome, retryAfter: retryAfter, attemptNumber: attemptNumber, unitRandom: random.nextUnit())
        guard !wait.isOverCap else {
            decision.stop(.retryAfterOverCap, after: outcome)
            return decision
        }
        decision.delay = wait.delay
        decision.delaySource = wait.source
        return decision
    }
}

extension Decision {
    /// Makes this the end of the call: a success if the outcome is one (B10), else a failure.
    public mutating func stop(_ reason: Reason, after outcome: Outcome) {
        action = outcome.isSuccess ? .succeed : .stop
        self.reason = reason
        delay = 0
        delaySource = .none
    }
}
