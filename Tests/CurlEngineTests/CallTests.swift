import RetryCore
import Testing

@testable import CurlEngine

/// Whole calls through the engine, in virtual time and without jitter.
@Suite struct CallTests {
    @Test("B10: a response is the end of a call, with its headers and body") func success() throws {
        let scene = try Scene(.status(200, "Content-Type: text/plain", body: "hello"))
        let result = try scene.perform()
        #expect(result.ending == .response)
        #expect(result.status == 200)
        #expect(result.bodyText == "hello")
        #expect(result.headerList.count == 1)
        #expect(result.records.count == 1)
    }

    @Test("A wake ends no call that is performed: it returns with its result") func wake() throws {
        let scene = try Scene(.status(503), .status(200, body: "hello"))
        let call = try scene.makeCall()
        scene.engine.wake(call)
        #expect(scene.engine.perform(call).result?.bodyText == "hello")
    }

    @Test("F1, F2, F7: Retry-After is the wait") func retryAfter() throws {
        let rateLimited = try Scene(.status(429, "retry-after: 7"), .status(200)).perform()
        #expect(rateLimited.waits == [7])
        let accepted = try Scene(.status(202, "retry-after: 7"), .status(200)).perform()
        #expect(accepted.waits == [7] && accepted.records.count == 2)
        let atOnce = try Scene(.status(503, "Retry-After: 0"), .status(200)).perform()
        #expect(atOnce.waits == [0])
    }

    @Test("M5: a delay begins when its attempt has ended, though the loop read the clock long before")
    func lateEnd() throws {
        let late = Scene.Later()
        let scene = try Scene(
            Script(events: [
                (0, .head("HTTP/1.1 429 Status\r\n")), (0, .head("Retry-After: 7\r\n")), (0, .head("\r\n")),
                (0, .run { late.action() }), (0, .end(.done)),
            ]), .status(200))
        late.action = { _ = scene.clock.advance(bySeconds: 0.5) }
        #expect(try scene.perform().status == 200)
        #expect(scene.transport.begun.map(\.at) == [0, 7.5])
    }

    @Test("B7: a 1xx response does not lend its headers to the final one") func informational() throws {
        let script = Script(events: [
            (0, .head("HTTP/1.1 103 Early Hints\r\n")), (0, .head("Retry-After: 9\r\n")), (0, .head("\r\n")),
            (0, .head("HTTP/1.1 503 Busy\r\n")), (0, .head("\r\n")), (0, .end(.done)),
        ])
        #expect(try Scene(script, .status(200)).perform().waits == [2])
    }

    @Test("F14, B10: when the attempts are used up, the last response and each attempt's record are there")
    func exhausted() throws {
        let scene = try Scene(
            .status(503, body: "one"), .status(500), .exception(.receive), .status(503), .status(502, body: "last"))
        let result = try scene.perform()
        #expect(result.ending == .response)
        #expect(result.status == 502)
        #expect(result.bodyText == "last")
        #expect(result.records.map(\.status) == [503, 500, 0, 503, 502])
        #expect(result.records.map(\.exceptionNumber) == [0, 0, 1, 0, 0])
        #expect(
            result.records.map { $0.decision?.reason } == [
                .serverError, .serverError, .networkException, .serverError, .attemptsExhausted,
            ])
        #expect(result.waits == [2, 4, 2, 16])
    }

    @Test("B4, M4: exceptions have their own progression, and end the call with their cause") func exceptions() throws {
        let scene = try Scene(.exception(.connect))
        let result = try scene.perform()
        #expect(result.ending == .exception(.connect))
        #expect(result.status == 0)
        #expect(result.waits == [2, 4])
    }

    @Test("B13: after an exception the next attempt uses a new connection, after a response not") func fresh() throws {
        let scene = try Scene(.exception(.receive), .status(503), .status(200))
        _ = try scene.perform()
        #expect(scene.transport.begun.map(\.fresh) == [false, true, false])
    }

    @Test("B13: a vetoed sending of an idempotent request is a reconnect: at once, once, and no attempt")
    func reconnect()
        throws
    {
        let veto = Script(events: [(0.5, .end(.deadConnection))])
        let scene = try Scene(veto, .status(200))
        let result = try scene.perform()
        #expect(result.status == 200)
        #expect(result.records.count == 1)
        #expect(result.records[0].reconnects == 1)
        #expect(result.records[0].startedAt == 0)
        #expect(scene.transport.begun.map(\.at) == [0, 0.5])
        #expect(scene.transport.begun.map(\.fresh) == [false, true])

        #expect(result.reconnects.map(\.attemptNumber) == [1] && result.reconnects.map(\.at) == [500_000_000])
        #expect(result.reconnects.map(\.cause) == [.receive])

        let twice = try Scene(veto, veto, veto, .status(200)).perform()
        #expect(twice.records.map(\.cause) == [.receive, .receive, .none])
        #expect(twice.records.map(\.reconnects) == [1, 0, 0] && twice.reconnects.count == 1)
        #expect(twice.waits == [2, 4])
    }

    @Test("F110, B5, B13: given 500 four times and then dead connections, six requests are sent") func sixRequests()
        throws
    {
        let veto = Script(events: [(0, .end(.deadConnection))])
        let error = Script.status(500)
        let scene = try Scene(error, error, error, error, veto)
        let result = try scene.perform()
        #expect(result.ending == .exception(.receive) && scene.transport.begun.count == 6)
        #expect(result.records.map(\.status) == [500, 500, 500, 500, 0] && result.reconnects.count == 1)
        #expect(result.records.last?.decision?.reason == .retriesExhausted)
    }

    @Test("B13: with the switch off, a dead connection is an exception") func noReconnect() throws {
        let veto = Script(events: [(0, .end(.deadConnection))])
        let result = try Scene(veto, .status(200)).perform { $0.mayReconnect = false }
        #expect(result.records.map(\.cause) == [.receive, .none] && result.reconnects.isEmpty)
        #expect(result.waits == [2])
    }

    @Test("B13, C1: a reconnect is charged to the budget, and without one left there is none") func reconnectBudget()
        throws
    {
        let veto = Script(events: [(0, .end(.deadConnection))])
        let scene = try Scene([veto, veto, .status(200)], budget: SharedRetryBudget(RetryBudget(capacity: 2)))
        let first = try scene.perform()
        // One was taken, so half of the budget is left, and the retry of the second exception would take it.
        #expect(first.records.map(\.reconnects) == [1])
        #expect(first.records.map { $0.decision?.reason } == [.retryBudgetSpent])
    }

    @Test("B13, W3: a sending of which nothing left is the same request, and is not counted") func uncounted() throws {
        let unsent = Script(events: [(1, .avoided)], sent: false)
        let result = try Scene(unsent, unsent, .status(200)).perform { $0.mayReconnect = false }
        #expect(result.status == 200 && result.records.map(\.reconnects) == [0] && result.reconnects.isEmpty)
        #expect(result.records.map(\.startedAt) == [0])
    }

    @Test("B13: a vetoed sending of a POST is an exception") func vetoedPost() throws {
        let veto = Script(events: [(0, .end(.deadConnection))])
        let result = try Scene(veto, .status(200)).perform(method: "POST", body: "x")
        #expect(result.records.map(\.cause) == [.receive, .none])
        #expect(result.waits == [2])
    }

    @Test("W1, W3: a connection on which nothing may be sent is followed by a new one at once, and not counted")
    func notSent() throws {
        var unusable = Script(events: [(0.5, .avoided)])
        unusable.sent = false
        let scene = try Scene(unusable, .status(503), unusable, .status(200))
        let result = try scene.perform(method: "POST", body: "x")
        #expect(result.records.map(\.status) == [503, 200])
        #expect(result.records.map(\.reconnects) == [0, 0])
        #expect(result.records[0].startedAt == 0)
        #expect(scene.transport.begun.map(\.fresh) == [false, true, false, true])
        #expect(scene.transport.begun.prefix(2).map(\.at) == [0, 0.5])
        #expect(scene.engine.currentStats.attempts == 2)
    }

    @Test("F9, F35, B11: a wait beyond the deadline is not begun") func deadline() throws {
        let atOnce = try Scene(.status(503, "Retry-After: 3600")).perform { $0.deadline = 60_000 }
        #expect(atOnce.ending == .response && atOnce.status == 503 && atOnce.records.count == 1)
        #expect(atOnce.records[0].decision?.reason == .deadline)
        let later = try Scene(.status(503, after: 1)).perform { $0.deadline = 5_000 }
        #expect(later.waits == [2])
        #expect(later.lastEnd == 4)
    }

    @Test("F34, B11: an attempt gets what is left of the deadline, never no limit") func deadlineInAttempt() throws {
        let scene = try Scene(.status(503, "Retry-After: 0", after: 0.095), .silence)
        let result = try scene.perform { $0.deadline = 100 }
        #expect(result.ending == .deadline)
        #expect(scene.clock.monotonic.seconds == 0.1)
        #expect(scene.transport.begun.count == 2)
    }

    @Test("B9, B14: a failing strategy ends the call, with the last response") func failingStrategy() throws {
        let result = try Scene(.status(503, body: "x")).perform(strategy: Failing())
        #expect(result.ending == .callbackFailed)
        #expect(result.status == 503 && result.bodyText == "x")
        #expect(result.reasonText == "it fails")
    }

    @Test("B15: an error's body is cut off at its limit, and a success's ends the call") func limits() throws {
        let error = try Scene(.status(404, body: "0123456789")).perform { $0.limits.errorBody = 4 }
        #expect(error.ending == .response && error.bodyText == "0123" && error.isBodyCutOff)
        let exact = try Scene(.status(200, body: "0123")).perform { $0.limits.body = 4 }
        #expect(exact.bodyText == "0123" && !exact.isBodyCutOff)
        let success = try Scene(.status(200, body: "0123456789")).perform { $0.limits.body = 4 }
        #expect(success.ending == .local(.responseTooLarge))
        #expect(success.reasonText == "body_limit: the body is longer")
        #expect(success.records.count == 1)
    }

    @Test("response headers are bounded in number and in bytes") func headerLimits() throws {
        let many = try Scene(.status(200, "A: 1", "B: 2", "C: 3")).perform { $0.limits.headerLines = 2 }
        #expect(many.ending == .local(.responseTooLarge))
        #expect(many.reasonText == "max_response_headers: there are more header lines")
        let large = try Scene(.status(200, "A: 1234567890")).perform { $0.limits.headerBytes = 20 }
        #expect(large.ending == .local(.responseTooLarge))
        #expect(large.reasonText == "max_response_header_bytes: the header lines are longer")
    }

    @Test("1xx responses without end exceed the limit of bytes, and are not retried") func hints() throws {
        let hint = "HTTP/1.1 103 Early Hints\r\n"  // 26 bytes
        for (limit, isEnough) in [(26 * 3 + 20, false), (26 * 3 + 21, true)] {
            var script = Script.status(200)  // 21 bytes
            for _ in 0..<3 { script.events = [(0, .head(hint)), (0, .head("\r\n"))] + script.events }
            let result = try Scene(script).perform { $0.limits.headerBytes = limit }
            #expect(result.ending == (isEnough ? .response : .local(.responseTooLarge)))
            #expect(result.records.count == 1)
        }
    }

    @Test("a header that looks like a status line is a header, and so is one that is folded") func oddHeaders() throws {
        let odd = try Scene(.status(200, "HTTP/9: 503 y", "A: b", " c", "Empty:", "\td", body: "x")).perform()
        #expect(odd.status == 200 && odd.records.count == 1)
        var lines: [String] = []
        odd.headerList.forEach { lines.append(String(cString: $0) + "=" + String(cString: $1)) }
        #expect(lines == ["HTTP/9=503 y", "A=b c", "Empty=d"])
    }

    @Test("trailers are not headers, and have their limits") func trailers() throws {
        let body: [(Double, Script.Event)] = [
            (0, .head("HTTP/1.1 200 OK\r\n")), (0, .head("\r\n")), (0, .body("x")), (0, .head("HTTP/1.1 503: t\r\n")),
        ]
        let result = try Scene(Script(events: body + [(0, .end(.done))])).perform()
        #expect(result.status == 200 && result.headerList.count == 0)
        let endless = body + (0..<2_000).map { _ in (0, .head("T: x\r\n")) }
        #expect(try Scene(Script(events: endless)).perform().ending == .local(.responseTooLarge))
    }

    @Test("events tell each step") func events() throws {
        var seen: [String] = []
        let scene = try Scene(.status(503), .exception(.send), .status(200)) { event in
            seen.append("\(event.kind) \(event.attemptNumber)")
        }
        _ = try scene.perform()
        #expect(
            seen == [
                "attemptBegan 1", "attemptEnded 1", "retryScheduled 1", "attemptBegan 2", "attemptEnded 2",
                "retryScheduled 2", "attemptBegan 3", "attemptEnded 3", "callEnded 3",
            ])
    }
}

/// A custom strategy whose callback fails.
private final class Failing: RetryStrategy {
    var callsBack: Bool { false }
    var retryBound: Int32? { nil }
    func readRetryAfter(_ headers: HeaderList, clock: any Clock) -> RetryAfter { .absent }

    func shouldRetry(
        _ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32
    ) throws(StrategyFailure) -> RetryAnswer {
        throw StrategyFailure("it fails")
    }

    func retryAfter(_ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32, unitRandom: Double) -> Wait {
        Wait(delay: 0, source: .custom)
    }
}
