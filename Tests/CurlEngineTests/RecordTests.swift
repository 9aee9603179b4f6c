import RetryCore
import Testing

@testable import CurlEngine

/// B10: each attempt that has begun is in the record, however its call ends, and so is the last response.
@Suite struct RecordTests {
    /// How a call may be ended while an attempt is under way.
    enum End: CaseIterable {
        case cancel
        case deadline

        var ending: CallMachine.Ending { self == .cancel ? .cancelled : .deadline }
    }

    private func perform(_ scene: Scene, end: End, after seconds: Double, method: String = "GET") throws -> CallResult {
        if end == .cancel {
            scene.transport.at(seconds: seconds) { scene.call.map { scene.engine.cancel($0) } }
        }
        return try scene.perform(method: method, body: method == "POST" ? "x" : nil) {
            if end == .deadline { $0.deadline = Int64(seconds * 1_000) }
        }
    }

    @Test("F124, B10: a POST that a 303 answered is in the record, with its redirect", arguments: End.allCases)
    func redirected(end: End) throws {
        let scene = try Scene(.status(303, "Location: http://127.0.0.2/"), .silence)
        let result = try perform(scene, end: end, after: 5, method: "POST")
        #expect(result.ending == end.ending)
        #expect(result.records.map(\.redirects) == [1] && result.records.map(\.requestSent) == [.some])
        #expect(result.redirects.map(\.status) == [303])
    }

    @Test("F124, B10: also if the request to the next host still waits for its turn") func redirectedAndQueued() throws
    {
        let scene = try Scene(
            .status(303, "Location: http://127.0.0.2/", after: 1), .silence, maxTransfers: 1)
        // It takes the only place, which the redirect gives up for a moment.
        let other = try scene.makeCall()
        scene.transport.at(seconds: 0.5) { #expect(scene.engine.submit(other) == .begun) }
        scene.transport.at(seconds: 5) {
            #expect(scene.transport.begun.count == 2)
            scene.call.map { scene.engine.cancel($0) }
            scene.engine.cancel(other)
        }
        let result = try scene.perform(method: "POST", body: "x")
        #expect(result.ending == .cancelled && scene.transport.sent.map { $0.hasPrefix("POST") } == [true, false])
        #expect(result.records.map(\.redirects) == [1] && result.records.map(\.requestSent) == [.some])
    }

    @Test("F125, B10: given 503, then a second attempt that the end of the call breaks off", arguments: End.allCases)
    func brokenOff(end: End) throws {
        let scene = try Scene(.status(503, "X-Id: 7", body: "busy"), .silence)
        let result = try perform(scene, end: end, after: 5)
        #expect(result.ending == end.ending)
        #expect(result.records.map(\.status) == [503, 0] && result.records.map(\.requestSent) == [.some, .some])
        #expect(result.records.map { $0.decision?.reason } == [.serverError, nil])
        #expect(result.status == 503 && result.bodyText == "busy" && result.headerList.count == 1)
    }

    @Test("B10: a call that is canceled in a wait keeps the response before it") func cancelledInWait() throws {
        let result = try perform(try Scene(.status(503, body: "busy")), end: .cancel, after: 1)
        #expect(result.ending == .cancelled && result.records.map(\.status) == [503])
        #expect(result.status == 503 && result.bodyText == "busy")
    }

    @Test("B10: the last whole response is kept, not one that broke off after it") func lastWhole() throws {
        let brokenOff = Script(events: [
            (0, .head("HTTP/1.1 500 Broken\r\n")), (0, .head("X-Id: 8\r\n")), (0, .head("\r\n")), (0, .body("bro")),
            (0, .end(.failed(.receive))),
        ])
        let scene = try Scene(.status(503, "X-Id: 7", body: "busy"), brokenOff, .silence)
        let result = try perform(scene, end: .deadline, after: 30)
        #expect(result.ending == .deadline && result.records.map(\.status) == [503, 0, 0])
        #expect(result.status == 503 && result.bodyText == "busy")
        #expect(result.headerList.firstValue(of: "X-Id").map { String(cString: $0) } == "7")
    }

    @Test("B10: a call that ends in an exception has no response to show") func exception() throws {
        let result = try Scene(.status(503, body: "busy"), .exception(.connect)).perform()
        #expect(result.ending == .exception(.connect) && result.status == 0 && result.bodyText.isEmpty)
    }

    @Test("F125, B10: given 503, then a hook that fails: nothing was sent of the second attempt") func failedHook()
        throws
    {
        let scene = try Scene(.status(503, body: "busy"))
        let result = try scene.perform {
            $0.beforeAttempt = { if $0.attemptNumber == 2 { $0.hasFailed = true } }
        }
        #expect(result.ending == .callbackFailed && scene.transport.begun.count == 1)
        #expect(result.records.map(\.status) == [503, 0] && result.records.map(\.requestSent) == [.some, .nothing])
        #expect(result.status == 503 && result.bodyText == "busy")
    }

    @Test("F125, B10: given 503, then no token: nothing was sent of the second attempt") func noToken() throws {
        let tokens = Tokens(.token("a"), .failure)
        let source = try tokens.makeSource()
        var busy = Script.status(503, body: "busy")
        busy.events.insert((0, .run { source.clear() }), at: 0)
        let result = try Scene(busy).perform(tokens: source)
        #expect(result.ending == .token)
        #expect(result.records.map(\.status) == [503, 0] && result.records.map(\.requestSent) == [.some, .nothing])
        #expect(result.records.map(\.startedAt) == [0, 2_000_000_000])
        #expect(result.status == 503 && result.bodyText == "busy")
    }
}
