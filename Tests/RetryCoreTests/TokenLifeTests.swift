import Testing

@testable import RetryCore

@Suite struct TokenLifeTests {
    /// A scene whose token has just come.
    private func scene(life: Double, _ change: (inout TokenSettings) -> Void = { _ in }) -> TokenScene {
        let scene = TokenScene(change)
        scene.ask()
        scene.answer("old", life: life)
        return scene
    }

    @Test("T2, F69: a token with 60.001 s left is used; with 60.000 s it is renewed") func leeway() {
        let scene = scene(life: 3_600)
        scene.advance(3_539.999)
        #expect(scene.ask() == .token("old"))
        scene.advance(0.001)
        scene.ask()
        #expect(scene.calls.count == 2)
    }

    @Test("T2: life runs from the arrival of the answer, not from the question") func fromArrival() {
        let scene = TokenScene()
        scene.ask()
        scene.advance(1_000)
        scene.answer("abc", life: 100)
        scene.advance(39)
        #expect(scene.ask() == .token("abc"))
    }

    @Test("T2, F70: the lifetime keeps running while the machine sleeps; a wall clock that is set back changes nothing")
    func sleepingMachine() {
        let scene = scene(life: 5 * 3_600)
        #expect(scene.clock.setWall(-86_400))
        scene.advance(2)
        #expect(scene.ask() == .token("old"))
        #expect(scene.clock.suspend(forSeconds: 5 * 3_600))
        scene.ask()
        #expect(scene.calls.count == 2)
    }

    @Test(
        "T2: where the wall clock has run ahead by more than 5 s, the smaller life counts; it is looked at once a second"
    )
    func restoredMachine() {
        let scene = scene(life: 3_600)
        #expect(scene.clock.setWall(4.9))
        #expect(scene.ask() == .token("old"))
        #expect(scene.clock.setWall(3_541))
        scene.advance(0.9)
        #expect(scene.ask() == .token("old"), "not looked at again yet")
        scene.advance(0.1)
        scene.ask()
        #expect(scene.calls.count == 2)
    }

    @Test("T6, F71: a long enough lifetime is kept; a shorter or invalid one is an error and is not retried")
    func lives() {
        for life in [2_592_000, 1e9, 1e300, 61, 60.000001] { #expect(outcome(life) == "abc") }
        for life in [Double.nan, .infinity, -.infinity, -1, 0, 60] { #expect(outcome(life) == "invalid expiration") }
        #expect(outcome(100) { $0.refreshLeeway = 120 } == "invalid expiration")
        #expect(outcome(121) { $0.refreshLeeway = 120 } == "abc")
        #expect(outcome(61) { $0.refreshLeeway = 0 } == "abc")
        #expect(outcome(60) { $0.refreshLeeway = 0 } == "invalid expiration")
    }

    private func outcome(_ life: Double, _ change: (inout TokenSettings) -> Void = { _ in }) -> String? {
        let scene = TokenScene(change)
        scene.ask()
        scene.answer("abc", life: life)
        #expect(scene.calls.count == 1)
        return scene.woken.first?.with
    }

    @Test("T6: a huge life saturates at 2^31 - 1 seconds") func hugeLife() {
        let scene = scene(life: 1e300)
        #expect(scene.machine.current?.life.left(at: scene.clock.boottime) == Delay.maximum)
    }

    @Test("T6: a token that cannot be used is judged before its life") func order() {
        let scene = TokenScene()
        scene.ask()
        scene.answer(nil, life: .nan)
        #expect(scene.woken.first?.with == "invalid token")
    }

    @Test("the token may be read without asking until the leeway, or until it is to be renewed ahead")
    func readableUntil() {
        let scene = scene(life: 3_600)
        #expect(scene.machine.readableUntil.seconds == 3_540)
        let ahead = self.scene(life: 3_600) { $0.refreshAheadWindow = 300 }
        #expect((3_240...3_540).contains(ahead.machine.readableUntil.seconds))
        ahead.machine.cleared()
        #expect(ahead.machine.readableUntil.nanoseconds == .min)
    }

    // MARK: - T11

    @Test("T11: off by default: no call asks ahead, and a token within the leeway is not served") func offByDefault() {
        let scene = scene(life: 3_600)
        scene.advance(3_539)
        #expect(scene.ask() == .token("old"))
        #expect(scene.calls.count == 1)
        scene.advance(1)
        scene.ask()
        scene.fail(retryable: false)
        #expect(scene.woken.last?.with == "failed after 1")
    }

    @Test("T11: in the window callers keep the old token while one fetch runs; then they have the new one")
    func refreshAhead() {
        let scene = scene(life: 3_600) { $0.refreshAheadWindow = 300 }
        scene.advance(3_239)
        #expect(scene.ask() == .token("old"))
        #expect(scene.calls.count == 1, "the window has not begun")
        scene.advance(300.999)
        #expect(scene.ask() == .token("old"))
        #expect(scene.ask() == .token("old"))
        #expect(scene.calls.count == 2, "the jittered moment is in the window")
        scene.answer("new")
        #expect(scene.ask() == .token("new"))
        #expect(scene.woken.count == 1)
    }

    @Test("T11: past the leeway, callers join the fetch that runs ahead") func joinAhead() {
        let scene = scene(life: 3_600) { $0.refreshAheadWindow = 300 }
        scene.advance(3_539.999)
        scene.ask()
        scene.advance(1)
        scene.ask()
        #expect(scene.calls.count == 2)
        scene.answer("new")
        #expect(scene.woken.map(\.with) == ["old", "new"])
    }

    @Test("T11: the window is at most half of the token's life; its moments differ") func window() {
        var moments: [Double] = []
        for seed in 0..<200 {
            var settings = TokenSettings()
            settings.refreshAheadWindow = 1e6
            settings.refreshLeeway = 0
            var machine = TokenScene.Machine(settings: settings, random: SplitMix64(state: UInt64(seed)))
            let clock = ManualClock()
            _ = machine.asked(by: 1, at: TokenMoment(clock))
            _ = machine.answered(1, "abc", life: 100, at: TokenMoment(clock))
            for second in stride(from: 0.0, through: 99, by: 1) where machine.fetch == nil {
                _ = machine.read(at: TokenMoment(clock))
                if machine.fetch != nil { moments.append(second) }
                _ = clock.advance(bySeconds: 1)
            }
        }
        #expect(moments.count > 190)
        #expect(moments.allSatisfy { $0 >= 50 })
        #expect(Set(moments).count > 20)
    }

    @Test("F128, T11: a fetch ahead that fails is tried again after the policy's next delays, however many ask")
    func aheadFails() {
        let scene = scene(life: 3_600) {
            $0.refreshAheadWindow = 300
            $0.retryPolicy.maximumAttempts = 1
        }
        scene.advance(3_239)
        while scene.calls.count == 1 {
            scene.advance(1)
            #expect(scene.ask() == .token("old"))
        }
        let first = scene.calls[1].at
        var moments: [Double] = []
        while scene.clock.monotonic.seconds < first + 20 {
            #expect(scene.ask() == .token("old"))
            if scene.calls.count > moments.count + 1 {
                moments.append(scene.calls.last.map { $0.at - first } ?? -1)
                scene.fail(retryable: false)
            }
            scene.advance(0.25)
        }
        #expect(moments == [0, 1, 3, 7, 15])
    }

    @Test("F128b, T11: given serve_stale, a token that is still valid is served at once while the retries continue")
    func stale() {
        let scene = scene(life: 200) { $0.servesStale = true }
        scene.advance(160)
        #expect(scene.ask() == .token("old") && scene.calls.count == 2)
        scene.fail()
        for _ in 0..<39 {
            scene.advance(1)
            #expect(scene.ask() == .token("old"))
            if scene.machine.nextTimer == nil { scene.fail() }
        }
        #expect(scene.calls.map { $0.at - 160 }.dropFirst() == [0, 1, 3, 7, 15, 23, 31, 39])
        // It is over: a new caller waits for the fetch that continued behind it.
        scene.advance(1)
        guard case .waiting = scene.ask() else {
            Issue.record("a token whose life is over was served")
            return
        }
        scene.advance(7)
        scene.answer("new")
        #expect(scene.woken.map(\.with) == ["old", "new"])
    }

    @Test("F128, T11: given serve_stale and a provider that fails at once, 100,000 callers in a second cost one call")
    func staleIsNotHammered() {
        let scene = scene(life: 200) { $0.servesStale = true }
        scene.advance(160)
        for _ in 0..<100_000 {
            #expect(scene.ask() == .token("old"))
            if scene.machine.fetch != nil { scene.fail(retryable: false) }
            scene.advance(0.00001)
        }
        #expect(scene.calls.count == 2)
    }

    @Test("T7, T11: given a Retry-After at the end of a fetch, no renewal begins before it while there is a token")
    func staleWaitsForRetryAfter() {
        let scene = scene(life: 200) {
            $0.servesStale = true
            $0.retryPolicy.maximumAttempts = 1
        }
        scene.advance(160)
        scene.ask()
        scene.fail(retryable: true, leastDelay: 30)
        for _ in 0..<29 {
            scene.advance(1)
            #expect(scene.ask() == .token("old") && scene.calls.count == 2)
        }
        scene.advance(1.001)
        scene.ask()
        #expect(scene.calls.count == 3)
    }

    @Test("T7, T11: a caller without a token asks at once, even after a failure") func noTokenAsksAtOnce() {
        let scene = scene(life: 200) { $0.servesStale = true }
        scene.advance(199.9)
        scene.ask()
        scene.fail(retryable: false)
        scene.advance(0.1)
        scene.ask()
        #expect(scene.calls.count == 3)
    }

    @Test("T12: a token that is known already is used before the first fetch, and renewed as others are") func initial()
    {
        let scene = TokenScene()
        scene.machine.adopt("known", life: 100, at: scene.moment)
        #expect(scene.ask() == .token("known") && scene.calls.isEmpty)
        scene.advance(40)
        scene.ask()
        scene.answer("new")
        #expect(scene.calls.count == 1 && scene.machine.current?.generation == 2)
        #expect(scene.ask() == .token("new"))
    }

    @Test("F126, T7: what a busy endpoint asks for is the least wait; the policy's delay is the least, too")
    func leastDelay() {
        let scene = TokenScene()
        scene.ask()
        scene.fail(leastDelay: 3)
        scene.advance(3)
        scene.fail(leastDelay: 1)
        scene.advance(2)
        scene.answer("late")
        #expect(scene.calls.map(\.at) == [0, 3, 5] && scene.woken.map(\.with) == ["late"])
    }

    @Test("F126, T7: but no longer than fetch_timeout_ms") func leastDelayAndTimeout() {
        let scene = TokenScene { $0.fetchTimeout = 10_000_000_000 }
        scene.ask()
        scene.fail(leastDelay: 3_600)
        scene.advance(10)
        #expect(scene.woken.map(\.with) == ["fetch timed out after 1"])
    }

    @Test("F112, T4: a provider may take 70 seconds: there is no limit unless one is set") func slowProvider() {
        let scene = TokenScene()
        scene.ask()
        scene.advance(70)
        scene.answer("late")
        #expect(scene.calls.count == 1 && scene.woken.map(\.with) == ["late"])
    }

    @Test("F113, T4: a provider that cancels ends the fetch at once, for all who wait") func cancelled() {
        let scene = TokenScene()
        for _ in 0..<3 { scene.ask() }
        scene.fail(.cancelled, retryable: false)
        #expect(scene.woken.map(\.with) == Array(repeating: "cancelled after 1", count: 3) && scene.calls.count == 1)
    }

    @Test("T11: a token that was dropped is not served") func droppedIsNotStale() {
        let scene = scene(life: 3_600) { $0.servesStale = true }
        scene.advance(3_541)
        scene.ask()
        scene.machine.invalidated(generation: 1)
        scene.ask()
        scene.fail(retryable: false)
        #expect(scene.woken.last?.with == "failed after 1")
    }
}
