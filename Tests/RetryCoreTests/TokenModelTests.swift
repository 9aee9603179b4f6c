import Testing

@testable import RetryCore

/// Random sequences of events through the state machine, and beside it a model that is as simple as can be: it keeps no
/// lines and no states, only what was done, and says what must hold.
@Suite struct TokenModelTests {
    @Test("T3 T4 T8 T9 T10: the invariants hold for any events in any order", arguments: 0..<40)
    func invariants(seed: Int) {
        for round in 0..<50 {
            let walk = TokenWalk(seed: UInt64(seed * 1_000 + round))
            for _ in 0..<120 where walk.problem == nil { walk.step() }
            walk.finish()
            #expect(walk.problem == nil, "seed \(seed), round \(round): \(walk.history.suffix(30))")
        }
    }

    @Test("the walks reach what they are there for") func coverage() {
        var seen: [String: Int] = [:]
        for seed in 0..<200 {
            let walk = TokenWalk(seed: UInt64(seed))
            for _ in 0..<120 { walk.step() }
            for (name, count) in walk.seen { seen[name, default: 0] += count }
        }
        for name in ["cached", "shared", "refused", "outdated", "retry", "left", "timed out", "gave up", "dropped"] {
            #expect(seen[name, default: 0] > 100, "\(name)")
        }
    }
}

private final class TokenWalk {
    typealias Machine = TokenMachine<Int, Int>

    private let clock = ManualClock()
    private var machine: Machine
    private var random: SplitMix64
    private let settings: TokenSettings

    // What the model knows.
    private var step_ = 0
    private var waiting: [Int: (ticket: UInt64, since: Int)] = [:]
    private var ended: Set<Int> = []
    private var nextWaiter = 0
    private var begun: [UInt64: Int] = [:]  // calls, and the step at which they began
    private var underWay: UInt64?
    private var underWayUntil = Int64.max
    private var attempts = 0
    private var waitsUntil: Int64?
    private var lastClear = -1
    private var kept: (token: Int, generation: UInt64, end: Int64)?
    private var isFreed = false
    /// Whether what is woken now is the end of a call (and which).
    private(set) var problem: String?
    private(set) var history: [String] = []
    private(set) var seen: [String: Int] = [:]

    init(seed: UInt64) {
        random = SplitMix64(state: seed)
        var settings = TokenSettings()
        settings.retryPolicy.maximumAttempts = 3
        settings.retryPolicy.jitterRatio = 0
        settings.providerTimeout = 5_000_000_000
        self.settings = settings
        machine = Machine(settings: settings, random: SplitMix64(state: seed))
    }

    private var moment: TokenMoment { TokenMoment(clock) }
    private var now: Int64 { clock.monotonic.nanoseconds }
    private func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    private func countEvent(_ name: String) { seen[name, default: 0] += 1 }
    private func check(_ holds: Bool, _ what: String) { if !holds, problem == nil { problem = what } }

    func step() {
        step_ += 1
        switch pick(100) {
        case 0..<38: ask()
        case 38..<52: answer()
        case 52..<64: fail()
        case 64..<72: leave()
        case 72..<80: invalidate()
        case 80..<84: clear()
        case 84..<99: pass()
        default: if pick(4) == 0 { free() }
        }
        checkState()
    }

    /// No waiter is left, after any events.
    func finish() {
        free()
        check(waiting.isEmpty, "somebody waits for a source that was freed")
        check(ended.count == nextWaiter, "not every caller has had an end")
    }

    // MARK: - Events

    private func ask() {
        let waiter = nextWaiter
        nextWaiter += 1
        let usable = kept.map { now < $0.end - 60_000_000_000 } ?? false
        let wasBusy = underWay != nil
        let (answer, actions) = machine.asked(by: waiter, at: moment)
        history.append("ask \(waiter)")
        switch answer {
        case .token(let cached):
            countEvent("cached")
            check(usable && cached.token == kept?.token, "a token was given that is not the one that is kept")
            end(waiter)
        case .waiting(let ticket):
            check(!usable && !isFreed, "a caller waits, and there is a token")
            if wasBusy { countEvent("shared") }
            waiting[waiter] = (ticket, step_)
        case .closed:
            check(isFreed, "closed, and was not freed")
            end(waiter)
        }
        if waiting.count == 1, underWay == nil, waitsUntil == nil { attempts = 0 }
        perform(actions)
    }

    private func answer() {
        let call = aCall()
        let life = [30.0, 61, 65, 3_600][pick(4)]
        let isCurrent = call == underWay
        let isOutdated = begun[call, default: 0] <= lastClear
        let token = Int(call)
        history.append("answer \(call) for \(life)")
        let actions = machine.answered(call, token, life: life, at: moment)
        check(
            (actions != nil) == isCurrent, "an answer was taken from a call that is not under way, or refused from one")
        guard let actions else { return countEvent("refused") }
        underWay = nil
        if isOutdated { countEvent("outdated") }
        if life > 60, !isOutdated {
            kept = (token, machine.current?.generation ?? 0, now + Int64(life) * 1_000_000_000)
        }
        perform(actions, ending: life > 60 ? token : nil, of: call)
    }

    private func fail() {
        let call = aCall()
        let isRetryable = pick(3) > 0
        history.append("fail \(call) \(isRetryable)")
        let isCurrent = call == underWay
        let actions = machine.failed(call, .failed(.none), isRetryable: isRetryable, at: moment)
        check(
            (actions != nil) == isCurrent, "a failure was taken from a call that is not under way, or refused from one")
        guard let actions else { return countEvent("refused") }
        callFailed(isRetryable: isRetryable)
        perform(actions, ending: nil, of: call)
    }

    private func callFailed(isRetryable: Bool) {
        underWay = nil
        if isRetryable, attempts < 3 {
            countEvent("retry")
            waitsUntil = now + Int64(attempts) * 1_000_000_000  // 1 s and 2 s
        } else {
            countEvent("gave up")
        }
    }

    private func leave() {
        guard let (waiter, place) = waiting.min(by: { ($0.key * 7) % 11 < ($1.key * 7) % 11 }) else { return }
        history.append("leave \(waiter)")
        let hasLeft = machine.left(ticket: place.ticket)
        check(hasLeft, "one who waits cannot leave")
        waiting[waiter] = nil
        end(waiter)
        countEvent("left")
        let leavesAgain = machine.left(ticket: place.ticket)
        check(!leavesAgain, "one who left can leave again")
    }

    private func invalidate() {
        let newest = kept?.generation ?? machine.current?.generation ?? 3
        let generation = newest > 1 && pick(2) == 0 ? newest - 1 : newest
        history.append("invalidate \(generation)")
        machine.invalidated(generation: generation)
        guard kept?.generation == generation else { return }
        kept = nil
        countEvent("dropped")
    }

    private func clear() {
        history.append("clear")
        machine.cleared()
        kept = nil
        lastClear = step_
    }

    private func pass() {
        let seconds = [0.5, 1, 2, 4, 100][pick(5)]
        history.append("pass \(seconds)")
        let end = clock.monotonic.advanced(bySeconds: seconds).nanoseconds
        while true {
            let due = max(min(machine.nextTimer?.nanoseconds ?? .max, end), now)
            _ = clock.advance(bySeconds: Double(due - now) / 1e9)
            if let call = underWay, now >= underWayUntil {
                countEvent("timed out")
                callFailed(isRetryable: true)
                perform(machine.timePassed(at: moment), ending: nil, of: call)
            } else {
                perform(machine.timePassed(at: moment))
            }
            if due == end { return }
        }
    }

    private func free() {
        history.append("free")
        let actions = machine.freed()
        isFreed = true
        kept = nil
        underWay = nil
        waitsUntil = nil
        perform(actions)
    }

    /// Mostly the call that is under way; else any that there ever was.
    private func aCall() -> UInt64 {
        if let underWay, pick(4) > 0 { return underWay }
        return UInt64(pick(begun.count + 1))
    }

    // MARK: - What comes out

    private func perform(_ actions: [Machine.Action], ending token: Int? = nil, of call: UInt64? = nil) {
        for action in actions {
            switch action {
            case .call(let number):
                check(underWay == nil, "two calls of the provider at once")
                check(begun[number] == nil, "a number of a call comes twice")
                check(!isFreed, "the provider is called for a source that was freed")
                if let until = waitsUntil { check(now >= until, "a retry came too early") }
                attempts = waitsUntil == nil ? 1 : attempts + 1
                check(attempts <= 3, "more attempts than the policy has")
                waitsUntil = nil
                begun[number] = step_
                underWay = number
                underWayUntil = now + settings.providerTimeout
            case .wake(let waiters, let ending):
                check(!waiters.isEmpty, "no waiter is woken")
                check(waiters == waiters.sorted(), "who came later is woken earlier")
                let last = waiters.last ?? -1
                for waiter in waiters {
                    check(waiting[waiter] != nil, "somebody is woken who does not wait")
                    if case .token(let cached) = ending, let place = waiting[waiter] {
                        check(cached.token == token, "a token comes that was not answered")
                        // T8: a caller that asked after the last clear gets nothing from before it.
                        let isOld = begun[UInt64(cached.token), default: 0] <= lastClear
                        check(
                            !(isOld && place.since > lastClear), "a token from before a clear came to one from after it"
                        )
                    } else {
                        check(token == nil, "a token was answered, and a failure comes")
                    }
                    waiting[waiter] = nil
                    end(waiter)
                }
                check(waiting.keys.allSatisfy { $0 > last }, "somebody was passed over")
            }
        }
    }

    private func end(_ waiter: Int) {
        check(ended.insert(waiter).inserted, "a caller has had two ends")
    }

    private func checkState() {
        check(waiting.isEmpty || machine.fetch != nil, "somebody waits for nothing")
        check(machine.fetch == nil || machine.nextTimer != nil, "a fetch may last forever")
        if let current = machine.current, kept == nil {
            check(now >= 0 && current.token < 0, "a token is kept that was dropped")
        }
    }
}
