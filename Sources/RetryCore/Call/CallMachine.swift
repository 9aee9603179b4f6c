/// One call, from its start to its only end, as events and actions. It sends nothing and waits for nothing.
/// `AttemptMachine` handles what happens within an attempt.
///
/// ```
/// idle ─start─► (awaitingToken ─►) attempting ─attemptEnded─► deciding ─decided─► waiting ─waitOver─► attempting …
///                   │                          │                  │
///                   └──────────────────────────┴──────► ended ◄───┘
/// ```
///
/// Cancel and the deadline end it in any state (K1, B11); later events are ignored (K3).
public struct CallMachine {
    public enum State: Equatable {
        case idle
        case awaitingToken
        case attempting
        case deciding
        case waiting
        case ended
    }

    public enum Action {
        /// Do nothing: the event is too late.
        case none
        /// Get an access token, then report `tokenReceived` or `tokenFailed`.
        case getToken
        /// Begin an attempt; if `fresh`, on a new connection.
        case attempt(fresh: Bool)
        /// Ask the strategy about the attempt's outcome.
        case decide
        /// Wait, then report `waitOver`. `needsToken`: also get another access token, and report that too. This begins
        /// now, so that a call that cannot get a token ends without waiting (B8).
        case wait(seconds: Double, needsToken: Bool)
        /// The token that was requested when the wait began is still missing.
        case awaitToken
        /// The call has ended. Drop everything that is still running.
        case end(Ending)
    }

    public enum Ending: Equatable {
        /// With the last response, regardless of its status.
        case response
        case exception(NetworkExceptionCause)
        case cancelled
        case deadline
        case local(LocalFailure)
        case callbackFailed
        /// There is no access token.
        case token
    }

    public private(set) var state = State.idle
    private var lastCause = NetworkExceptionCause.none
    private var isLastAnException = false
    /// Each attempt needs an access token.
    private let needsToken: Bool
    private var isNextFresh = false
    /// The attempt that waits for a token is a replay (R).
    private var isReplay = false
    /// The token that was requested at the decision is still missing (B8).
    private var isTokenPending = false

    public init(needsToken: Bool = false) {
        self.needsToken = needsToken
    }

    public mutating func start() -> Action {
        guard state == .idle else { return .none }
        return attempt(fresh: false)
    }

    /// The result of a token request must still be reported.
    public var awaitsToken: Bool { state == .awaitingToken || isTokenPending }

    public mutating func tokenReceived() -> Action {
        isTokenPending = false
        guard state == .awaitingToken else { return .none }
        isReplay = false
        return beginAttempt(fresh: isNextFresh)
    }

    /// There is no token, or the provider returned the rejected one again. If a replay is impossible, the caller gets
    /// the last response (R4).
    public mutating func tokenFailed() -> Action {
        guard awaitsToken else { return .none }
        return end(isReplay ? .response : .token)
    }

    /// How an attempt ended.
    public enum AttemptResult: Equatable {
        case response
        /// The access token was rejected, and the request must be sent with another one immediately (R1).
        case replay
        /// A part of the requested file (W7); the rest is requested immediately.
        case part
        case exception(NetworkExceptionCause)
        case local(LocalFailure)
    }

    public mutating func attemptEnded(_ result: AttemptResult) -> Action {
        guard state == .attempting else { return .none }
        switch result {
        case .response:
            isLastAnException = false
        case .replay:
            isReplay = true
            return attempt(fresh: false)
        case .part:
            return attempt(fresh: false)
        case .exception(let cause):
            isLastAnException = true
            lastCause = cause
        case .local(let failure):
            return end(.local(failure))
        }
        state = .deciding
        return .decide
    }

    /// The strategy has decided; nil: its callback failed.
    public mutating func decided(_ decision: Decision?) -> Action {
        guard state == .deciding else { return .none }
        guard let decision else { return end(.callbackFailed) }
        guard decision.isRetry else {
            return end(isLastAnException ? .exception(lastCause) : .response)
        }
        state = .waiting
        isTokenPending = needsToken && decision.action == .refreshTokenAndRetry
        return .wait(seconds: decision.delay, needsToken: isTokenPending)
    }

    public mutating func waitOver() -> Action {
        guard state == .waiting else { return .none }
        // A connection with an error is not trusted again. The token that arrived during the wait is requested again,
        // because it may have become too old.
        guard isTokenPending else { return attempt(fresh: isLastAnException) }
        state = .awaitingToken
        isNextFresh = isLastAnException
        return .awaitToken
    }

    public mutating func cancel() -> Action {
        state == .ended ? .none : end(.cancelled)
    }

    /// A local failure outside of an attempt.
    public mutating func failed(_ failure: LocalFailure) -> Action {
        state == .ended ? .none : end(.local(failure))
    }

    /// A callback of the caller has failed.
    public mutating func callbackFailed() -> Action {
        state == .ended ? .none : end(.callbackFailed)
    }

    /// The call's deadline has passed.
    public mutating func deadlinePassed() -> Action {
        state == .ended ? .none : end(.deadline)
    }

    private mutating func attempt(fresh: Bool) -> Action {
        guard needsToken else { return beginAttempt(fresh: fresh) }
        state = .awaitingToken
        isNextFresh = fresh
        return .getToken
    }

    private mutating func beginAttempt(fresh: Bool) -> Action {
        state = .attempting
        return .attempt(fresh: fresh)
    }

    private mutating func end(_ ending: Ending) -> Action {
        state = .ended
        isTokenPending = false
        return .end(ending)
    }
}

/// A local failure that a retry would not fix (B2).
public enum LocalFailure: Equatable {
    /// The response is larger than a limit of the caller.
    case responseTooLarge
    /// No descriptors or threads left.
    case exhausted
    case outOfMemory
    /// A setting is unusable: a CA file, a certificate.
    case setting
    /// The request's body cannot be read.
    case source
    /// The response's body cannot be written to its destination.
    case sink
    case tooManyRedirects
}
