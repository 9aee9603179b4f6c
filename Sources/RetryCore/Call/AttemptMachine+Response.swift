/// Handles the response, piece by piece.
extension AttemptMachine {
    /// What to do with a line of the head. `stop`: nothing of it is kept, and the transport stops.
    public enum HeadAction {
        case stop
        case keep
        /// Keep a line that names codings of the body.
        case keepCodings(ByteCursor)
        /// A trailer, or the end of a 1xx response, whose headers do not belong to the final response (B7).
        case skip
        /// The head of the final response is complete: call `headEnded`.
        case endHead
    }

    public var expectsStatusLine: Bool { state == .sending || state == .connecting }

    /// The head of the final response is complete.
    public var isHeadWhole: Bool { exchange.isHeadWhole }

    /// The first line of a message, as it was sent, and as the transport has parsed it. `hasSentAll` is called only if
    /// the response may be early. False: stop.
    public mutating func statusLine(
        _ written: StatusLine, _ count: Int, readAs read: StatusLine, hasSentAll: () -> Bool
    ) -> Bool {
        state = .head
        exchange.isHeadOpen = true
        exchange.headerLines = 0
        exchange.headerBytes += count  // With those of the 1xx responses before it, which may have no end.
        exchange.framing = ResponseFraming()
        exchange.httpVersion = written.version
        guard isVersionTrue(read.version) else { return stops(.malformed) }
        if exchange.agreed == .unknown { exchange.isMultiplexed = written.version == 20 }
        exchange.status = read.status ?? 0
        // Transports accept some lines that the grammar of status lines does not allow.
        guard let status = written.status, status == read.status, status >= 100 else { return stops(.malformed) }
        // No protocol upgrade was requested, so the end of this response is undefined.
        guard status != 101 else { return stops(.malformed) }
        exchange.hasEarlyResponse = status >= 200 && exchange.request.hasBody && !hasSentAll()
        return exceededLimit().map { isBeyond($0) } ?? true
    }

    /// Whether the status line claims the version that the connection uses (W1). libcurl before 8.8 believes a server that
    /// claims HTTP/2 on an HTTP/1.1 connection, and shares its connections from then on (Curl_http_statusline in
    /// lib/http.c); newer versions report it themselves.
    private func isVersionTrue(_ claimed: Int32) -> Bool {
        switch exchange.agreed {
        case .http1: claimed < 20
        case .http2: claimed >= 20
        case .unknown: true
        }
    }

    /// Takes a line of the head that counts only against the limits, as most do. False: it is another one, and nothing has
    /// happened; call `statusLine` or `headerLine`.
    @inline(__always)
    public mutating func takesPlain(_ line: UnsafePointer<CChar>, _ count: Int) -> Bool {
        guard case .head = state, count > 2, !ResponseFraming.mayMatter(line, count),
            exchange.headerLines < limits.headerLines, exchange.headerBytes <= limits.headerBytes &- count
        else { return false }
        exchange.headerLines &+= 1
        exchange.headerBytes &+= count
        exchange.framing.tookOther()
        return true
    }

    /// Any further line, including the empty one; or a trailer, which is not part of the head (RFC 9110, 6.5.1), but
    /// counts against its limits.
    @_optimize(speed)
    public mutating func headerLine(_ line: UnsafePointer<CChar>, _ count: Int) -> HeadAction {
        let isInHead = state == .head
        if isInHead, count <= 2 {
            exchange.isHeadOpen = false
            guard exchange.status < 200 else { return .endHead }
            state = .sending
            return .skip
        }
        exchange.headerLines += 1
        exchange.headerBytes += count
        if let limit = exceededLimit() {
            _ = isBeyond(limit)
            return .stop
        }
        guard isInHead else { return .skip }
        return exchange.framing.take(line, count).map { .keepCodings($0) } ?? .keep
    }

    private func exceededLimit() -> ResponseLimit? {
        if exchange.headerLines > limits.headerLines { return .headerLines }
        return exchange.headerBytes > limits.headerBytes ? .headerBytes : nil
    }

    /// Always returns false.
    private mutating func isBeyond(_ limit: ResponseLimit) -> Bool {
        exchange.limit = limit
        return stops(.local(.responseTooLarge))
    }

    /// Always returns false.
    private mutating func stops(_ ruling: Exchange.Ruling) -> Bool {
        exchange.rule(ruling)
        return false
    }

    public enum BodyStart: Equatable {
        case stop
        /// The server refused a range that the caller did not request: forget the partial file, and stop.
        case forgetDownload
        /// The body is kept in memory.
        case keep
        /// Ask the strategy, and report `decided`. Until then no part of the body is accepted.
        case ask
    }

    /// The head of the final response is complete. `isFollowed`: it is a redirect that will be followed.
    public mutating func headEnded(isFollowed: Bool) -> BodyStart {
        let (status, request) = (exchange.status, exchange.request)
        state = .body
        guard !exchange.framing.isMalformed || !exchange.mayHaveBody else {
            exchange.rule(.malformed)
            return .stop
        }
        // The answer is to a range that the caller did not request and would not understand: the download starts over.
        if status == 416, request.asksForRest {
            exchange.rule(.malformed)
            return .forgetDownload
        }
        // A transport may not know that no body follows, because the request had a body.
        if request.isHead, request.hasBody {
            exchange.rule(.response)
            return .stop
        }
        guard isForSink(status, isFollowed: isFollowed) else { return .keep }
        state = .waitingForDecision(end: nil)
        return .ask
    }

    /// Whether the body goes to the sink, unless the strategy retries. A response without content does not start the
    /// sink.
    private func isForSink(_ status: Int32, isFollowed: Bool) -> Bool {
        let request = exchange.request
        guard request.hasSink, exchange.mayHaveBody, status != 205 else { return false }
        if (200..<300).contains(status) { return true }
        return request.sinkTakesErrors && !isFollowed && !(request.renewsToken && status == 401)
    }

    public enum Decided: Equatable {
        /// The answer is too late.
        case tooLate
        /// The body goes to the sink or, if there will be a retry, is discarded. `end`: then report `transportEnded`
        /// with this value; nil: resume the transport.
        case go(Exchange.Destination, end: AttemptEnd?)
    }

    /// The strategy has answered the question about the head. A source that has paused stays paused until `resumed()`.
    public mutating func decided(retries: Bool) -> Decided {
        guard case .waitingForDecision(let end) = state else { return .tooLate }
        state = .body
        exchange.destination = retries ? .nowhere : .memory  // Until the sink has been started.
        return .go(retries ? .nowhere : .sink, end: end)
    }

    /// The caller's sink accepts the body.
    public mutating func sinkStarted() {
        exchange.destination = .sink
    }

    /// The server sent a different part of the file than requested.
    public mutating func isWrongPart() {
        exchange.rule(.malformed)
    }

    /// The body is not valid in its content coding.
    public mutating func isMalformed() {
        exchange.rule(.malformed)
    }

    public enum BodyAction: Equatable {
        /// Nothing was accepted: offer the same piece again.
        case pause
        case keep
        /// Keep that many bytes, then stop: an error's body is for people, and its beginning is sufficient (B15).
        case cutOff(Int)
        case deliver
        case stop
    }

    /// A decoded piece of the body. `held`: the number of bytes already at its destination.
    public mutating func body(_ count: Int, held: Int64) -> BodyAction {
        guard !isWaitingForDecision else { return .pause }
        guard exchange.destination != .sink else {
            return fits(count, limits.sink, held) ? .deliver : isBeyondBody()
        }
        let isWanted = (200..<300).contains(exchange.status) && exchange.destination == .memory
        let limit = isWanted ? limits.body : limits.errorBody
        guard !fits(count, limit, held) else { return .keep }
        guard !isWanted else { return isBeyondBody() }
        exchange.isBodyCutOff = true
        exchange.rule(.response)
        return .cutOff(limit - Int(held))
    }

    private func fits(_ count: Int, _ limit: Int, _ held: Int64) -> Bool {
        Int64(count) <= Int64(limit) - held
    }

    private mutating func isBeyondBody() -> BodyAction {
        _ = isBeyond(.body)
        return .stop
    }

    /// A piece of the body was accepted; `count` is its size before decoding.
    public mutating func bodyTaken(_ count: Int) {
        exchange.bytesTaken += Int64(count)
    }

    // MARK: - Responses that begin before the request was sent completely

    /// The server has answered completely, according to the length in its head.
    public var isAnswered: Bool {
        guard exchange.hasEarlyResponse, !isHeld, isHeadWhole else { return false }
        return !exchange.mayHaveBody || exchange.framing.length == exchange.bytesTaken
    }

    /// libcurl before 8.5 (tried: 7.88) does not notice that an HTTP/2 stream has ended with the last byte that libcurl
    /// sends on it: it must be made to check.
    public var mayHaveEnded: Bool { exchange.hasEarlyResponse && exchange.isMultiplexed && !isHeld }

    /// An early response has ended before its length was reached.
    var isAnswerShort: Bool {
        guard exchange.hasEarlyResponse, exchange.isMultiplexed, isHeadWhole else { return false }
        guard (200..<300).contains(exchange.status), exchange.mayHaveBody, let length = exchange.framing.length else {
            return false
        }
        return exchange.bytesTaken < length
    }
}
