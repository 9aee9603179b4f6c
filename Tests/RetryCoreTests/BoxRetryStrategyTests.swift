import RetryCore
import Testing

/// What the strategy has beyond the documented flow, which `VectorTests` covers.
@Suite struct BoxRetryStrategyTests {
    @Test("B11: a Retry-After above its cap is clamped to it") func clampedRetryAfter() throws {
        let strategy = BoxRetryStrategy(checked: withoutJitter { $0.retryAfterCap = 10 })
        let call = try play([.status(429, ("Retry-After", "60")), .status(200)], strategy: strategy)
        #expect(call.waits == [10])
        #expect(call.decisions[0].delaySource == .retryAfter)
    }

    @Test("B11: or it ends the call, if the caller said so") func stoppedRetryAfter() throws {
        let strategy = BoxRetryStrategy(
            checked: withoutJitter {
                $0.retryAfterCap = 10
                $0.retryAfterOverCap = .stop
            })
        #expect(try play([.status(429, ("Retry-After", "10")), .status(200)], strategy: strategy).waits == [10])
        let call = try play([.status(429, ("Retry-After", "10.5")), .status(200)], strategy: strategy)
        #expect(call.requests == 1)
        #expect(call.last?.action == .stop)
        #expect(call.last?.reason == .retryAfterOverCap)
        guard case .usable(10.5, _) = call.last?.retryAfter else {
            Issue.record("the decision does not have the value")
            return
        }
    }

    @Test("B11: a cap on Retry-After leaves the backoff alone, and the other way round") func separateCaps() throws {
        let retryAfterOnly = BoxRetryStrategy(checked: withoutJitter { $0.retryAfterCap = 1 })
        #expect(try play([.status(503), .status(200)], strategy: retryAfterOnly).waits == [2])
        let backoffOnly = BoxRetryStrategy(checked: withoutJitter { $0.backoffCap = 1 })
        #expect(
            try play([.status(503, ("Retry-After", "60")), .status(503), .status(200)], strategy: backoffOnly).waits
                == [60, 1])
    }

    @Test("B11: further headers carry a delay in their own unit, and come first") func delayHeaders() throws {
        var headers = DelayHeaders.none
        #expect(add("Retry-After-MS", 0.001, to: &headers))
        #expect(add("x-minutes", 60, to: &headers))
        let strategy = BoxRetryStrategy(checked: withoutJitter(), delayHeaders: headers)
        let call = try play(
            [
                .status(429, ("Retry-After", "9"), ("retry-after-ms", "1500")),
                .status(202, ("X-Minutes", "2")),
                .status(503, ("Retry-After", "9"), ("retry-after-ms", "soon")),
                .status(503, ("retry-after-ms", "soon")),
                .status(200),
            ], strategy: strategy)
        #expect(call.waits == [1.5, 120, 9, 16])
    }

    @Test("B11: a header says whether to retry, for a status of 400 or above") func verdictHeader() throws {
        let strategy = BoxRetryStrategy(checked: withoutJitter(), verdictHeader: VerdictHeader(name: "X-Should-Retry"))
        func reason(_ answer: Answer) throws -> Reason? {
            try play([answer, .status(200)], strategy: strategy).decisions.first?.reason
        }
        #expect(try reason(.status(409, ("x-should-retry", "true"))) == .retryRequested)
        #expect(try reason(.status(503, ("x-should-retry", "False"))) == .retryRefused)
        #expect(try reason(.status(429, ("x-should-retry", "maybe"), ("x-should-retry", "false"))) == .retryRefused)
        #expect(try reason(.status(503, ("x-should-retry", ""))) == .serverError)
        #expect(try reason(.status(302, ("x-should-retry", "true"))) == .success)
        #expect(try reason(.status(200, ("x-should-retry", "true"))) == .success)
        #expect(try reason(.status(202, ("x-should-retry", "false"), ("Retry-After", "1"))) == .accepted)
    }

    @Test("B11: invalid header names and unknown units are refused") func refusedDelayHeaders() {
        var headers = DelayHeaders.none
        for name in ["", "a b", "a:", "a\r", "é", String(repeating: "a", count: 257)] {
            #expect(!add(name, 1, to: &headers))
            #expect(VerdictHeader(name: name) == nil)
        }
        for unit in [0, -1, .nan, .infinity, 86_401] { #expect(!add("a", unit, to: &headers)) }
        for _ in 0..<16 { #expect(add("a", 1, to: &headers)) }
        #expect(!add("a", 1, to: &headers))
    }

    @Test("B12: by default every method is retried, as the source does") func unsafeByDefault() throws {
        #expect(try play(answers("POST", .status(500), .status(200))).requests == 2)
    }

    @Test(
        "B12: off, a POST or PATCH is not sent twice if the server may have acted",
        arguments: ["POST", "PATCH", "post"])
    func unsafeMethods(method: String) throws {
        for answer in [
            Answer.status(500), .status(503), .status(202, ("Retry-After", "1")), .exception(.receive),
        ] {
            let call = try play(answers(method, answer, .status(200)), strategy: careful)
            #expect(call.requests == 1)
            #expect(call.last?.reason == .unsafeRequest)
        }
    }

    @Test("B12: off, it is retried after what proves that the server did not act") func provenOutcomes() throws {
        var unsent = Answer.exception(.connect)
        unsent.adjust = { $0.requestSent = .nothing }
        var unauthorized = Answer.status(401)
        unauthorized.adjust = { $0.authAvailable = true }
        for answer in [
            Answer.status(429), .status(503, ("Retry-After", "soon")), unsent, unauthorized,
        ] {
            #expect(try play(answers("POST", answer, .status(200)), strategy: careful).requests == 2)
        }
    }

    @Test("B12: off, other methods are retried; a mark overrides the method") func marks() throws {
        #expect(try play(answers("GET", .status(500), .status(200)), strategy: careful).requests == 2)
        #expect(try play(answers("PUT", .status(500), .status(200)), strategy: careful).requests == 2)
        #expect(try play(answers("POSTAL", .status(500), .status(200)), strategy: careful).requests == 2)
        #expect(try play(answers("POST", .status(500), .status(200), safety: .safe), strategy: careful).requests == 2)
        #expect(try play(answers("GET", .status(500), .status(200), safety: .unsafe), strategy: careful).requests == 1)
    }

    private var careful: BoxRetryStrategy {
        BoxRetryStrategy(checked: withoutJitter { $0.retryUnsafeMethods = false })
    }
}

private func answers(
    _ method: String, _ answers: Answer..., safety: RequestSafety = .byMethod
) -> [Answer] {
    let name = Lines([(method, "")])
    return answers.map { answer in
        var answer = answer
        let adjust = answer.adjust
        answer.adjust = { outcome in
            adjust(&outcome)
            outcome.isRequestUnsafe = safety.isUnsafe(method: name.list.pairs?[0])
        }
        return answer
    }
}

/// Outside of `#expect`, which cannot change its operands.
private func add(_ name: String, _ unit: Double, to headers: inout DelayHeaders) -> Bool {
    headers.append(name: name, unit: unit)
}
