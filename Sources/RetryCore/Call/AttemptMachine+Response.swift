/// What comes back, piece by piece.
extension AttemptMachine {
    /// What is to be done with a line of the head. `stop`: nothing of it is kept, and the transport stops.
    public enum HeadAction {
        case stop
        case keep
        /// The same of a line that says in which codings the body comes.
        case keepCodings(ByteCursor)
        /// A trailer, or the end of a 1xx response, which lends the final one nothing (B7).
        case skip
        /// The head of the final response is whole: what next?
        case endHead
    }

    public var expectsStatusLine: Bool { state == .sending || state == .connecting }

    /// The head of the final response has come, whole.
    public var isHeadWhole: Bool { exchange.isHeadWhole }

    /// The first line of a message, as it is written, and as the transport has read it. `hasSentAll`: asked only if the
    /// response may be early. False: stop.
    public mutating func statusLine(
        _ written: StatusLine, _ count: Int, readAs read: StatusLine, hasSentAll: () -> Bool
    ) -> Bool {
        state = .head
        exchange.isHeadOpen = true
        exchange.headerLines = 0
        exchange.headerBytes = count
        exchange.framing = ResponseFraming()
        exchange.httpVersion = written.version
        guard isVersionTrue(read.version) else { return stops(.malformed) }
        if exchange.agreed == .unknown { exchange.isMultiplexed = written.version == 20 }
        exchange.status = read.status ?? 0
        // Transports read some lines that the status line's grammar does not allow.
        guard let status = written.status, status == read.status, status >= 100 else { return stops(.malformed) }
        // Nobody has asked for another protocol, so nobody can tell where this response ends.
        guard status != 101 else { return stops(.malformed) }
        exchange.isAnsweredEarly = status >= 200 && exchange.request.hasBody && !hasSentAll()
        return exceededLimit().map { isBeyond($0) } ?? true
    }

    /// The status line claims the version that the connection speaks (W1). libcurl believes a server that claims HTTP/2 in
    /// a connection of HTTP/1.1, and shares its connections from then on (7.88: Curl_http_statusline in lib/http.c).
    private func isVersionTrue(_ claimed: Int32) -> Bool {
        switch exchange.agreed {
        case .http1: claimed < 20
        case .http2: claimed >= 20
        case .unknown: true
        }
    }

    /// A line after the first one, the empty one too; or a trailer, which is no part of the head (RFC 9110, 6.5.1), but
    /// counts against its limits.
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

    /// False.
    private mutating func isBeyond(_ limit: ResponseLimit) -> Bool {
        exchange.limit = limit
        return stops(.local(.responseTooLarge))
    }

    /// False.
    private mutating func stops(_ ruling: Exchange.Ruling) -> Bool {
        exchange.rule(ruling)
        return false
    }

    public enum BodyStart: Equatable {
        case stop
        /// Nobody asked for the part that the server refused: forget what has come of the file, and stop.
        case forgetDownload
        /// The body is kept in memory.
        case keep
        /// Ask the strategy, and report `decided`. Until then nothing of the body is taken.
        case ask
    }

    /// The head of the final response is whole.
    public mutating func headEnded() -> BodyStart {
        let (status, request) = (exchange.status, exchange.request)
        state = .body
        guard !exchange.framing.isMalformed || !exchange.mayHaveBody else {
            exchange.rule(.malformed)
            return .stop
        }
        // To a range that the caller has not asked for, and so would not understand: the file begins anew.
        if status == 416, request.asksForRest {
            exchange.rule(.malformed)
            return .forgetDownload
        }
        // A transport may not know that nothing follows, since the request had a body.
        if request.isHead, request.hasBody {
            exchange.rule(.response)
            return .stop
        }
        guard isForSink(status) else { return .keep }
        state = .waitingForDecision(end: nil)
        return .ask
    }

    /// The body is for the sink, unless the strategy retries. What has no content leaves the sink alone.
    private func isForSink(_ status: Int32) -> Bool {
        let request = exchange.request
        guard request.hasSink, exchange.mayHaveBody, status != 205 else { return false }
        if (200..<300).contains(status) { return true }
        let isFollowed = request.followsRedirects && Redirect.isRedirect(status)
        return request.sinkTakesErrors && !isFollowed && !(request.renewsToken && status == 401)
    }

    public enum Decided: Equatable {
        /// The answer comes too late.
        case tooLate
        /// The body goes to the sink, or, since there will be a retry, nowhere. `end`: then report `transportEnded` with
        /// this; nil: resume the transport.
        case go(Exchange.Destination, end: AttemptEnd?)
    }

    /// The strategy has answered the question that was asked at the head.
    public mutating func decided(retries: Bool) -> Decided {
        guard case .waitingForDecision(let end) = state else { return .tooLate }
        state = .body
        exchange.isPaused = false
        exchange.destination = retries ? .nowhere : .memory  // Until the sink has been started.
        return .go(retries ? .nowhere : .sink, end: end)
    }

    /// The caller's sink takes the body.
    public mutating func sinkStarted() {
        exchange.destination = .sink
    }

    /// The server sent another part of the file than was asked for.
    public mutating func isWrongPart() {
        exchange.rule(.malformed)
    }

    /// The body is not what its coding says.
    public mutating func isMalformed() {
        exchange.rule(.malformed)
    }

    public enum BodyAction: Equatable {
        /// Nothing is taken: the same is to be offered again.
        case pause
        case keep
        /// Keep so many bytes, then stop: an error's body is for people, and its beginning will do (B15).
        case cutOff(Int)
        case deliver
        case stop
    }

    /// A piece of the body, unpacked. `held`: bytes that its destination has.
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

    /// A piece of the body, as it came, was taken.
    public mutating func bodyTaken(_ count: Int) {
        exchange.bytesTaken += Int64(count)
    }

    // MARK: - Answers that come before the request is read

    /// The server has answered in full, as far as it said how long its answer is.
    public var isAnswered: Bool {
        guard exchange.isAnsweredEarly, !isHeld, isHeadWhole else { return false }
        return !exchange.mayHaveBody || exchange.framing.length == exchange.bytesTaken
    }

    /// libcurl 7.88 does not see it when a stream of HTTP/2 ends with the last byte that it sends on it: it has to be told to
    /// look.
    public var mayHaveEnded: Bool { exchange.isAnsweredEarly && exchange.isMultiplexed && !isHeld }

    /// An early answer has ended before its length.
    var isAnswerShort: Bool {
        guard exchange.isAnsweredEarly, exchange.isMultiplexed, isHeadWhole else { return false }
        guard (200..<300).contains(exchange.status), exchange.mayHaveBody, let length = exchange.framing.length else {
            return false
        }
        return exchange.bytesTaken < length
    }
}
