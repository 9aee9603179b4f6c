/// The retries of one call: gets the outcome of each attempt, and decides what to do next.
///
/// Counts attempts and network exceptions (B4), and enforces the limits for both together: the limit of the strategy
/// (B5), the ceiling (B14) and the deadline (B11).
public struct RetryLoop {
    public struct Limits {
        /// A new access token can be obtained, for every outcome.
        public var authAvailable = false
        public var deadline = Instant.distantFuture
        /// From 1 to 1,000,000; nil: no ceiling for a strategy with its own limit, else `defaultMaxTotalAttempts`.
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
    /// Requests that were sent again on another connection within an attempt (B13): at most one.
    private var reconnects: Int32 = 0

    /// No further outcome is accepted.
    public private(set) var hasEnded = false

    public init(strategy: any RetryStrategy, limits: Limits, random: SplitMix64) {
        self.strategy = strategy
        self.limits = limits
        maxTotalAttempts = limits.maxTotalAttempts ?? (strategy.retryBound == nil ? Self.defaultMaxTotalAttempts : .max)
        self.random = random
    }

    /// `next` runs callbacks.
    public var callsBack: Bool { strategy.callsBack }

    /// The next attempt has ended. After an error, or a decision other than a retry, the loop has ended, and must not
    /// be called again.
    public mutating func next(_ outcome: Outcome, clock: any Clock) throws(StrategyFailure) -> Decision {
        hasEnded = true  // Unless the decision is a retry.
        attempts += 1
        if outcome.isNetworkException { exceptions += 1 }
        guard limits.authAvailable, !outcome.authAvailable else { return try decide(outcome, clock) }
        var changed = outcome
        changed.authAvailable = true
        return try decide(changed, clock)
    }

    @_optimize(speed)
    private mutating func decide(_ outcome: Outcome, _ clock: any Clock) throws(StrategyFailure) -> Decision {
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

    /// The decision was a retry, but there is no retry for that reason.
    public mutating func stop(_ decision: inout Decision, _ reason: Reason, after outcome: Outcome) {
        decision.stop(reason, after: outcome)
        hasEnded = true
    }

    /// The next attempt was rejected because of its access token. The strategy does not see this outcome: the attempt
    /// is replayed, but counts as an attempt (R1); or it cannot be replayed, because its body is no longer available
    /// (R3), or because the maximum number of attempts of all kinds was reached (B14). A redirect that needs an
    /// unavailable body is counted in the same way.
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

    /// The next attempt has delivered a part of the file, which is progress, so the strategy does not see this outcome.
    /// The rest is requested immediately (W7); this takes one of the strategy's retries (B5). Nil, and not counted: no
    /// retry is left.
    public mutating func countPart() -> Decision? {
        guard attempts + reconnects < strategy.retryBound ?? .max, attempts + reconnects + 1 < maxTotalAttempts else {
            return nil
        }
        attempts += 1
        return Decision(
            action: .retry, reason: .partialContent, attemptNumber: attempts, exceptionNumber: 0, retryAfter: .absent)
    }

    /// Whether the request of the current attempt may be sent again immediately because its connection was dead (B13):
    /// at most once in a call, and only as one of the allowed retries (B5, B14). `attempts` is the number of retries so
    /// far.
    public var mayReconnect: Bool {
        reconnects == 0 && attempts < strategy.retryBound ?? .max && attempts + 1 < maxTotalAttempts
    }

    /// The server gets the request of the current attempt once more.
    public mutating func countReconnect() {
        reconnects += 1
    }

    /// Why a retry is not allowed, even if the strategy would retry.
    ///
    /// There were `attempts - 1` retries, and the reconnect. For responses, the strategy's own limit is never above
    /// this limit.
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
