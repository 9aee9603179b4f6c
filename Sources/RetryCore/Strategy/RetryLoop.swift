/// The retries of one call: takes each attempt's outcome, and says what to do next.
///
/// Counts attempts and network exceptions (B4), and keeps what holds for both: the bound of the strategy (B5), the
/// ceiling (B14) and the deadline (B11).
public struct RetryLoop {
    public struct Limits {
        /// A new access token could be got, for every outcome.
        public var authAvailable = false
        public var deadline = Instant.distantFuture
        /// From 1 to 1,000,000; nil: none for a strategy that has a bound of its own, else `defaultMaxTotalAttempts`.
        public var maxTotalAttempts: Int32?

        public init() {}
    }

    public static let defaultMaxTotalAttempts: Int32 = 1_000
    public static let maxTotalAttemptsRange: ClosedRange<Int32> = 1...1_000_000

    private let strategy: any RetryStrategy
    private let limits: Limits
    private let maxTotalAttempts: Int32
    private var random: SplitMix64
    private var attempts: Int32 = 0
    private var exceptions: Int32 = 0
    /// Requests that were sent again on another connection, within an attempt (B13): one at most.
    private var reconnects: Int32 = 0

    /// No further outcome is taken.
    public private(set) var hasEnded = false

    public init(strategy: any RetryStrategy, limits: Limits, random: SplitMix64) {
        self.strategy = strategy
        self.limits = limits
        maxTotalAttempts = limits.maxTotalAttempts ?? (strategy.retryBound == nil ? Self.defaultMaxTotalAttempts : .max)
        self.random = random
    }

    /// Foreign code runs in `next`.
    public var callsBack: Bool { strategy.callsBack }

    /// The next attempt has ended. After an error, or a decision that is no retry, the loop has ended, and must not be
    /// asked again.
    public mutating func next(_ outcome: Outcome, clock: any Clock) throws(StrategyFailure) -> Decision {
        hasEnded = true  // Unless there is a retry.
        attempts += 1
        if outcome.isNetworkException { exceptions += 1 }
        var outcome = outcome
        if limits.authAvailable { outcome.authAvailable = true }

        var decision = try strategy.decide(
            outcome, attemptNumber: outcome.isNetworkException ? exceptions : attempts, refusal: refusal(of: outcome),
            clock: clock, random: &random)
        decision.attemptNumber = attempts
        if decision.isRetry, reachesDeadline(after: decision.delay, clock) {
            decision.stop(.deadline, after: outcome)
        }
        hasEnded = !decision.isRetry
        return decision
    }

    /// The decision was to retry, but there is no retry for that reason after all.
    public mutating func stop(_ decision: inout Decision, _ reason: Reason, after outcome: Outcome) {
        decision.stop(reason, after: outcome)
        hasEnded = true
    }

    /// The next attempt has ended in a rejection of its access token, which is no outcome for the strategy: it is replayed,
    /// and counts as an attempt all the same (R1); or it cannot be, since its body is gone (R3), or since there have been
    /// as many attempts as there may be of any kind (B14). A redirect that wants a body again that is gone is counted alike.
    public mutating func countRejection(isReplayable: Bool) -> Decision {
        attempts += 1
        var obstacle: Reason?
        if attempts + reconnects >= maxTotalAttempts { obstacle = .attemptCeiling }
        if !isReplayable { obstacle = .notReplayable }
        hasEnded = obstacle != nil
        return Decision(
            action: obstacle == nil ? .refreshTokenAndRetry : .stop, reason: obstacle ?? .tokenExpired,
            attemptNumber: attempts, exceptionNumber: 0, retryAfter: .absent)
    }

    /// The next attempt has brought a part of what it asked for, which is progress, and so no outcome for the strategy. The
    /// rest is asked for at once (W7); that takes one of the strategy's retries (B5). Nil, and not counted: there is none
    /// left.
    public mutating func countPart() -> Decision? {
        guard attempts + reconnects < strategy.retryBound ?? .max, attempts + reconnects + 1 < maxTotalAttempts else {
            return nil
        }
        attempts += 1
        return Decision(
            action: .retry, reason: .partialContent, attemptNumber: attempts, exceptionNumber: 0, retryAfter: .absent)
    }

    /// Whether the request of the attempt under way may be sent again at once, since its connection was dead (B13): at most
    /// once in a call, and as one of the retries that there may be (B5, B14). `attempts` retries have been made so far.
    public var mayReconnect: Bool {
        reconnects == 0 && attempts < strategy.retryBound ?? .max && attempts + 1 < maxTotalAttempts
    }

    /// The server sees the request of the attempt under way once more.
    public mutating func countReconnect() {
        reconnects += 1
    }

    /// Why there may be no retry, whatever the strategy says.
    ///
    /// `attempts - 1` retries have been made, and the reconnect. For responses, the strategy's own limit is never above
    /// this bound.
    private func refusal(of outcome: Outcome) -> Reason? {
        if attempts + reconnects >= maxTotalAttempts { return .attemptCeiling }
        if outcome.isNetworkException, let bound = strategy.retryBound, attempts - 1 + reconnects >= bound {
            return .retriesExhausted
        }
        return nil
    }

    private func reachesDeadline(after delay: Double, _ clock: any Clock) -> Bool {
        guard limits.deadline.nanoseconds != Instant.distantFuture.nanoseconds else { return false }
        return clock.boottime.advanced(bySeconds: delay).nanoseconds >= limits.deadline.nanoseconds
    }
}
