/// Decides whether to retry after an attempt, and after what delay.
///
/// `attemptNumber` is the number of the network exception if the outcome is one, else of the attempt, from 1 (B4).
public protocol RetryStrategy: AnyObject {
    /// Callbacks run while the strategy decides, and may free any object.
    var callsBack: Bool { get }

    /// The maximum number of retries of both kinds in a call (B5); nil if the strategy has no such limit.
    var retryBound: Int32? { get }

    /// The Retry-After in the header lines.
    func readRetryAfter(_ headers: HeaderList, clock: any Clock) -> RetryAfter

    /// The same, limited to what calls with this strategy would wait for. It also holds other attempts to the origin
    /// (C3).
    func readSharedRetryAfter(_ headers: HeaderList, clock: any Clock, unitRandom: Double) -> RetryAfter

    func shouldRetry(
        _ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32
    ) throws(StrategyFailure) -> RetryAnswer

    /// `unitRandom` in [0, 1] selects a value in the range of the jitter.
    func retryAfter(
        _ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32, unitRandom: Double
    ) throws(StrategyFailure) -> Wait

    /// The complete decision about one outcome. All strategies share the implementation below; it is a requirement here
    /// so that a decision takes one dynamic call, not three.
    ///
    /// - `refusal`: why a retry is not allowed, even if the strategy would retry; nil if it is allowed.
    /// - Throws the error of the strategy's callback.
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
    /// The server asks for more than the cap, and the caller chose to stop in this case (B11).
    public var isOverCap = false

    public init(delay: Double, source: DelaySource, isOverCap: Bool = false) {
        self.delay = delay
        self.source = source
        self.isOverCap = isOverCap
    }
}

/// A strategy could not decide: its callback failed (B9). This ends the call.
public struct StrategyFailure: Error {
    /// The error of the callback, for the error detail.
    public let why: StaticString
    /// It called fork(), and this is the child, in which the parent's handles must not be used.
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
    /// Ends the call: as a success if the outcome is one (B10), else as a failure.
    public mutating func stop(_ reason: Reason, after outcome: Outcome) {
        action = outcome.isSuccess ? .succeed : .stop
        self.reason = reason
        delay = 0
        delaySource = .none
    }
}
