/// One call from its start to its one ending, as events in and actions out. It sends nothing and waits for nothing itself.
/// What happens within an attempt is `AttemptMachine`'s.
///
/// ```
/// idle ─start─► (awaitingToken ─►) attempting ─attemptEnded─► deciding ─decided─► waiting ─waitOver─► attempting …
///                   │                          │                  │
///                   └──────────────────────────┴──────► ended ◄───┘
/// ```
///
/// Cancel and deadline end it from wherever it is (K1, B11); what comes after that is ignored (K3).
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
        /// Nothing: the event came too late.
        case none
        /// Get an access token, then report `tokenCame` or `tokenFailed`.
        case getToken
        /// Begin an attempt; `fresh` on a new connection.
        case attempt(fresh: Bool)
        /// Ask the strategy about the attempt's outcome.
        case decide
        /// Wait, then report `waitOver`. `needsToken`: besides, get another access token, and report that as well; now, so
        /// that a call that can have none ends without waiting (B8).
        case wait(seconds: Double, needsToken: Bool)
        /// The token that was asked for when the wait began has not come yet.
        case awaitToken
        /// The call has ended. What is still under way is to be dropped.
        case end(Ending)
    }

    public enum Ending: Equatable {
        /// With the last response, whatever its status.
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
    /// The attempt that a token is awaited for is a replay (R).
    private var isReplay = false
    /// The token that was asked for at the decision is still to come (B8).
    private var isTokenPending = false

    public init(needsToken: Bool = false) {
        self.needsToken = needsToken
    }

    public mutating func start() -> Action {
        guard state == .idle else { return .none }
        return attempt(fresh: false)
    }

    /// Somebody has to report whether a token came.
    public var awaitsToken: Bool { state == .awaitingToken || isTokenPending }

    public mutating func tokenCame() -> Action {
        isTokenPending = false
        guard state == .awaitingToken else { return .none }
        isReplay = false
        return beginAttempt(fresh: isNextFresh)
    }

    /// There is no token, or the rejected one again. After a replay that cannot be, the caller gets the response that
    /// there is (R4).
    public mutating func tokenFailed() -> Action {
        guard awaitsToken else { return .none }
        return end(isReplay ? .response : .token)
    }

    /// How an attempt ended.
    public enum AttemptResult: Equatable {
        case response
        /// The access token was rejected, and the request is to be sent with another one, at once (R1).
        case replay
        /// A part of what was asked for (W7); the rest is asked for at once.
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
        // A connection on which something went wrong is not trusted again. The token that came during the wait is asked for
        // once more: it may have become too old.
        guard isTokenPending else { return attempt(fresh: isLastAnException) }
        state = .awaitingToken
        isNextFresh = isLastAnException
        return .awaitToken
    }

    public mutating func cancel() -> Action {
        state == .ended ? .none : end(.cancelled)
    }

    /// Something on this machine has failed outside of an attempt.
    public mutating func failed(_ failure: LocalFailure) -> Action {
        state == .ended ? .none : end(.local(failure))
    }

    /// A callback of the caller's has failed.
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

/// Something on this machine failed, which no retry would mend (B2).
public enum LocalFailure: Equatable {
    /// The response is larger than a limit of the caller.
    case responseTooLarge
    /// No descriptors, no threads.
    case exhausted
    case outOfMemory
    /// A setting cannot be used: a CA file, a certificate.
    case setting
    /// The request's body cannot be read.
    case source
    /// The response's body cannot be put where it was to go.
    case sink
    case tooManyRedirects
}
