import CShims
import RetryCore

/// One attempt: a libcurl handle, and what has come back so far. Only the holder of the loop touches it.
final class Transfer {
    unowned(unsafe) let call: Call
    let target: Target
    /// What the transport works with.
    var easy: OpaquePointer?
    /// The handle goes back to the others afterwards.
    var isEasyShared = true
    /// Header lines of this sending alone.
    private let lines: UnsafeMutablePointer<curl_slist>?
    /// The access token's line, before the others; overwritten in the end (T1).
    private var authorization: UnsafeMutablePointer<curl_slist>?
    /// False if there was no memory for it.
    private(set) var hasAuthorization = true
    /// It goes with the call's access token: not to a foreign place, and not in place of what a hook has set (T13).
    var usesToken: Bool { authorization != nil }
    /// All went well, as libcurl sees it.
    var isWhole = false
    /// It is not the transport's any more.
    var isDetached = false
    /// What is known of it in the end.
    var report = shim_report()
    /// What came back, whole or broken off, once the attempt has ended.
    var received: ReceivedResponse?
    /// How it ended, as the strategy sees it.
    var outcome = Outcome(status: 0)
    /// What was decided about that outcome.
    var decision: Decision?
    /// In place of a decision: the strategy's callback failed.
    var strategyFailure: StrategyFailure?
    /// What the strategy said when only the head of the response had come.
    var headDecision = HeadDecision.notAsked

    /// The header lines of the last message, as they came.
    private(set) var head = shim_buffer()
    private(set) var body = shim_buffer()
    private(set) var isBodyCutOff = false
    private(set) var localFailure: LocalFailure?
    /// Which limit a response that is too large is beyond.
    private(set) var limit = ResponseLimit.libcurl
    /// Where the body goes.
    private(set) var place = BodyPlace.memory
    /// A callback of the caller's has nothing to send, or takes nothing, until the call is resumed.
    var isPaused = false

    /// In the transport's list of those whose next address is to be tried.
    var isFailedByAddress = false
    var nextFailedByAddress: Transfer?

    /// How often libcurl has asked to send the request, on a connection that may be used.
    private(set) var sendings = 0
    /// Why nothing was sent on the connection that libcurl had chosen.
    private(set) var problem: ConnectionProblem?
    /// Whose connections it may use.
    var group = ConnectionGroup.ordinary
    private var agreed = ConnectionProtocol.unknown
    /// What libcurl has opened for it, open or closed by now.
    var openedSockets: [Int32] = []
    /// The connection that carries this exchange alone; -1: none.
    var occupiedSocket: Int32 = -1
    private(set) var wasVetoed = false

    /// When it was handed to the transport.
    let startedAt: Int64
    /// Why it ended in an exception, where there is more to say than the cause.
    var exceptionReason: FailureReason?

    /// When something last moved (M1).
    private(set) var lastActivity: Int64
    private var moved: Int64 = 0
    /// What has not been told yet, and when something was last told.
    private var progress: shim_progress?
    private var progressAt: Int64 = 0
    private var totals: (receive: Int64, send: Int64)?
    private var bytesRead: Int64 = 0
    /// Up to its end.
    private var isBodyRead = false
    /// Bytes that a resumed download had before.
    private(set) var resumedFrom: Int64 = 0
    /// The server sent another part of the file than was asked for.
    private(set) var isWrongRange = false
    /// The response cannot be read: its head contradicts itself, or its body is not what its coding says.
    var isMalformed = false
    /// What the header lines say about the body so far.
    private(set) var framing = ResponseFraming()
    /// Compressed responses were asked for. Not for a part of a file: a part of a stream cannot be unpacked.
    private let isCompressed: Bool
    /// Unpacks the body; nil: it comes as it is.
    private(set) var decoder: OpaquePointer?
    /// What has come of a download, now that its body has ended.
    var downloadEnd: Download.End {
        guard place == .sink, let sink = call.sink, let download = call.download else { return .whole }
        return download.end(at: sink.length)
    }
    private var isDiscarded = false
    /// The final response has begun while the request was still being sent.
    private(set) var isAnsweredEarly = false
    /// All of the response has come, whatever libcurl makes of it.
    private(set) var isComplete = false
    /// The look-up is over.
    private(set) var isOpen = false
    /// The socket in use; -1 if there is none.
    var socket: Int32 = -1
    private var unsentBytes: Int32 = 0

    private var headerLines = 0
    private var headerBytes = 0
    private var expectsStatusLine = true
    /// Up to the empty line.
    private(set) var isReadingHead = true
    /// Of the last status line.
    private var httpVersion: Int32 = 0
    /// Other transfers may share its connection, so that what moves there is not this one's.
    private(set) var isMultiplexed = false

    /// `lines`: header lines in place of the request's own, which the transfer takes over.
    /// `withToken`: the call's access token goes with it, if it has one.
    init(call: Call, lines: UnsafeMutablePointer<curl_slist>?, withToken: Bool, now: Int64) {
        self.call = call
        target = call.target
        self.lines = lines
        lastActivity = now
        isCompressed = call.settings.isCompressed && call.request.asksForWhole && call.download?.range == nil
        startedAt = now
        guard withToken, let token = call.auth?.token, !target.isForeign else { return }
        let others = lines ?? call.request.ownLines
        // A hook may have set one of its own.
        guard !shim_header_has_authorization(others) else { return }
        authorization = shim_header_add_secret("Authorization: Bearer ", token.secret.start, others)
        hasAuthorization = authorization != nil
    }

    deinit {
        shim_header_free_secret(authorization)
        shim_header_free_lines(lines)
        shim_buffer_free(&head)
        shim_buffer_free(&body)
        shim_decoder_free(decoder)
    }

    /// Where the body of the response goes (B15).
    enum BodyPlace {
        case memory
        /// The strategy is asked whether it retries this response; until it has answered, nothing is taken.
        case undecided
        case sink
    }

    /// The head of the final response has come, whole.
    var isHeadWhole: Bool { status >= 200 && !isReadingHead }

    /// The head, or a part of it, is here, and has not been taken.
    var holdsHead: Bool { head.count > 0 }

    /// Nil if there is no memory.
    func takeHead() -> ResponseHead? {
        defer { head = shim_buffer() }
        return ResponseHead(head, lines: headerLines)
    }

    func takeBody() -> shim_buffer {
        defer { body = shim_buffer() }
        return body
    }

    /// Nothing moves, and nothing is expected to: whoever has to take or give something is not ready (M1).
    var isHeld: Bool { isPaused || place == .undecided }

    /// What libcurl needs for it.
    func attempt() -> shim_attempt {
        let call = call
        var attempt = call.request.attempt(
            to: target, settings: call.settings, fresh: call.isFresh, changed: authorization ?? lines,
            isLarge: call.sink != nil)
        // Where it is not known, waiting would not do: a server that does not say what it speaks would hold up all.
        let version = call.settings.httpVersion
        let known = call.engine.spoken.versions(of: target.place, version)
        attempt.multiplexed = known == .multiplexed
        if version == .http2, known == .http1Needed {
            attempt.http_version = Int(CURL_HTTP_VERSION_1_1)
        }
        attempt.compressed = isCompressed
        attempt.new_lookup = call.engine.doubtful.take(target.place)
        attempt.connect_timeout_ms = call.engine.connectLimit(of: self, isFirstAddress: true)
        // Else all that moves is seen as it comes (M1).
        attempt.watched = target.hasBody || call.settings.onProgress != nil
        return attempt
    }

    /// All of the request is on its way.
    var hasSentAll: Bool {
        guard let easy, shim_easy_head_sent(easy) > 0 else { return false }
        guard target.hasBody else { return true }
        let length = call.request.bodyLength ?? shim_easy_body_length(easy)
        return length < 0 ? isBodyRead : shim_easy_body_sent(easy) >= length
    }

    /// The connection was there before.
    var isOnReusedConnection: Bool { easy.map { shim_easy_is_reused($0) } ?? false }

    /// The status of the last status line; 0 before there is one.
    private(set) var status: Int32 = 0

    // MARK: - What libcurl tells

    /// libcurl is about to send the request. The second time, it means to send it again on a connection of its own
    /// choosing, since the first one was dead: that is not for it to decide (B13).
    func maySend(over agreed: ConnectionProtocol = .unknown, _ problem: ConnectionProblem? = nil) -> Bool {
        open()
        call.engine.readClock()  // There may have been many before it in this turn.
        touch()
        if let problem, sendings == 0 {
            self.problem = problem
            if problem == .busy { call.engine.spoken.record(target.place, call.settings.httpVersion, .mixed) }
            return false
        }
        sendings += 1
        self.agreed = agreed
        if target.place.has_tls { recordSpoken() }
        if call.isCountedByHost, sendings == 1 {
            call.engine.starting.connected(target)
            call.engine.hasMoreToDo = true
        }
        wasVetoed = sendings > 1
        switch agreed {
        case .http1: isMultiplexed = false
        case .http2: isMultiplexed = true
        // Until the first line of the response says that it is not.
        case .unknown: isMultiplexed = call.settings.httpVersion.mayMultiplex(hasTLS: target.place.has_tls)
        }
        // The refusal may come before libcurl has returned from sending.
        if isMultiplexed, mayNeedHTTP1, let easy { shim_easy_listen(easy, true) }
        return !wasVetoed
    }

    private func recordSpoken() {
        guard agreed != .unknown else { return }
        call.engine.spoken.record(
            target.place, call.settings.httpVersion, agreed == .http2 ? .multiplexed : .serial)
    }

    /// The status line claims the version that the connection speaks (W1). libcurl believes a server that claims HTTP/2 in
    /// a connection of HTTP/1.1, and shares its connections from then on (7.88: Curl_http_statusline in lib/http.c).
    private var isVersionTrue: Bool {
        // libcurl reads some lines that the status line's grammar does not allow.
        let claimed = httpVersion > 0 ? httpVersion : easy.map { shim_easy_http_version($0) } ?? 0
        switch agreed {
        case .http1: return claimed < 20
        case .http2: return claimed >= 20
        case .unknown: return true
        }
    }

    func receive(header line: UnsafePointer<CChar>, _ count: Int) -> Bool {
        touch()
        if expectsStatusLine {
            // A new message. What a 1xx response had is not the final one's (B7).
            expectsStatusLine = false
            isReadingHead = true
            head.count = 0
            headerLines = 0
            headerBytes = count
            framing = ResponseFraming()
            shim_decoder_free(decoder)
            decoder = nil
            httpVersion = Self.httpVersion(line, count)
            if let easy { shim_easy_listen(easy, false) }
            guard isVersionTrue else { return false }
            if agreed == .unknown {
                isMultiplexed = httpVersion == 20
            } else if !target.place.has_tls {
                recordSpoken()
            }
            status = easy.map { Int32(clamping: shim_easy_status($0)) } ?? Self.status(line, count) ?? 0
            // Some versions of libcurl also accept lines that are not status lines.
            guard (100...999).contains(status), Self.status(line, count) == status else { return false }
            // Nobody has asked for another protocol, so nobody can tell where this response ends.
            guard status != 101 else {
                isMalformed = true
                return false
            }
            isAnsweredEarly = status >= 200 && target.hasBody && !hasSentAll
            if isAnsweredEarly { letItGoOn() }
        } else if isReadingHead, count <= 2 {
            isReadingHead = false
            expectsStatusLine = (100..<200).contains(status)
            return expectsStatusLine || receivedHead()
        } else {
            // A header; or, behind the body, a trailer, which is none (RFC 9110, 6.5.1), but has its limits too.
            headerLines += 1
            headerBytes += count
        }
        guard headerLines <= call.settings.maxHeaderLines else {
            return isBeyond(.headerLines)
        }
        guard headerBytes <= call.settings.maxHeaderBytes else {
            return isBeyond(.headerBytes)
        }
        guard isReadingHead else { return true }
        return shim_buffer_append(&head, line, count) && takeFraming(line, count) || refuse(.outOfMemory)
    }

    /// False: out of memory.
    private func takeFraming(_ line: UnsafePointer<CChar>, _ count: Int) -> Bool {
        guard let codings = framing.take(line, count)?.bytes, isCompressed else { return true }
        return shim_decoder_add(&decoder, codings.baseAddress, codings.count)
    }

    /// False: stop.
    @discardableResult
    func refuse(_ failure: LocalFailure) -> Bool {
        localFailure = failure
        return false
    }

    /// False: stop.
    private func isBeyond(_ limit: ResponseLimit) -> Bool {
        localFailure = .responseTooLarge
        self.limit = limit
        return false
    }

    /// The head of the final response is complete. False: stop.
    private func receivedHead() -> Bool {
        guard !framing.isMalformed || !mayHaveBody else {
            isMalformed = true
            return false
        }
        if isAnsweredEarly { call.engine.arm(call) }
        // Nothing more will be sent, so that nothing is waited for.
        if status >= 400, isPaused { call.engine.goOn(with: call) }
        if status == 416, call.download?.range != nil {
            // To a range that the caller has not asked for, and so would not understand: the file begins anew.
            call.download?.forget()
            isWrongRange = true
            return false
        }
        if call.request.isHead, target.hasBody {
            // libcurl does not know that nothing follows, since the request had a body.
            isComplete = true
            return false
        }
        // What has no content leaves the sink alone.
        guard let sink = call.sink, (200..<300).contains(status), status != 204, status != 205,
            !call.request.isHead
        else { return true }
        switch call.engine.askEarly(call, self) {
        case .deliver: return deliver(to: sink)
        case .keep: return true
        case .wait:
            place = .undecided
            return true
        case .fail(let failure):
            localFailure = failure
            return false
        }
    }

    /// The body goes to the caller's sink. False: stop.
    func deliver(to sink: BodySink) -> Bool {
        let isUnasked = status == 206 && call.request.asksForWhole && sink is FileSink
        let answer = call.download?.received(status: status, call.receivedHead.list, length: framing.length)
        switch answer ?? (isUnasked ? .wrong : .whole) {
        case .rest: break
        case .whole:
            let hasStarted = sink.start(
                call,
                DeliveredHead(
                    status: status, httpVersion: httpVersion, reasonPhrase: call.receivedHead.reasonPhrase,
                    headers: call.receivedHead.list))
            call.engine.readClock()  // Foreign code may have taken its time.
            guard hasStarted else {
                localFailure = .sink
                return false
            }
        case .wrong:
            call.download?.forget()
            isWrongRange = true
            return false
        }
        resumedFrom = sink.length
        place = .sink
        return true
    }

    /// The strategy has answered: it retries, so that nobody wants the body.
    func keepInMemory() {
        place = .memory
        isDiscarded = true
    }

    /// 10, 11, 20, as a status line has it; 0 if it does not say.
    private static func httpVersion(_ line: UnsafePointer<CChar>, _ count: Int) -> Int32 {
        var text = ByteCursor(start: UnsafeRawPointer(line).assumingMemoryBound(to: UInt8.self), count: count)
        guard text.take("HTTP/"), let major = text.takeDigit() else { return 0 }
        return Int32(major) * 10 + Int32(text.take(UInt8(ascii: ".")) ? text.takeDigit() ?? 0 : 0)
    }

    /// The status in a status line (RFC 9112, 4): the version, one blank, three digits. Nil: it is not one.
    private static func status(_ line: UnsafePointer<CChar>, _ count: Int) -> Int32? {
        var text = ByteCursor(start: UnsafeRawPointer(line).assumingMemoryBound(to: UInt8.self), count: count)
        guard text.take("HTTP/") else { return nil }
        while !text.isAtEnd, !text.take(UInt8(ascii: " ")) { _ = text.next() }
        var status: Int32 = 0
        for _ in 0..<3 {
            guard let digit = text.takeDigit() else { return nil }
            status = status * 10 + Int32(digit)
        }
        return text.takeDigit() == nil ? status : nil
    }

    func receive(body data: UnsafePointer<CChar>, _ count: Int) -> BodyAnswer {
        touch()
        guard place != .undecided else { return .pause }
        return decoder.map { unpack($0, data, count) } ?? deliver(data, count)
    }

    /// Hands on a piece of the body, as the caller gets it.
    func deliver(_ data: UnsafePointer<CChar>, _ count: Int) -> BodyAnswer {
        switch place {
        case .undecided: return .pause
        case .memory: return keep(data, count) ? .goOn : .stop
        case .sink: return give(data, count)
        }
    }

    enum BodyAnswer: Int32 {
        case stop = 0
        case goOn = 1
        case pause = 2
    }

    private func give(_ data: UnsafePointer<CChar>, _ count: Int) -> BodyAnswer {
        guard let sink = call.sink else { return .stop }
        guard Int64(count) <= Int64(clamping: call.settings.sinkLimit) - sink.length else {
            _ = isBeyond(.body)
            return .stop
        }
        let result = sink.write(call, data, count)
        call.engine.readClock()  // Foreign code may have taken its time.
        switch result {
        case .taken: return .goOn
        case .pause:
            isPaused = true
            return .pause
        case .failed:
            localFailure = .sink
            return .stop
        }
    }

    /// False: stop.
    private func keep(_ data: UnsafePointer<CChar>, _ count: Int) -> Bool {
        let isWanted = (200..<300).contains(status) && !isDiscarded
        let room = (isWanted ? call.settings.bodyLimit : call.settings.errorBodyLimit) - body.count
        guard count > room else { return append(data, count) }
        guard isWanted else {
            // An error's body is for people: its beginning will do (B15).
            isBodyCutOff = true
            _ = append(data, room)
            return false
        }
        return isBeyond(.body)
    }

    private func append(_ data: UnsafePointer<CChar>, _ count: Int) -> Bool {
        guard shim_buffer_append(&body, data, count) else {
            localFailure = .outOfMemory
            return false
        }
        return true
    }

    // MARK: - The request's body

    func read(_ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Int64 {
        guard let source = call.request.source else { return Int64(SHIM_READ_FAILED) }
        let result = source.read(call, buffer, capacity)
        call.engine.readClock()
        switch result {
        case .bytes(let count):
            bytesRead += Int64(count)
            isBodyRead = count == 0
            return Int64(count)
        case .pause:
            isPaused = true
            return Int64(SHIM_READ_PAUSE)
        case .failed:
            localFailure = .source
            return Int64(SHIM_READ_FAILED)
        }
    }

    func rewind() -> Bool { call.request.source?.rewind() ?? false }

    /// How far the bodies have come, as libcurl counts.
    func report(moved progress: shim_progress) {
        let total = progress.received &+ progress.sent
        guard total != moved else { return }
        moved = total
        touch()
        guard call.settings.onProgress != nil else { return }
        self.progress = progress
        totals = (progress.receive_total, progress.send_total)
        // At most twenty times a second, and at the end.
        if lastActivity - progressAt >= 50_000_000 { tellProgress() }
    }

    /// The attempt is over: tells how far the bodies have come, also if libcurl had no occasion to.
    func tellLastProgress() {
        let total = report.received &+ report.sent
        if call.settings.onProgress != nil, total != moved {
            moved = total
            progress = shim_progress(
                received: report.received, receive_total: totals?.receive ?? -1, sent: report.sent,
                send_total: totals?.send ?? call.request.bodyLength ?? -1)
        }
        tellProgress()
    }

    /// Tells how far the bodies have come, unless that has been told.
    private func tellProgress() {
        guard let onProgress = call.settings.onProgress, var progress else { return }
        self.progress = nil
        progressAt = lastActivity
        if progress.receive_total <= 0 { progress.receive_total = -1 }
        if !target.hasBody {
            progress.send_total = 0
        } else if let source = call.request.source, source.length < 0, !source.writesContentType {
            // libcurl counts what it writes between the chunks as well.
            progress.sent = bytesRead
            progress.send_total = -1
        }
        onProgress(call, progress, resumedFrom)
        call.engine.readClock()
    }

    func open() {
        guard !isOpen else { return }
        isOpen = true
        call.engine.opened(self)
    }

    func openSocket(exhausted: Bool) {
        // That a further address is tried is no movement: all of them share the idle time (W5).
        if !isOpen { touch() }
        open()
        if exhausted { localFailure = .exhausted }
        setConnectLimit()
    }

    /// The request has gone out, which may have taken its time.
    func wasSent() {
        call.engine.readClock()
        touch()
    }

    // MARK: - Servers that refuse HTTP/2 (RFC 9113, 7)

    /// Before a response the server has said that it serves this origin over HTTP/1.1 only.
    private(set) var isHTTP1Needed = false

    /// The server, not the caller, has chosen HTTP/2.
    private var mayNeedHTTP1: Bool { target.place.has_tls && call.settings.httpVersion == .http2 && status == 0 }

    /// It may be said of any stream of a connection.
    func needsHTTP1() {
        isHTTP1Needed = mayNeedHTTP1
        if isHTTP1Needed { call.engine.spoken.record(target.place, .http2, .http1Needed) }
    }

    /// Something moves. The engine has read the clock for the event that tells so.
    func touch() { lastActivity = call.engine.now }

    /// Something moves on the connection.
    func touchConnection() {
        if !isMultiplexed { touch() }
        if isConnecting { setConnectLimit() }
    }

    /// Bytes that the kernel drains to the peer count as moving (M1).
    func lookAtKernel() {
        guard socket >= 0, !isMultiplexed else { return }
        let unsent = shim_unsent_bytes(socket)
        if unsent != unsentBytes {
            if unsent < unsentBytes { touch() }
            unsentBytes = unsent
        }
    }
}
