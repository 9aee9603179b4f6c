/// How a sending ends, and what happens to the attempt then (B2).
extension AttemptMachine {
    /// Facts about the call that are needed when a sending ends.
    public struct Context {
        /// The request's body can be sent again from its first byte (R3).
        public var isReplayable = true
        /// Sending the request twice does nothing that sending it once does not (B13).
        public var isIdempotent = true
        /// A content coding is incomplete (W4).
        public var isCodingShort = false
        /// The state of a download.
        public var download = DownloadEnd.whole

        public init() {}
    }

    /// What a body that ended normally has contributed to a download.
    public enum DownloadEnd {
        case whole
        /// A complete part that ends before the file does (W7).
        case part
        /// Fewer or more bytes than its head announced.
        case wrongLength
    }

    public enum EndAction: Equatable {
        /// Too late; or the strategy's answer about the head is pending, and then the same end must be reported again.
        case none
        /// Send the request again on a new connection; call `queueAgain`.
        case sendAgain(Again)
        /// The connection was dead. The request may be sent again on another one if the call has a retry left (B13):
        /// report `reconnectAllowed`. `cause`: what failed on the connection.
        case askToReconnect(NetworkExceptionCause)
        /// A complete response has arrived: check whether it is a redirect, or rejects the token.
        case response
        /// The attempt is over.
        case end(CallMachine.AttemptResult)
    }

    public enum Again: Equatable {
        /// The connection turned out to be unusable before anything was sent on it: no request was sent (W1, W3).
        case notSent
        /// The server does not serve this over HTTP/2, and has not acted on it: send it over HTTP/1.1, with any method.
        case refused
        /// The connection was dead (B13).
        case reconnect
    }

    /// The sending is over. While the strategy decides about the head, the end is stored until it has answered.
    public mutating func transportEnded(_ end: AttemptEnd, _ context: Context) -> EndAction {
        switch state {
        case .idle, .queued, .ended: return .none
        case .waitingForDecision(end: nil):
            state = .waitingForDecision(end: end)
            return .none
        case .waitingForDecision: return .none
        case .connecting, .sending, .head, .body:
            state = .ended  // Until it is queued again.
            return act(on: end.end, context)
        }
    }

    private mutating func act(on end: TransportEnd, _ context: Context) -> EndAction {
        switch exchange.ruling {
        case .local(let failure): return .end(.local(failure))
        case .notSent:
            wasNotSent = true
            return .sendAgain(.notSent)
        case .response: return .response
        case .malformed: return .end(.exception(.protocol))
        case .vetoed, nil: break
        }
        // The server may have ended the exchange because it does not need the rest of the request.
        let isEnough = end == .timedOut(.timeoutIdle) || !end.isTimeout
        if isAnswered, isEnough { return act(onWhole: context) }
        if case .timedOut(let cause) = end { return .end(.exception(cause)) }
        // The server has not acted on the refused stream.
        if exchange.isHTTP1Needed, exchange.status == 0 {
            guard context.isReplayable, !wasRefused else { return .end(.exception(.protocol)) }
            wasRefused = true
            reconnects += 1
            return .sendAgain(.refused)
        }
        if let cause = deadConnectionCause(end) {
            guard context.isReplayable, context.isIdempotent else { return .end(.exception(.receive)) }
            return .askToReconnect(cause)
        }
        return act(onRest: end, context)
    }

    /// How a dead connection (B13) became apparent; nil: the connection was not dead.
    private func deadConnectionCause(_ end: TransportEnd) -> NetworkExceptionCause? {
        switch end {
        case .deadConnection: return .receive
        case .lost(mayBeDead: true) where exchange.status == 0: return .receive
        case .writeFailed(_, mayBeDead: true) where exchange.status == 0: return .send
        default: return exchange.ruling == .vetoed ? .receive : nil
        }
    }

    private mutating func act(onRest end: TransportEnd, _ context: Context) -> EndAction {
        let isInHead = !isHeadWhole
        switch end {
        case .done:
            // A transport may mistake the end of the connection for the end of the head.
            guard !isInHead else { return .end(.exception(exchange.status > 0 ? .receive : .protocol)) }
            return act(onWhole: context)
        case .aborted: return .end(.exception(.protocol))
        case .failed(let cause), .timedOut(let cause): return .end(.exception(cause))
        case .lost, .deadConnection: return .end(.exception(.receive))
        case .writeFailed(let hasSentAll, _):
            // Over HTTP/2, a transport may report the end of a stream whose response has begun as a failure to send.
            let hasResponse = exchange.status > 0 && exchange.isMultiplexed
            return .end(.exception(hasSentAll || hasResponse ? .receive : .send))
        case .refusedByProxy: return .end(.exception(.connect))
        case .lineTooLong: return .end(.local(.responseTooLarge))
        case .local(let failure): return .end(.local(failure))
        }
    }

    private mutating func act(onWhole context: Context) -> EndAction {
        guard !isAnswerShort, !context.isCodingShort else { return .end(.exception(.receive)) }
        switch context.download {
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
        /// The maximum number of redirects was reached.
        case tooMany
        /// The redirect requires the body again, which cannot be sent again.
        case notReplayable
    }

    /// The response is a redirect. `takesBody`: the request's body must be sent again.
    public mutating func redirected(takesBody: Bool, isReplayable: Bool, maximum: Int32) -> Followed {
        guard !takesBody || isReplayable else { return .notReplayable }
        guard redirects < maximum else { return .tooMany }
        redirects += 1
        return .followed
    }

    /// The request waits until it can be sent again.
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
