/// What to do after an attempt, and why.
public struct Decision {
    // In this order, no two byte-sized fields are adjacent: if they were written one by one and then read as one word,
    // the processor would stall.
    public var action: RetryAction
    /// This attempt, from 1.
    public var attemptNumber: Int32
    public var reason: Reason
    /// This network exception, from 1; 0 if the attempt ended in a response.
    public var exceptionNumber: Int32
    public var delaySource = DelaySource.none
    /// Seconds; 0 if there is no retry.
    public var delay = 0.0
    /// The response's Retry-After, regardless of how it was used.
    public var retryAfter: RetryAfter
    /// The strategy wants an access token other than the one of this attempt, whether or not the request can be sent
    /// again (R3).
    public var rejectsToken = false

    public init(
        action: RetryAction, reason: Reason, attemptNumber: Int32, exceptionNumber: Int32, retryAfter: RetryAfter
    ) {
        self.action = action
        self.reason = reason
        self.attemptNumber = attemptNumber
        self.exceptionNumber = exceptionNumber
        self.retryAfter = retryAfter
    }

    public var isRetry: Bool { action == .retry || action == .refreshTokenAndRetry }
}

public enum RetryAction: Int32, CaseIterable {
    case stop = 0
    case retry = 1
    case refreshTokenAndRetry = 2
    case succeed = 3
}

public enum DelaySource: Int32, CaseIterable {
    case none = 0
    case backoff = 1
    case retryAfter = 2
    case retryAfterDate = 3
    case custom = 4
}

/// The reason for a decision. The header has a sentence for each.
public enum Reason: Int32, CaseIterable {
    case success = 0
    case networkException = 1
    case accepted = 2
    case serverError = 3
    case rateLimited = 4
    case unauthorized = 5
    case notRetryable = 6
    case attemptsExhausted = 7
    case exceptionsExhausted = 8
    case retriesExhausted = 9
    case retryAfterOverCap = 10
    case unsafeRequest = 11
    case notReplayable = 12
    case deadline = 13
    case attemptCeiling = 14
    case custom = 15
    case sinkCannotRestart = 16
    case tokenExpired = 17
    case retryBudgetSpent = 18
    case proxyUnauthorized = 19
    case partialContent = 20
    case retryRequested = 21
    case retryRefused = 22
}
