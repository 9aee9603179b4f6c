import RetryCore
import Testing

/// The loop, and with it the cases F1–F14 of the field, in virtual time and without jitter.
@Suite struct RetryLoopTests {
    @Test("F1, B7: a Retry-After in lower case is the wait") func lowerCaseRetryAfter() throws {
        let call = try play([.status(429, ("retry-after", "7")), .status(200)])
        #expect(call.waits == [7])
        #expect(call.last?.action == .succeed)
    }

    @Test("F2, B3: 202 with Retry-After is asked again") func acceptedWithRetryAfter() throws {
        let call = try play([.status(202, ("retry-after", "7")), .status(200)])
        #expect(call.requests == 2)
        #expect(call.waits == [7])
        #expect(call.decisions[0].reason == .accepted)
    }

    @Test("F3, B7: a date in the past means at once") func pastDate() throws {
        let clock = ManualClock()
        #expect(clock.setWall(1_790_000_000))
        let call = try play(
            [.status(503, ("Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT")), .status(200)], clock: clock)
        #expect(call.waits == [0])
        #expect(call.decisions[0].delaySource == .retryAfterDate)
        #expect(call.last?.action == .succeed)
    }

    @Test("F4, B7: of several lines and of a list the largest counts") func severalValues() throws {
        let lines = try play([.status(429, ("Retry-After", "5"), ("Retry-After", "5")), .status(200)])
        #expect(lines.waits == [5])
        let list = try play([.status(429, ("Retry-After", "2814, 2")), .status(200)])
        #expect(list.waits == [2814])
        let mixed = try play([.status(429, ("Retry-After", "soon"), ("retry-AFTER", "3")), .status(200)])
        #expect(mixed.waits == [3])
    }

    @Test(
        "F5, B7: monstrous values are not usable, or saturate", arguments: ["nan", "inf", "1e400", "99999999999999999"])
    func monstrousValues(value: String) throws {
        let call = try play([.status(429, ("Retry-After", value)), .status(200)])
        #expect(call.waits == [value.hasPrefix("n") || value.hasPrefix("i") ? 2 : Delay.maximum])
    }

    @Test("F5, B7: 5,000 digits saturate, as an exponent too") func manyDigits() throws {
        let digits = String(repeating: "9", count: 5_000)
        #expect(try play([.status(429, ("Retry-After", digits)), .status(200)]).waits == [Delay.maximum])
        #expect(try play([.status(429, ("Retry-After", "1e\(digits)")), .status(200)]).waits == [Delay.maximum])
        #expect(try play([.status(429, ("Retry-After", "1e-\(digits)")), .status(200)]).waits == [0])
    }

    @Test("F6, B7: 202 with an empty Retry-After still has the header, and takes the backoff") func emptyRetryAfter()
        throws
    {
        let call = try play([.status(202, ("Retry-After", "")), .status(200)])
        #expect(call.requests == 2)
        #expect(call.waits == [2])
        #expect(call.decisions[0].delaySource == .backoff)
        guard case .notUsable = call.decisions[0].retryAfter else {
            Issue.record("the decision does not say that the header was not usable")
            return
        }
    }

    @Test("F7, B7: Retry-After 0 means at once, and the attempt counts") func zeroRetryAfter() throws {
        let call = try play([.status(503, ("Retry-After", "0"))])
        #expect(call.waits == [0, 0, 0, 0])
        #expect(call.last?.reason == .attemptsExhausted)
    }

    @Test(
        "F8, B7: fractions count to the millisecond", arguments: [("0.503", 0.503), ("292.052427053", 292.052427053)])
    func fractions(value: String, seconds: Double) throws {
        #expect(try play([.status(503, ("Retry-After", value)), .status(200)]).waits == [seconds])
    }

    @Test("F9, B11: a wait beyond the deadline is not begun") func waitBeyondDeadline() throws {
        let call = try play([.status(503, ("Retry-After", "3600"))], limits: deadline(seconds: 60))
        #expect(call.requests == 1)
        #expect(call.last?.action == .stop)
        #expect(call.last?.reason == .deadline)
        #expect(call.last?.delay == 0)
        guard case .usable(3600, .retryAfter) = call.last?.retryAfter else {
            Issue.record("the decision does not have the value")
            return
        }
    }

    @Test("F10, B3: Retry-After does not make a 409 retryable") func conflict() throws {
        let call = try play([.status(409, ("Retry-After", "5"))])
        #expect(call.requests == 1)
        #expect(call.last?.reason == .notRetryable)
    }

    @Test("F11, B7: a date counts from the response's own Date") func datesCountFromTheServersClock() throws {
        let clock = ManualClock()
        #expect(clock.setWall(1_790_000_000 + 3_600))
        let call = try play(
            [
                .status(
                    503, ("Retry-After", "Mon, 21 Sep 2026 14:13:50 GMT"), ("date", "Mon, 21 Sep 2026 14:13:20 GMT")),
                .status(200),
            ], clock: clock)
        #expect(call.waits == [30])
    }

    @Test("B7: without a valid Date, a date counts from the wall clock") func datesCountFromTheWallClock() throws {
        let clock = ManualClock()
        #expect(clock.setWall(1_790_000_000.25))
        let call = try play(
            [.status(503, ("Date", "yesterday"), ("Retry-After", "Mon, 21 Sep 2026 14:13:50 GMT")), .status(200)],
            clock: clock)
        #expect(call.waits == [29.75])
    }

    @Test("F13, B14: a strategy that always retries ends at the ceiling") func ceiling() throws {
        let call = try play([.status(200)], strategy: AlwaysRetry())
        #expect(call.requests == 1_000)
        #expect(call.last?.action == .succeed)
        #expect(call.last?.reason == .attemptCeiling)
        #expect(try play([.exception()], strategy: AlwaysRetry()).requests == 1_000)
    }

    @Test("F117, B14: max_attempts 2000 means 2000: Box's strategy has no other ceiling") func noCeiling() throws {
        let strategy = BoxRetryStrategy(checked: withoutJitter { $0.maxAttempts = 2_000 })
        let call = try play([.status(503)], strategy: strategy)
        #expect(call.requests == 2_000 && call.last?.reason == .attemptsExhausted)
        var limits = RetryLoop.Limits()
        limits.maxTotalAttempts = 7
        let limited = try play([.status(503)], strategy: strategy, limits: limits)
        #expect(limited.requests == 7 && limited.last?.reason == .attemptCeiling)
    }

    /// After so many attempts that ended in 503, the connection of the next is dead.
    private func loop(after attempts: Int, _ options: BoxRetryOptions, ceiling: Int32? = nil) throws -> RetryLoop {
        var limits = RetryLoop.Limits()
        limits.maxTotalAttempts = ceiling
        var loop = RetryLoop(
            strategy: BoxRetryStrategy(checked: options), limits: limits, random: SplitMix64(state: 1))
        for _ in 0..<attempts { #expect(try loop.next(Outcome(status: 503), clock: ManualClock()).isRetry) }
        return loop
    }

    @Test("B13: a reconnect comes once in a call, and takes one of the retries that B5 leaves") func reconnect() throws
    {
        var loop = try loop(after: 4, withoutJitter())
        #expect(loop.mayReconnect)
        loop.countReconnect()
        #expect(!loop.mayReconnect)
        // Six requests were sent: with five retries there is no other.
        let last = try loop.next(Outcome(exception: .receive), clock: ManualClock())
        #expect(last.reason == .retriesExhausted && last.attemptNumber == 5 && last.exceptionNumber == 1)
    }

    @Test("B13: a reconnect is not an exception, and does not change the backoff") func reconnectAndBackoff() throws {
        var loop = try loop(after: 1, withoutJitter())
        loop.countReconnect()
        #expect(try loop.next(Outcome(exception: .receive), clock: ManualClock()).delay == 2)
        #expect(try loop.next(Outcome(status: 503), clock: ManualClock()).delay == 8)
    }

    @Test("B13: where no retry is left there is no reconnect", arguments: [0, 1, 2])
    func noReconnect(maxAttempts: Int32) throws {
        let options = withoutJitter { $0.maxAttempts = maxAttempts }
        #expect(try loop(after: 0, options).mayReconnect == (maxAttempts > 0))
        #expect(try loop(after: 1, withoutJitter { $0.maxAttempts = 2 }).mayReconnect)
    }

    @Test("B13, B14: a reconnect counts under the ceiling of attempts") func reconnectAndCeiling() throws {
        #expect(try !loop(after: 1, withoutJitter(), ceiling: 2).mayReconnect)
        var loop = try loop(after: 1, withoutJitter(), ceiling: 3)
        #expect(loop.mayReconnect)
        loop.countReconnect()
        #expect(try loop.next(Outcome(status: 503), clock: ManualClock()).reason == .attemptCeiling)
    }

    @Test("F13, B14: a strategy that always retries ends at the deadline") func customDeadline() throws {
        let call = try play([.status(500, takes: 7)], strategy: AlwaysRetry(), limits: deadline(seconds: 60))
        #expect(call.requests == 9)
        #expect(call.last?.reason == .deadline)
    }

    @Test("F14, B10: when the attempts are used up, each has its record") func records() throws {
        let call = try play([.status(503), .status(500), .exception(.tls), .status(429), .status(599)])
        #expect(call.decisions.map(\.attemptNumber) == [1, 2, 3, 4, 5])
        #expect(call.decisions.map(\.exceptionNumber) == [0, 0, 1, 0, 0])
        #expect(
            call.decisions.map(\.reason) == [
                .serverError, .serverError, .networkException, .rateLimited, .attemptsExhausted,
            ])
        #expect(call.waits == [2, 4, 2, 16])
        #expect(call.last?.action == .stop)
    }

    @Test("B5: retries of both kinds together never exceed max_attempts") func bound() throws {
        let options = withoutJitter { $0.maxRetriesOnException = 1_000 }
        let call = try play([.exception()], strategy: BoxRetryStrategy(checked: options))
        #expect(call.requests == 6)
        #expect(call.last?.reason == .retriesExhausted)
        #expect(call.waits == [2, 4, 8, 16, 32])
    }

    @Test("F90, W7: a part of a file uses a retry of B5, without a wait, and is not an exception") func parts() throws {
        let clock = ManualClock()
        var loop = RetryLoop(
            strategy: BoxRetryStrategy(checked: withoutJitter()), limits: .init(), random: SplitMix64(state: 1))
        #expect(try loop.next(Outcome(exception: .receive), clock: clock).exceptionNumber == 1)
        for number in Int32(2)...5 {
            let part = loop.countPart()
            let decision = try #require(part)
            #expect(decision.action == .retry && decision.reason == .partialContent && decision.delay == 0)
            #expect(decision.attemptNumber == number && decision.exceptionNumber == 0)
        }
        let sixth = loop.countPart()
        #expect(sixth == nil)
        let last = try loop.next(Outcome(exception: .receive), clock: clock)
        #expect(last.attemptNumber == 6 && last.exceptionNumber == 2 && last.reason == .retriesExhausted)
    }

    @Test("B5, B13, W7: a reconnect and the parts of a file share the retries that there are") func partsAndAReconnect()
    {
        var loop = RetryLoop(
            strategy: BoxRetryStrategy(checked: withoutJitter()), limits: .init(), random: SplitMix64(state: 1))
        loop.countReconnect()
        let isCounted = (1...5).map { _ in loop.countPart() != nil }
        #expect(isCounted == [true, true, true, true, false])  // 6 requests, with the first one and the reconnect.
    }

    @Test("F90, B14: parts end at the ceiling of attempts") func partsWithoutEnd() {
        var limits = RetryLoop.Limits()
        limits.maxTotalAttempts = 3
        var loop = RetryLoop(strategy: AlwaysRetry(), limits: limits, random: SplitMix64(state: 1))
        let isCounted = (1...3).map { _ in loop.countPart() != nil }
        #expect(isCounted == [true, true, false])
    }

    @Test("B8: 401 with auth available asks for a new token, with the wait of any retry") func unauthorized() throws {
        var limits = RetryLoop.Limits()
        limits.authAvailable = true
        let call = try play([.status(401), .status(200)], limits: limits)
        #expect(call.decisions.map(\.action) == [.refreshTokenAndRetry, .succeed])
        #expect(call.waits == [2])
        #expect(try play([.status(401)]).last?.reason == .notRetryable)
    }

    @Test("B10: the last 202 of a poll is a success, and says that the attempts are used up") func endlessPoll() throws
    {
        let call = try play([.status(202, ("Retry-After", "1"))])
        #expect(call.requests == 5)
        #expect(call.last?.action == .succeed)
        #expect(call.last?.reason == .attemptsExhausted)
    }

    @Test("F35, B11: the deadline counts all attempts and waits") func deadlineOverAll() throws {
        let call = try play([.status(503, takes: 1)], limits: deadline(seconds: 5))
        #expect(call.waits == [2])  // 1 + 2 + 1 = 4 s; the next wait of 4 s would lead to 8 s.
        #expect(call.last?.reason == .deadline)
        #expect(try play([.status(200, takes: 100)], limits: deadline(seconds: 5)).last?.action == .succeed)
    }

    @Test("B11: a wait that ends at the very deadline is not begun; one that ends before it is") func deadlineEdge()
        throws
    {
        #expect(try play([.status(503), .status(200)], limits: deadline(seconds: 2)).requests == 1)
        #expect(try play([.status(503), .status(200)], limits: deadline(seconds: 2.001)).requests == 2)
    }

    @Test("B11: a deadline of 1001 ms has passed after 1.001 s") func deadlineToTheMillisecond() throws {
        let clock = ManualClock()
        var limits = RetryLoop.Limits()
        limits.deadline = Instant(nanoseconds: 0).advanced(byMilliseconds: 1_001)
        var loop = RetryLoop(
            strategy: BoxRetryStrategy(checked: withoutJitter()), limits: limits, random: SplitMix64(state: 1))
        #expect(clock.advance(bySeconds: 1.001))
        let lines = Lines([("Retry-After", "0")])
        let decision = try withExtendedLifetime(lines) {
            try loop.next(Outcome(status: 503, headers: lines.list), clock: clock)
        }
        #expect(decision.reason == .deadline)
    }

    @Test("what stands against a retry has an order: the first of it is the reason") func reasonOrder() throws {
        // Each line has all that stands below it, too: not replayable, ceiling, bound, cap, deadline.
        var outcome = Outcome(exception: .connect)
        outcome.isRequestUnsafe = true
        outcome.isBodyReplayable = false
        var options = withoutJitter {
            $0.retryUnsafeMethods = false
            $0.maxAttempts = 0
            $0.retryAfterCap = 1
            $0.retryAfterOverCap = .stop
        }
        let lines = Lines([("Retry-After", "60")])
        outcome.headers = lines.list
        var limits = deadline(seconds: 1)
        limits.maxTotalAttempts = 1
        func reason() throws -> Reason {
            var loop = RetryLoop(
                strategy: BoxRetryStrategy(checked: options), limits: limits, random: SplitMix64(state: 1))
            return try loop.next(outcome, clock: ManualClock()).reason
        }
        try withExtendedLifetime(lines) { () throws in
            #expect(try reason() == .unsafeRequest)
            options.retryUnsafeMethods = true
            #expect(try reason() == .notReplayable)
            outcome.isBodyReplayable = true
            #expect(try reason() == .attemptCeiling)
            limits.maxTotalAttempts = 1_000
            #expect(try reason() == .retriesExhausted)
            options.maxAttempts = 5
            #expect(try reason() == .retryAfterOverCap)
            options.retryAfterOverCap = .clamp
            #expect(try reason() == .deadline)
            limits.deadline = .distantFuture
            #expect(try reason() == .networkException)
        }
    }

    @Test("M6: the deadline keeps running while the machine sleeps") func deadlineWhileAsleep() throws {
        let clock = ManualClock()
        var loop = RetryLoop(
            strategy: BoxRetryStrategy(checked: withoutJitter()), limits: deadline(seconds: 60),
            random: SplitMix64(state: 1))
        #expect(try loop.next(Outcome(status: 503), clock: clock).isRetry)
        #expect(clock.suspend(forSeconds: 60))
        #expect(try loop.next(Outcome(status: 503), clock: clock).reason == .deadline)
    }

    @Test("R3: a body that cannot be sent again is not retried") func notReplayable() throws {
        var answer = Answer.status(503)
        answer.adjust = { $0.isBodyReplayable = false }
        let call = try play([answer])
        #expect(call.requests == 1)
        #expect(call.last?.reason == .notReplayable)
    }

    @Test("B2: a response with a cause is an exception, with any status") func brokenBody() throws {
        var answer = Answer.status(200)
        answer.cause = .receive
        let call = try play([answer, .status(200)])
        #expect(call.decisions[0].reason == .networkException)
        #expect(call.decisions[0].exceptionNumber == 1)
        #expect(call.requests == 2)
    }

    @Test("B6: the same seed gives the same delays, another one others") func seeds() throws {
        #expect(try delays(seed: 1) == delays(seed: 1))
        #expect(try delays(seed: 1) != delays(seed: 2))
    }
}

private func deadline(seconds: Double) -> RetryLoop.Limits {
    var limits = RetryLoop.Limits()
    limits.deadline = Instant(nanoseconds: 0).advanced(bySeconds: seconds)
    return limits
}

private func delays(seed: UInt64) throws -> [Double] {
    var loop = RetryLoop(
        strategy: BoxRetryStrategy(checked: BoxRetryOptions()), limits: .init(), random: SplitMix64(state: seed))
    return try (1...4).map { _ in try loop.next(Outcome(status: 503), clock: ManualClock()).delay }
}

/// A custom strategy that never has enough.
private final class AlwaysRetry: RetryStrategy {
    var callsBack: Bool { false }
    var retryBound: Int32? { nil }

    func readRetryAfter(_ headers: HeaderList, clock: any Clock) -> RetryAfter { .absent }

    func shouldRetry(_ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32) -> RetryAnswer {
        .retry(.custom)
    }

    func retryAfter(_ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32, unitRandom: Double) -> Wait {
        Wait(delay: 0, source: .custom)
    }
}
