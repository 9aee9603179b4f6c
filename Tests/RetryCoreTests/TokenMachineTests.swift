import Testing

@testable import RetryCore

@Suite struct TokenMachineTests {
    @Test("T3, F60: given 1,000 callers and an empty cache, one call, one token for all, first come first woken")
    func oneCallForAll() {
        let scene = TokenScene()
        for _ in 1...1_000 { scene.ask() }
        scene.answer("abc")
        #expect(scene.calls.count == 1)
        #expect(scene.woken.map(\.waiter) == Array(1...1_000))
        #expect(scene.woken.allSatisfy { $0.with == "abc" })
        #expect(scene.ask() == .token("abc"))
    }

    @Test("T3, F61: given a failure that is not retryable, all callers share one series of attempts, and its error")
    func oneSeriesForAll() {
        let scene = TokenScene()
        for _ in 1...3 { scene.ask() }
        for _ in 1...9 {
            scene.fail()
            scene.advance(8)
        }
        #expect(scene.calls.count == 9)
        #expect(scene.woken.map(\.with) == ["failed after 9", "failed after 9", "failed after 9"])
    }

    @Test("T5: without jitter the waits are 1 2 4 8 8 8 8 8, and the caller has the error after 47 seconds")
    func schedule() {
        let scene = TokenScene()
        scene.ask()
        for _ in 1...9 {
            scene.fail()
            if scene.woken.isEmpty { scene.advance(scene.machine.nextTimer!.seconds - scene.clock.monotonic.seconds) }
        }
        #expect(scene.calls.map(\.at) == [0, 1, 3, 7, 15, 23, 31, 39, 47])
        #expect(scene.clock.monotonic.seconds == 47)
        #expect(scene.woken.count == 1)
    }

    @Test("T5: given jitter, each wait is within a fifth of its middle, and none is above the cap") func jitter() {
        let scene = TokenScene { $0.retryPolicy.jitterRatio = 0.2 }
        scene.ask()
        var waits: [Double] = []
        for _ in 1...8 {
            scene.fail()
            waits.append(scene.machine.nextTimer!.seconds - scene.clock.monotonic.seconds)
            scene.advance(waits.last!)
        }
        for (wait, middle) in zip(waits, [1.0, 2, 4, 8, 8, 8, 8, 8]) {
            #expect(wait >= middle * 0.8 - 1e-6 && wait <= min(middle * 1.2, 8) + 1e-6)
        }
        #expect(zip(waits, [1.0, 2, 4, 8, 8, 8, 8, 8]).contains { $0 != $1 })
    }

    @Test("T5: a failure that is not marked retryable ends the fetch at once") func notRetryable() {
        let scene = TokenScene()
        scene.ask()
        scene.fail(.failed(ProviderText("no such user")), retryable: false)
        #expect(scene.woken.map(\.with) == ["failed after 1"])
    }

    @Test("T6: the provider's text is reported only if the failure was not retryable") func providerText() {
        func failure(_ provided: ProviderFailure, retryable: Bool) -> TokenFailure? {
            var machine = TokenScene.Machine(settings: oneAttempt, random: SplitMix64(state: 1))
            let moment = TokenMoment(ManualClock())
            _ = machine.asked(by: 1, at: moment)
            guard
                case .wake(_, .failure(let failure)) = machine.failed(
                    1, provided, isRetryable: retryable, at: moment)?.first
            else { return nil }
            return failure
        }
        let said = ProviderFailure.failed(ProviderText("no such user"))
        #expect(failure(said, retryable: false) == .provider(said, attempts: 1))
        #expect(failure(said, retryable: true) == .provider(.failed(.none), attempts: 1))
        let ours = ProviderFailure.unavailable(ProviderText("status 503"))
        #expect(failure(ours, retryable: true) == .provider(ours, attempts: 1), "our own words have no secret in them")
    }

    private var oneAttempt: TokenSettings {
        var settings = TokenSettings()
        settings.retryPolicy.maximumAttempts = 1
        return settings
    }

    @Test("T7: given a failure, the next caller starts a new call") func failuresAreNotCached() {
        let scene = TokenScene()
        scene.ask()
        scene.fail(retryable: false)
        scene.ask()
        #expect(scene.calls.count == 2)
    }

    @Test("T4: an answer to a call that was answered, or has timed out, is refused") func lateAnswers() {
        let scene = TokenScene { $0.providerTimeout = 60_000_000_000 }
        scene.ask()
        scene.advance(61)
        #expect(scene.calls.map(\.at) == [0, 61], "the timeout is a retryable failure")
        #expect(!scene.answer("late", to: 1))
        #expect(!scene.fail(call: 1))
        #expect(scene.answer("new", to: 2))
        #expect(!scene.answer("again", to: 2))
        #expect(scene.woken.map(\.with) == ["new"])
        #expect(scene.ask() == .token("new"), "a late failure drops nothing (T8)")
    }

    @Test("T4: a provider that never answers is asked as often as the policy says") func neverAnswers() {
        let scene = TokenScene {
            $0.providerTimeout = 10_000_000_000
            $0.retryPolicy.maximumAttempts = 2
        }
        scene.ask()
        scene.advance(30)
        #expect(scene.woken.map(\.with) == ["timed out after 2"])
        #expect(scene.clock.monotonic.seconds == 30 && scene.calls.map(\.at) == [0, 11])
    }

    @Test("T4: fetch_timeout bounds all attempts together, in a wait too") func fetchTimeout() {
        let scene = TokenScene { $0.fetchTimeout = 5_000_000_000 }
        scene.ask()
        for _ in 1...3 {
            scene.fail()
            scene.advance(2)
        }
        #expect(scene.woken.map(\.with) == ["fetch timed out after 3"])
        #expect(scene.machine.fetch == nil)
    }

    @Test("T9, F64: given 5 callers, who leaves is not woken, and the others are")
    func leaving() {
        let scene = TokenScene()
        let tickets = (1...5).map { _ in scene.ask() }
        guard case .waiting(let first) = tickets[0] else { return }
        #expect(scene.leave(first))
        #expect(!scene.leave(first))
        scene.answer("abc")
        #expect(scene.woken.map(\.waiter) == [2, 3, 4, 5])
        #expect(!scene.leave(first + 1), "it has been woken")
    }

    @Test("T9, F64: given 5 callers who all leave, the fetch continues, and its token is kept") func allLeave() {
        let scene = TokenScene()
        for _ in 1...5 {
            if case .waiting(let ticket) = scene.ask() { #expect(scene.leave(ticket)) }
        }
        scene.answer("abc")
        #expect(scene.woken.isEmpty)
        #expect(scene.ask() == .token("abc"))
    }

    @Test("T9: many who leave cost no more than their places") func manyLeave() {
        let scene = TokenScene()
        var last: UInt64 = 0
        for _ in 1...10_000 { if case .waiting(let ticket) = scene.ask() { last = ticket } }
        for ticket in last - 9_999..<last { #expect(scene.leave(ticket)) }
        scene.answer("abc")
        #expect(scene.woken.map(\.waiter) == [10_000])
    }

    @Test("T8, F62: given 20 who invalidate the same generation, some late, one refresh") func manyInvalidate() {
        let scene = TokenScene()
        scene.ask()
        scene.answer("old")
        for _ in 1...10 {
            scene.machine.invalidated(generation: 1)
            scene.ask()
        }
        scene.answer("new")
        for _ in 1...10 {
            scene.machine.invalidated(generation: 1)
            #expect(scene.ask() == .token("new"), "F63: the old generation does not drop the new one")
        }
        #expect(scene.calls.count == 2)
    }

    @Test("T8, F78: given a clear while a call runs, its token goes only to those who wait")
    func clearWhileCalling() {
        let scene = TokenScene()
        scene.ask()
        scene.machine.cleared()
        scene.ask()
        scene.ask()
        #expect(scene.calls.count == 1, "one call at a time")
        scene.answer("old")
        #expect(scene.woken.map(\.waiter) == [1])
        #expect(scene.calls.count == 2)
        scene.answer("new")
        #expect(scene.woken.map(\.waiter) == [1, 2, 3])
        #expect(scene.woken.map(\.with) == ["old", "new", "new"])
        #expect(scene.ask() == .token("new"))
    }

    @Test("T8: given a clear while a call runs and no later caller, nothing is kept, and no call follows")
    func clearWithoutFollowers() {
        let scene = TokenScene()
        scene.ask()
        scene.machine.cleared()
        scene.answer("old")
        #expect(scene.woken.map(\.with) == ["old"])
        #expect(scene.machine.current == nil && scene.machine.fetch == nil)
    }

    @Test("T8: given a clear and a call that fails, all share the attempt that follows") func clearThenRetry() {
        let scene = TokenScene()
        scene.ask()
        scene.machine.cleared()
        scene.ask()
        scene.fail()
        scene.advance(1)
        scene.answer("new")
        #expect(scene.woken.map(\.with) == ["new", "new"])
        #expect(scene.ask() == .token("new"))
    }

    @Test("T8: given a clear and a call that fails and is not retried, later callers get a separate call")
    func clearThenFailure() {
        let scene = TokenScene()
        scene.ask()
        scene.machine.cleared()
        guard case .waiting(let ticket) = scene.ask() else { return }
        scene.ask()
        #expect(scene.leave(ticket), "who waits for the next call can leave as well")
        scene.fail(retryable: false)
        scene.answer("new")
        #expect(scene.woken.map(\.with) == ["failed after 1", "new"])
        #expect(scene.woken.map(\.waiter) == [1, 3])
    }

    @Test("T10: freeing wakes all with closed, in order, and refuses everything from then on") func freed() {
        let scene = TokenScene()
        scene.ask()
        scene.machine.cleared()
        scene.ask()
        scene.free()
        #expect(scene.woken.map(\.waiter) == [1, 2])
        #expect(scene.woken.map(\.with) == ["closed", "closed"])
        #expect(scene.ask() == .closed)
        #expect(!scene.answer("late"))
        #expect(scene.machine.current == nil && scene.machine.nextTimer == nil)
    }

    @Test("T12: a fixed token never expires, and is never dropped") func fixed() {
        let clock = ManualClock()
        var machine = TokenScene.Machine(fixed: "abc", settings: TokenSettings(), at: TokenMoment(clock))
        #expect(clock.advance(bySeconds: 2e9))
        let read = machine.read(at: TokenMoment(clock)).0
        #expect(read?.token == "abc")
        #expect(machine.current?.life.left(at: clock.boottime) == Delay.maximum)
        machine.invalidated(generation: 1)
        machine.cleared()
        let readLater = machine.read(at: TokenMoment(clock)).0
        #expect(readLater?.token == "abc")
    }

    @Test("no thread for the provider: the callers get the error, and the next one tries again") func exhausted() {
        let scene = TokenScene()
        scene.ask()
        let actions = scene.machine.couldNotCall(scene.call, .exhausted, at: scene.moment)
        guard case .wake([1], .failure(.exhausted)) = actions.first else {
            Issue.record("no waiter got the error")
            return
        }
        scene.ask()
        #expect(scene.calls.count == 2)
    }
}
