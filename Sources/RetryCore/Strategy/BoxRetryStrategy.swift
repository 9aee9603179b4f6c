/// Box's documented strategy.
public final class BoxRetryStrategy: RetryStrategy {
    public let options: BoxRetryOptions
    private let delayHeaders: DelayHeaders
    private let verdictHeader: VerdictHeader?

    /// The options have been validated.
    public init(
        checked options: BoxRetryOptions, delayHeaders: DelayHeaders = .none, verdictHeader: VerdictHeader? = nil
    ) {
        self.options = options
        self.delayHeaders = delayHeaders
        self.verdictHeader = verdictHeader
    }

    public var callsBack: Bool { false }

    public var retryBound: Int32? { options.maxAttempts }

    @inline(__always)
    public func readRetryAfter(_ headers: HeaderList, clock: any Clock) -> RetryAfter {
        RetryAfter.read(headers, further: delayHeaders, clock: clock)
    }

    /// With the jitter (C2), within the cap; not usable if calls stop instead of waiting that long (B11).
    public func readSharedRetryAfter(_ headers: HeaderList, clock: any Clock, unitRandom: Double) -> RetryAfter {
        let retryAfter = readRetryAfter(headers, clock: clock)
        guard case .usable = retryAfter else { return retryAfter }
        let wait = options.wait(retryAfter, attemptNumber: 0, unitRandom: unitRandom)
        return wait.isOverCap ? .notUsable : .usable(wait.delay, wait.source)
    }

    /// The documented flow, in its order (B3), followed by B12.
    @inline(__always)
    public func shouldRetry(_ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32) -> RetryAnswer {
        let answer = documentedFlow(outcome, retryAfter: retryAfter, attemptNumber: attemptNumber)
        if !options.retryUnsafeMethods, answer.action != .stop, outcome.isRequestUnsafe,
            !provesNothingHappened(outcome, retryAfter: retryAfter, answer)
        {
            return .stop(.unsafeRequest)
        }
        return answer
    }

    @inline(__always)
    private func documentedFlow(_ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32) -> RetryAnswer {
        if outcome.isNetworkException {
            return attemptNumber <= options.maxRetriesOnException
                ? .retry(.networkException) : .stop(.exceptionsExhausted)
        }
        let isAccepted = outcome.status == 202 && retryAfter.isPresent
        if attemptNumber >= options.maxAttempts {
            // Here the flow answers "no" before it checks the status. A response that needs no retry is a success.
            return .stop(outcome.isSuccess && !isAccepted ? .success : .attemptsExhausted)
        }
        if isAccepted { return .retry(.accepted) }
        if let verdict = verdictHeader?.verdict(in: outcome.headers), outcome.status >= 400, !refreshesToken(outcome) {
            return verdict ? .retry(.retryRequested) : .stop(.retryRefused)
        }
        if outcome.status >= 500 { return .retry(.serverError) }
        if outcome.status == 429 { return .retry(.rateLimited) }
        if refreshesToken(outcome) { return .refresh(.unauthorized) }
        return .stop(outcome.isSuccess ? .success : .notRetryable)
    }

    @inline(__always)
    private func refreshesToken(_ outcome: Outcome) -> Bool {
        outcome.status == 401 && outcome.authAvailable
    }

    /// Whether the outcome proves that the server did not act on the request (B12).
    private func provesNothingHappened(_ outcome: Outcome, retryAfter: RetryAfter, _ answer: RetryAnswer) -> Bool {
        if outcome.requestSent == .nothing || answer.action == .refreshTokenAndRetry { return true }
        guard !outcome.isNetworkException else { return false }
        return outcome.status == 429 || (outcome.status == 503 && retryAfter.isPresent)
    }

    /// Retry-After, within its cap (B7, B11), or else the backoff (B6).
    @inline(__always)
    public func retryAfter(
        _ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32, unitRandom: Double
    ) -> Wait {
        options.wait(retryAfter, attemptNumber: attemptNumber, unitRandom: unitRandom)
    }
}

extension BoxRetryOptions {
    /// The wait, with the response's Retry-After.
    @inline(__always)
    public func wait(_ retryAfter: RetryAfter, attemptNumber: Int32, unitRandom: Double) -> Wait {
        guard case .usable(let seconds, let source) = retryAfter else {
            return Wait(delay: backoffDelay(attemptNumber: attemptNumber, unitRandom: unitRandom), source: .backoff)
        }
        if retryAfterCap > 0, seconds > retryAfterCap, retryAfterOverCap == .stop {
            return Wait(delay: seconds, source: source, isOverCap: true)
        }
        return Wait(delay: retryAfterDelay(seconds, unitRandom: unitRandom), source: source)
    }

    /// `seconds * (1 … 1 + retryAfterJitter)` (C2), at most `retryAfterCap`, saturating at `Delay.maximum`.
    ///
    /// With a jitter of 0.5:
    ///
    /// | seconds, cap | 0 → least | 0.5 → middle | 1 → most |
    /// |--------------|-----------|--------------|----------|
    /// | 8, none      | 8         | 10           | 12       |
    /// | 8, 9         | 8         | 9            | 9        |
    /// | 8, 4         | 4         | 4            | 4        |
    @inline(__always)
    private func retryAfterDelay(_ seconds: Double, unitRandom: Double) -> Double {
        let delay = Delay.clamped(seconds * (1 + unitRandom * retryAfterJitter))
        return retryAfterCap > 0 && delay > retryAfterCap ? retryAfterCap : delay
    }
}
