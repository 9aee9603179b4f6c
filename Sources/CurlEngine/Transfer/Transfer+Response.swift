import CShims
import RetryCore

/// What comes back: the head.
extension Transfer {
    /// False: stop.
    @_optimize(speed)
    func receive(header line: UnsafePointer<CChar>, _ count: Int) -> Bool {
        touch()
        return call.attempt.takesPlain(line, count) ? keep(line, count) : receive(special: line, count)
    }

    /// A line that is more than one of many headers.
    @inline(never)
    private func receive(special line: UnsafePointer<CChar>, _ count: Int) -> Bool {
        guard !call.attempt.expectsStatusLine else { return receive(statusLine: line, count) }
        switch call.attempt.headerLine(line, count) {
        case .stop: return false
        case .keep: return keep(line, count)
        case .keepCodings(let codings): return keep(line, count) && add(codings)
        case .skip: return true
        case .endHead: return headEnded()
        }
    }

    /// The first line of a message: what a head before it had is not this one's (B7). False: stop.
    private func receive(statusLine line: UnsafePointer<CChar>, _ count: Int) -> Bool {
        let call = call
        head.count = 0
        shim_decoder_free(decoder)
        decoder = nil
        carrier?.listenForRefusals(false)
        let written = StatusLine(line, count)
        let isTaken = call.attempt.statusLine(written, count, readAs: read(written)) { hasSentAll }
        guard isTaken else { return false }
        if !target.parsedURL.has_tls { recordProtocol() }
        if call.attempt.exchange.hasEarlyResponse { keepSending() }
        return keep(line, count)
    }

    /// The status line as the transport has read it.
    private func read(_ written: StatusLine) -> StatusLine {
        written.isPlain ? written : carrier?.read(written) ?? written
    }

    private func keep(_ line: UnsafePointer<CChar>, _ count: Int) -> Bool {
        shim_buffer_append(&head, line, count) || refuse(.outOfMemory)
    }

    private func add(_ codings: ByteCursor) -> Bool {
        guard plan.isCompressed else { return true }
        let bytes = codings.bytes
        return shim_decoder_add(&decoder, bytes.baseAddress, bytes.count) || refuse(.outOfMemory)
    }

    /// False: stop.
    @discardableResult
    func refuse(_ failure: LocalFailure) -> Bool {
        call.attempt.failed(failure)
        return false
    }

    /// The head of the final response is whole. False: stop.
    private func headEnded() -> Bool {
        let call = call
        var isFollowed = false
        if call.sink?.takesErrors == true {
            guard keepHead(), let answer = call.willFollow else { return refuse(.outOfMemory) }
            isFollowed = answer
        }
        let start = call.attempt.headEnded(isFollowed: isFollowed)
        if start != .stop, !loop.headReceived(call) { return refuse(.outOfMemory) }
        switch start {
        case .stop: return false
        case .keep: return true
        case .forgetDownload:
            call.download?.forget()
            return false
        case .ask: return loop.askAtHead(call)
        }
    }

    /// The body goes to the caller's sink. False: stop.
    func deliver(to sink: any BodySink) -> Bool {
        let exchange = call.attempt.exchange
        let isUnasked = exchange.status == 206 && call.request.asksForWhole && sink.isFile
        let answer = call.download?.received(
            status: exchange.status, call.receivedHead.list, length: exchange.framing.length)
        switch answer ?? (isUnasked ? .wrong : .whole) {
        case .rest: break
        case .whole:
            let hasStarted = sink.start(
                DeliveredHead(
                    handle: call.handle, url: target.shownURL, status: exchange.status,
                    httpVersion: exchange.httpVersion,
                    reasonPhrase: call.receivedHead.reasonPhrase, headers: call.receivedHead.list))
            call.time.read()  // Foreign code may have taken its time.
            guard hasStarted else { return refuse(.sink) }
        case .wrong:
            call.download?.forget()
            call.attempt.isWrongPart()
            return false
        }
        resumedFrom = sink.length
        call.attempt.sinkStarted()
        return true
    }
}

/// What comes back: the body.
extension Transfer {
    enum BodyAnswer: Int32 {
        case stop = 0
        case proceed = 1
        case pause = 2
    }

    func receive(body data: UnsafePointer<CChar>, _ count: Int) -> BodyAnswer {
        touch()
        guard !call.attempt.isWaitingForDecision else { return .pause }
        let answer = decoder.map { unpack($0, data, count) } ?? deliver(data, count)
        if answer == .proceed { call.attempt.bodyTaken(count) }
        return answer
    }

    /// Hands on a piece of the body, as the caller gets it.
    func deliver(_ data: UnsafePointer<CChar>, _ count: Int) -> BodyAnswer {
        let isForSink = call.attempt.exchange.destination == .sink
        switch call.attempt.body(count, held: isForSink ? call.sink?.length ?? 0 : Int64(body.count)) {
        case .pause: return .pause
        case .keep: return append(data, count) ? .proceed : .stop
        case .cutOff(let kept):
            _ = append(data, kept)
            return .stop
        case .deliver: return give(data, count)
        case .stop: return .stop
        }
    }

    private func give(_ data: UnsafePointer<CChar>, _ count: Int) -> BodyAnswer {
        guard let sink = call.sink else { return .stop }
        let result = sink.write(call.handle, data, count)
        call.time.read()  // Foreign code may have taken its time.
        switch result {
        case .taken: return .proceed
        case .pause:
            call.attempt.paused()
            return .pause
        case .failed:
            refuse(.sink)
            return .stop
        }
    }

    private func append(_ data: UnsafePointer<CChar>, _ count: Int) -> Bool {
        shim_buffer_append(&body, data, count) || refuse(.outOfMemory)
    }
}

/// What is sent: the request's body.
extension Transfer {
    func read(_ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Int64 {
        guard let source = call.request.source else { return Int64(SHIM_READ_FAILED) }
        let result = source.read(call.handle, buffer, capacity)
        call.time.read()
        switch result {
        case .bytes(let count):
            bytesRead += Int64(count)
            isBodyRead = count == 0
            return Int64(count)
        case .pause:
            call.attempt.paused()
            return Int64(SHIM_READ_PAUSE)
        case .failed:
            refuse(.source)
            return Int64(SHIM_READ_FAILED)
        }
    }

    func rewind() -> Bool { call.request.source?.rewind() ?? false }
}

/// What the attempt has to know when it ends.
extension Transfer {
    var context: AttemptMachine.Context {
        var context = AttemptMachine.Context()
        context.isReplayable = call.bodyCanBeSentAgain
        context.isIdempotent = call.request.isIdempotent
        context.isCodingShort = isCodingShort
        context.download = downloadEnd
        return context
    }

    /// The result of a download, now that its body has ended.
    private var downloadEnd: AttemptMachine.DownloadEnd {
        guard call.attempt.exchange.destination == .sink, let sink = call.sink, let download = call.download else {
            return .whole
        }
        return download.end(at: sink.length)
    }
}
