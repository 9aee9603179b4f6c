import Testing

@testable import RetryCore

/// One attempt, as events in and actions out; each race in both of its orders.
@Suite struct AttemptMachineTests {
    // MARK: - The usual way

    @Test("an attempt goes from its turn to its response") func response() {
        let attempt = AttemptScene()
        #expect(attempt.state == .idle && !attempt.isOpen && attempt.requestSent == .nothing)
        #expect(attempt.begin(at: 5, boottime: 7))
        #expect(attempt.startedAt == 5 && attempt.startedBoot == 7 && attempt.isOpen)
        #expect(attempt.startSending(.init(), at: 6) && attempt.state == .connecting)
        #expect(attempt.maySend(over: .http1, nil) == .send && attempt.state == .sending)
        #expect(attempt.requestSent == .some)
        #expect(attempt.head("HTTP/1.1 200 OK", "Content-Length: 3") == .keep && attempt.state == .body)
        #expect(attempt.body(3, held: 0) == .keep)
        #expect(attempt.transportEnded(.done) == .response && attempt.state == .ended)
    }

    @Test("B7: a 1xx response lends the final one nothing") func interim() {
        let attempt = AttemptScene.sending()
        #expect(attempt.take("HTTP/1.1 103 Early Hints"))
        #expect(attempt.takeLine("Content-Length: 7") == .keep && attempt.takeLine("") == .skip)
        #expect(attempt.state == .sending && attempt.expectsStatusLine && !attempt.isHeadWhole)
        #expect(attempt.head("HTTP/1.1 200 OK") == .keep)
        #expect(attempt.exchange.framing.length == nil && attempt.exchange.headerLines == 0)
    }

    @Test("B2: a connection that ends after a 1xx response has brought no response") func onlyInterim() {
        let attempt = AttemptScene.sending()
        #expect(attempt.take("HTTP/1.1 103 Early Hints"))
        #expect(attempt.takeLine("") == .skip)
        #expect(attempt.transportEnded(.done) == .end(.exception(.receive)))
    }

    @Test("B2: without a status line it is not a response, and within the head one that broke off") func noHead() {
        let nothing = AttemptScene.sending()
        #expect(nothing.transportEnded(.done) == .end(.exception(.protocol)))
        let half = AttemptScene.sending()
        #expect(half.take("HTTP/1.1 200 OK"))
        #expect(half.transportEnded(.done) == .end(.exception(.receive)))
    }

    // MARK: - The strategy is asked at the head

    private static var sink: Exchange.Request {
        var request = Exchange.Request()
        request.hasSink = true
        return request
    }

    @Test("B15: the decision comes before the end: the body goes to the sink") func decidedFirst() {
        let attempt = AttemptScene.sending(Self.sink)
        #expect(attempt.head("HTTP/1.1 200 OK") == .ask && attempt.isHeld)
        #expect(attempt.body(3, held: 0) == .pause)
        #expect(attempt.decided(retries: false) == .go(.sink, end: nil) && !attempt.isHeld)
        attempt.sinkStarted()
        #expect(attempt.body(3, held: 0) == .deliver)
        #expect(attempt.transportEnded(.done) == .response)
    }

    @Test("B15: the end comes before the decision, and is kept until then") func endedFirst() {
        let attempt = AttemptScene.sending(Self.sink)
        let end = AttemptEnd(.done, code: 0, at: 9)
        #expect(attempt.head("HTTP/1.1 200 OK") == .ask)
        #expect(attempt.transportEnded(end, .init()) == .none && attempt.isOpen)
        #expect(attempt.transportEnded(.failed(.receive)) == .none)  // There is one end.
        #expect(attempt.decided(retries: false) == .go(.sink, end: end))
        #expect(attempt.transportEnded(end, .init()) == .response)
    }

    @Test("B15: a retry wants no body, and keeps no more of it than of an error's") func retries() {
        var limits = ResponseLimits()
        limits.errorBody = 4
        for endsFirst in [false, true] {
            let attempt = AttemptScene.sending(Self.sink, limits: limits)
            #expect(attempt.head("HTTP/1.1 202 Accepted") == .ask)
            let end = AttemptEnd(.lost(mayBeDead: true), code: 18, at: 1)
            if endsFirst { #expect(attempt.transportEnded(end, .init()) == .none) }
            #expect(attempt.decided(retries: true) == .go(.nowhere, end: endsFirst ? end : nil))
            if !endsFirst { #expect(attempt.body(5, held: 0) == .cutOff(4)) }
            #expect(attempt.transportEnded(end, .init()) == (endsFirst ? .end(.exception(.receive)) : .response))
        }
    }

    @Test("an answer about an attempt that is over comes too late") func lateAnswer() {
        let attempt = AttemptScene.sending(Self.sink)
        #expect(attempt.head("HTTP/1.1 200 OK") == .ask)
        attempt.end()
        #expect(attempt.decided(retries: false) == .tooLate)
        #expect(attempt.transportEnded(.done) == .none)
    }

    @Test(
        "B15: the sink is not asked about a response without content, or one that is not a success",
        arguments: ["HTTP/1.1 204 No", "HTTP/1.1 205 No", "HTTP/1.1 503 No", "HTTP/1.1 301 No"])
    func notAsked(line: String) {
        let attempt = AttemptScene.sending(Self.sink)
        #expect(attempt.head(line) == .keep)
    }

    // MARK: - A dead connection

    @Test("B13: a second sending is vetoed; if there is a retry left, the request goes over a new connection")
    func veto() {
        for isAllowed in [true, false] {
            let attempt = AttemptScene.sending()
            #expect(attempt.maySend(over: .http1, nil) == .veto)
            #expect(attempt.transportEnded(.aborted) == .askToReconnect(.receive))
            #expect(attempt.transportEnded(.aborted) == .none)
            let next = attempt.reconnectAllowed(isAllowed)
            #expect(next == (isAllowed ? .sendAgain(.reconnect) : .end(.exception(.receive))))
            guard isAllowed else { continue }
            attempt.queueAgain()
            #expect(attempt.reconnects == 1 && attempt.requestSent == .some && attempt.state == .queued)
            #expect(attempt.startSending(.init(), at: 1) && attempt.exchange.sendings == 0)
        }
    }

    @Test("B13: it is an exception for what is not idempotent, or cannot be sent again", arguments: [true, false])
    func vetoOfUnsafe(isIdempotent: Bool) {
        var context = AttemptMachine.Context()
        context.isIdempotent = isIdempotent
        context.isReplayable = !isIdempotent
        for end in [TransportEnd.deadConnection, .lost(mayBeDead: true)] {
            let attempt = AttemptScene.sending()
            #expect(attempt.transportEnded(AttemptEnd(end, code: 0, at: 0), context) == .end(.exception(.receive)))
        }
    }

    @Test("B13: once a response has begun, a lost connection was not dead") func lostLater() {
        for end in [TransportEnd.lost(mayBeDead: true), .writeFailed(hasSentAll: true, mayBeDead: true)] {
            let before = AttemptScene.sending()
            let cause: NetworkExceptionCause = end == .lost(mayBeDead: true) ? .receive : .send
            #expect(before.transportEnded(end) == .askToReconnect(cause))
            let after = AttemptScene.sending()
            #expect(after.take("HTTP/1.1 200 OK"))
            #expect(after.transportEnded(end) == .end(.exception(.receive)))
        }
    }

    @Test("B2, W10: over HTTP/2, a failure to send after the response has begun is the end of the response")
    func sendFailsLate() {
        for version in [ConnectionProtocol.http1, .http2] {
            let attempt = AttemptScene()
            #expect(attempt.begin(at: 0, boottime: 0) && attempt.startSending(.init(), at: 0))
            #expect(attempt.maySend(over: version, nil) == .send)
            #expect(attempt.take(version == .http2 ? "HTTP/2 200" : "HTTP/1.1 200 OK"))
            let cause: NetworkExceptionCause = version == .http2 ? .receive : .send
            let end = TransportEnd.writeFailed(hasSentAll: false, mayBeDead: false)
            #expect(attempt.transportEnded(end) == .end(.exception(cause)))
        }
    }

    @Test("F97: what was decided at the head of one sending is not known to the next one") func nextSending() {
        let attempt = AttemptScene.sending(Self.sink)
        #expect(attempt.head("HTTP/1.1 200 OK") == .ask)
        #expect(attempt.decided(retries: false) == .go(.sink, end: nil))
        attempt.sinkStarted()
        #expect(attempt.transportEnded(.deadConnection) == .askToReconnect(.receive))
        #expect(attempt.reconnectAllowed(true) == .sendAgain(.reconnect))
        attempt.queueAgain()
        #expect(attempt.startSending(Self.sink, at: 0))
        #expect(attempt.exchange.destination == .memory && attempt.exchange.status == 0 && !attempt.isHeadWhole)
    }

    @Test("W1, W3: an unusable connection is avoided; that is not a sending, and is not reported") func avoided() {
        let attempt = AttemptScene()
        #expect(attempt.begin(at: 0, boottime: 0) && attempt.startSending(.init(), at: 0))
        #expect(attempt.maySend(over: .http1, .stale) == .avoid(.stale))
        #expect(attempt.transportEnded(.aborted) == .sendAgain(.notSent))
        attempt.queueAgain()
        #expect(attempt.requestSent == .nothing && attempt.reconnects == 0)
        #expect(!attempt.begin(at: 9, boottime: 9) && attempt.startedAt == 0)
        #expect(!attempt.startSending(.init(), at: 9))
        #expect(attempt.maySend(over: .http1, nil) == .send)
    }

    // MARK: - Servers that refuse HTTP/2

    @Test("RFC 9113, 7: the request goes over HTTP/1.1 once, and what was refused does not count as sent")
    func refusal() {
        var request = Exchange.Request()
        request.negotiatesHTTP2 = true
        let attempt = AttemptScene.sending(request)
        #expect(attempt.needsHTTP1())
        #expect(attempt.transportEnded(.failed(.protocol)) == .sendAgain(.refused))
        attempt.queueAgain()
        #expect(attempt.requestSent == .nothing && attempt.reconnects == 1)
        #expect(attempt.startSending(request, at: 0))
        #expect(attempt.maySend(over: .http2, nil) == .send && attempt.needsHTTP1())
        #expect(attempt.transportEnded(.failed(.protocol)) == .end(.exception(.protocol)))
    }

    @Test("it is too late for that once a response has begun, and the other way around") func lateRefusal() {
        var request = Exchange.Request()
        request.negotiatesHTTP2 = true
        let late = AttemptScene.sending(request)
        #expect(late.head("HTTP/2 200") == .keep && !late.needsHTTP1())
        #expect(late.transportEnded(.done) == .response)
        let early = AttemptScene.sending(request)
        #expect(early.needsHTTP1() && early.head("HTTP/2 200") == .keep)
        #expect(early.transportEnded(.done) == .response)
    }

    // MARK: - Redirects

    @Test("a redirect is followed as often as may be, with a body that can be sent again") func redirects() {
        let attempt = AttemptScene.sending()
        #expect(attempt.head("HTTP/1.1 302 Found") == .keep)
        #expect(attempt.transportEnded(.done) == .response)
        #expect(attempt.redirected(takesBody: true, isReplayable: false, maximum: 1) == .notReplayable)
        #expect(attempt.redirected(takesBody: false, isReplayable: false, maximum: 1) == .followed)
        attempt.queueAgain()
        #expect(attempt.requestSent == .some && attempt.redirects == 1)
        #expect(attempt.startSending(.init(), at: 0) && attempt.maySend(over: .http1, nil) == .send)
        #expect(attempt.head("HTTP/1.1 302 Found") == .keep)
        #expect(attempt.transportEnded(.done) == .response)
        #expect(attempt.redirected(takesBody: true, isReplayable: true, maximum: 1) == .tooMany)
    }

    // MARK: - Pauses

    @Test("M1: a pause holds the idle time, until the call is resumed") func pause() {
        let timeouts = AttemptTimeouts(idle: 10, resource: 100, connect: .max)
        let attempt = AttemptScene.sending()
        attempt.moved(at: 0)
        #expect(attempt.nextTimeout(timeouts, now: 4, boottime: 4) == (.timeoutIdle, 6))
        attempt.paused()
        #expect(attempt.isHeld && attempt.nextTimeout(timeouts, now: 50, boottime: 50) == (.timeoutResource, 50))
        #expect(attempt.resumed() && !attempt.isHeld)
        #expect(attempt.nextTimeout(timeouts, now: 50, boottime: 50) == (.timeoutIdle, -40))
    }

    @Test("a resume before the pause is lost, and one before the decision comes again after it") func resumeFirst() {
        let attempt = AttemptScene.sending(Self.sink)
        #expect(attempt.resumed())
        attempt.paused()
        #expect(attempt.isHeld)
        #expect(attempt.resumed() && attempt.head("HTTP/1.1 200 OK") == .ask)
        attempt.paused()  // The upload, which continues meanwhile.
        #expect(!attempt.resumed() && attempt.isHeld)
        #expect(attempt.decided(retries: false) == .go(.sink, end: nil) && attempt.isHeld)
        #expect(attempt.resumed() && !attempt.isHeld)
    }

    @Test("a resume after the end changes nothing") func resumeLate() {
        let attempt = AttemptScene.sending()
        #expect(attempt.transportEnded(.failed(.receive)) == .end(.exception(.receive)))
        #expect(!attempt.resumed() && attempt.state == .ended)
    }

    // MARK: - Times

    @Test("M5: of a timer and an end, what comes first counts", arguments: [true, false]) func expiry(timerFirst: Bool)
    {
        let attempt = AttemptScene.sending()
        #expect(attempt.head("HTTP/1.1 200 OK") == .keep)
        let ends: [TransportEnd] = [.timedOut(.timeoutIdle), .done]
        let (first, second) = (ends[timerFirst ? 0 : 1], ends[timerFirst ? 1 : 0])
        #expect(attempt.transportEnded(first) == (timerFirst ? .end(.exception(.timeoutIdle)) : .response))
        #expect(attempt.transportEnded(second) == .none)
    }

    @Test("W5: connecting has its time only until the request is sent") func connect() {
        let timeouts = AttemptTimeouts(idle: 50, resource: 50, connect: 50)
        let attempt = AttemptScene()
        #expect(attempt.begin(at: 0, boottime: 0) && attempt.startSending(.init(), at: 0))
        #expect(attempt.nextTimeout(timeouts, now: 1, boottime: 1) == (.connect, 49))
        #expect(attempt.maySend(over: .http1, nil) == .send)
        #expect(attempt.nextTimeout(timeouts, now: 1, boottime: 1) == (.timeoutResource, 49))
    }

    @Test("an early answer that is whole is the response, even if the upload then stands still") func early() {
        var request = Exchange.Request()
        request.hasBody = true
        for (end, length, expected) in [
            (TransportEnd.timedOut(.timeoutIdle), 3, AttemptMachine.EndAction.response),
            (.failed(.receive), 3, .response), (.failed(.receive), 4, .end(.exception(.receive))),
            (.timedOut(.timeoutResource), 3, .end(.exception(.timeoutResource))),
        ] {
            let attempt = AttemptScene.sending(request)
            #expect(attempt.head("HTTP/1.1 413 Large", "Content-Length: \(length)", hasSentAll: false) == .keep)
            attempt.bodyTaken(3)
            #expect(attempt.transportEnded(end) == expected)
        }
    }

    // MARK: - What is too large, or cannot be read

    @Test("B15: a success that is too long fails, and an error is truncated, however the transport ends")
    func limits() {
        var limits = ResponseLimits()
        (limits.body, limits.errorBody, limits.sink) = (4, 4, 4)
        let success = AttemptScene.sending(limits: limits)
        #expect(success.head("HTTP/1.1 200 OK") == .keep)
        #expect(success.body(4, held: 0) == .keep && success.body(1, held: 4) == .stop)
        #expect(success.transportEnded(.aborted) == .end(.local(.responseTooLarge)) && success.exchange.limit == .body)
        let error = AttemptScene.sending(limits: limits)
        #expect(error.head("HTTP/1.1 404 No") == .keep)
        #expect(error.body(6, held: 0) == .cutOff(4))
        #expect(error.transportEnded(.aborted) == .response && error.exchange.isBodyCutOff)
    }

    @Test("the head's limits hold for trailers too") func headLimits() {
        var limits = ResponseLimits()
        limits.headerLines = 2
        let attempt = AttemptScene.sending(limits: limits)
        #expect(attempt.head("HTTP/1.1 200 OK", "A: 1") == .keep)
        #expect(attempt.takeLine("B: 2") == .skip && attempt.takeLine("C: 3") == .stop)
        #expect(attempt.transportEnded(.aborted) == .end(.local(.responseTooLarge)))
        #expect(attempt.exchange.limit == .headerLines)
    }

    @Test(
        "W1, W4: an invalid status line, or another version in it, is the peer's fault",
        arguments: ["HTTP/2 200", "HTTP/1.1 2000", "HTTP/1.1 99", "HTTP/1.1 101 Switching", "ICY 200 OK"])
    func badStatus(line: String) {
        let attempt = AttemptScene.sending()
        #expect(!attempt.take(line))
        #expect(attempt.transportEnded(.aborted) == .end(.exception(.protocol)))
    }

    @Test("what failed on this machine counts before what the peer did, in both orders", arguments: [true, false])
    func localFirst(localComesFirst: Bool) {
        let attempt = AttemptScene.sending()
        if localComesFirst { attempt.failed(.sink) }
        attempt.isMalformed()
        if !localComesFirst { attempt.failed(.sink) }
        attempt.failed(.outOfMemory)
        #expect(attempt.transportEnded(.aborted) == .end(.local(.sink)))
    }
}
