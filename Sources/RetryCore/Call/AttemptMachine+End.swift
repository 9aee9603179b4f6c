/// How a sending ends, and what becomes of the attempt then (B2).
extension AttemptMachine {
    /// What is known of the call when a sending ends.
    public struct Facts {
        /// The request's body can be sent again from its first byte (R3).
        public var isReplayable = true
        /// Sending the request twice does nothing that sending it once does not (B13).
        public var isIdempotent = true
        /// A content coding has not come to its end (W4).
        public var isCodingShort = false
        /// What has come of a download.
        public var download = DownloadEnd.whole

        public init() {}
    }

    /// What a body that has ended, as the server sees it, has brought.
    public enum DownloadEnd {
        case whole
        /// All of a part that ends before the file does (W7).
        case part
        /// Fewer bytes than its head says, or more.
        case wrongLength
    }

    public enum EndAction: Equatable {
        /// Too late; or the answer about the head is waited for, and then the same is to be reported again.
        case none
        /// Send the request again, on a new connection; it is queued with `queueAgain`.
        case sendAgain(Again)
        /// The connection was dead, and the request may be sent again on another one, if the call has a retry left (B13):
        /// report `reconnectAllowed`. `cause`: what the connection failed at.
        case askToReconnect(NetworkExceptionCause)
        /// A response has come, whole: see whether it is a redirect, or rejects the token.
        case response
        /// The attempt is over.
        case end(CallMachine.AttemptResult)
    }

    public enum Again: Equatable {
        /// The connection turned out to be unusable before anything was sent on it: no request was made (W1, W3).
        case notSent
        /// The server does not serve this over HTTP/2, and has done nothing: now over HTTP/1.1, whatever the method.
        case refused
        /// The connection was dead (B13).
        case reconnect
    }

    /// The sending is over. While the strategy is asked about the head, that is kept until it has answered.
    public mutating func transportEnded(_ end: AttemptEnd, _ facts: Facts) -> EndAction {
        switch state {
        case .idle, .queued, .ended: return .none
        case .waitingForDecision(end: nil):
            state = .waitingForDecision(end: end)
            return .none
        case .waitingForDecision: return .none
        case .connecting, .sending, .head, .body:
            state = .ended  // Until it is queued again.
            return act(on: end.end, facts)
        }
    }

    private mutating func act(on end: TransportEnd, _ facts: Facts) -> EndAction {
        switch exchange.ruling {
        case .local(let failure): return .end(.local(failure))
        case .notSent:
            wasNotSent = true
            return .sendAgain(.notSent)
        case .response: return .response
        case .malformed: return .end(.exception(.protocol))
        case .vetoed, nil: break
        }
        // The server may have ended the exchange since it needs no more of the request.
        let isEnough = end == .timedOut(.timeoutIdle) || !end.isTimeout
        if isAnswered, isEnough { return act(onWhole: facts) }
        if case .timedOut(let cause) = end { return .end(.exception(cause)) }
        // The refused stream has done nothing.
        if exchange.isHTTP1Needed, exchange.status == 0 {
            guard facts.isReplayable, !wasRefused else { return .end(.exception(.protocol)) }
            wasRefused = true
            reconnects += 1
            return .sendAgain(.refused)
        }
        if let cause = deadConnectionCause(end) {
            guard facts.isReplayable, facts.isIdempotent else { return .end(.exception(.receive)) }
            return .askToReconnect(cause)
        }
        return act(onRest: end, facts)
    }

    /// The connection was dead (B13), as the transport noticed at that; nil: it was not.
    private func deadConnectionCause(_ end: TransportEnd) -> NetworkExceptionCause? {
        switch end {
        case .deadConnection: return .receive
        case .lost(mayBeDead: true) where exchange.status == 0: return .receive
        case .writeFailed(_, mayBeDead: true) where exchange.status == 0: return .send
        default: return exchange.ruling == .vetoed ? .receive : nil
        }
    }

    private mutating func act(onRest end: TransportEnd, _ facts: Facts) -> EndAction {
        let isInHead = !isHeadWhole
        switch end {
        case .done:
            // A transport may take the end of the connection for the end of the head.
            guard !isInHead else { return .end(.exception(exchange.status > 0 ? .receive : .protocol)) }
            return act(onWhole: facts)
        case .aborted: return .end(.exception(.protocol))
        case .failed(let cause), .timedOut(let cause): return .end(.exception(cause))
        case .lost, .deadConnection: return .end(.exception(.receive))
        case .writeFailed(let hasSentAll, _): return .end(.exception(hasSentAll ? .receive : .send))
        case .refusedByProxy: return .end(.exception(.connect))
        case .lineTooLong: return .end(isInHead ? .local(.responseTooLarge) : .exception(.protocol))
        case .local(let failure): return .end(.local(failure))
        }
    }

    private mutating func act(onWhole facts: Facts) -> EndAction {
        guard !isAnswerShort, !facts.isCodingShort else { return .end(.exception(.receive)) }
        switch facts.download {
        case .whole: return .response
        case .part: return .end(.part)
        case .wrongLength: return .end(.exception(.receive))
        }
    }

    /// Whether the call has a retry left for a reconnect.
    public mutating func reconnectAllowed(_ isAllowed: Bool) -> EndAction {
        guard isAllowed else { return .end(.exception(.receive)) }
        reconnects += 1
        return .sendAgain(.reconnect)
    }

    public enum Followed: Equatable {
        case followed
        /// There have been as many redirects as there may be.
        case tooMany
        /// The redirect wants the body sent again, which cannot be.
        case notReplayable
    }

    /// The response leads elsewhere. `takesBody`: with the request's body.
    public mutating func redirected(takesBody: Bool, isReplayable: Bool, maximum: Int32) -> Followed {
        guard !takesBody || isReplayable else { return .notReplayable }
        guard redirects < maximum else { return .tooMany }
        redirects += 1
        return .followed
    }

    /// The request waits for its turn to be sent again.
    public mutating func queueAgain() {
        exchange = Exchange()
        state = .queued
    }
}

extension TransportEnd {
    fileprivate var isTimeout: Bool {
        if case .timedOut = self { return true }
        return false
    }
}
