import RetryCore
import Testing

/// C3: the gate, fed with events in virtual time.
@Suite struct OriginGateTests {
    private static let second: Int64 = 1_000_000_000

    private func at(_ seconds: Double) -> Instant {
        Instant(nanoseconds: 0).advanced(bySeconds: seconds)
    }

    /// A gate that an answer at 0 s has closed for 1 s.
    private func closedGate(unlimited: Int32 = 8) -> OriginGate {
        OriginGate(closedUntil: Self.second, unlimited: unlimited)
    }

    /// The same after that second.
    private func openedGate(unlimited: Int32 = 8) -> OriginGate {
        var gate = closedGate(unlimited: unlimited)
        #expect(gate.timeHasCome(now: at(1)) == .admit(1))
        return gate
    }

    /// The passes of all that ask and may go.
    private func passes(_ gate: inout OriginGate, asking count: Int) -> [OriginGate.Pass] {
        (0..<count).compactMap { _ in
            if case .go(let pass) = gate.asked() { pass } else { nil }
        }
    }

    @Test("C3: a closed gate holds everything until its moment, and then lets one through") func closed() {
        var gate = closedGate()
        #expect(passes(&gate, asking: 3).isEmpty)
        #expect(gate.timeHasCome(now: at(0.999)) == .none)
        #expect(passes(&gate, asking: 3).isEmpty)
        #expect(gate.timeHasCome(now: at(1)) == .admit(1))
        #expect(passes(&gate, asking: 3).count == 1)
        #expect(gate.timeHasCome(now: at(2)) == .none, "it is not closed any more")
    }

    @Test("C3: the first good answer of each round doubles how many may be in flight, until there is no limit")
    func doubles() {
        var gate = openedGate()
        var inFlight = passes(&gate, asking: 10)
        #expect(gate.answered(.other, inFlight.removeFirst(), now: at(1.1)) == .admit(2))
        inFlight += passes(&gate, asking: 10)
        #expect(inFlight.count == 2)
        #expect(gate.answered(.other, inFlight.removeFirst(), now: at(1.2)) == .admit(3))
        inFlight += passes(&gate, asking: 10)
        #expect(inFlight.count == 4)
        #expect(gate.answered(.other, inFlight.removeFirst(), now: at(1.3)) == .admit(1), "of the round before")
        inFlight += passes(&gate, asking: 10)
        #expect(inFlight.count == 4)
        #expect(gate.answered(.other, inFlight.removeFirst(), now: at(1.4)) == .opened)
    }

    @Test("C3: what was answered well is the quota of the next opening; where it is used up, one finds out about more")
    func quota() {
        var gate = openedGate(unlimited: 1_000)
        var inFlight: [OriginGate.Pass] = []
        for _ in 0..<6 {
            inFlight += passes(&gate, asking: 10)
            _ = gate.answered(.other, inFlight.removeFirst(), now: at(1.1))
        }
        inFlight += passes(&gate, asking: 100)
        #expect(gate.answered(.comeBack(after: 1), inFlight.removeLast(), now: at(1.5)) != .none)
        #expect(gate.timeHasCome(now: at(2.5)) == .admit(1))
        inFlight = passes(&gate, asking: 10)
        _ = gate.answered(.other, inFlight.removeFirst(), now: at(2.6))
        inFlight = passes(&gate, asking: 10)
        _ = gate.answered(.other, inFlight.removeFirst(), now: at(2.7))
        inFlight += passes(&gate, asking: 10)
        #expect(
            inFlight.count == 5, "6 of 6 have begun, 2 of these were answered; the fifth is the one that tries")
        #expect(passes(&gate, asking: 10).isEmpty)
        #expect(gate.answered(.other, inFlight.removeFirst(), now: at(2.8)) == .none, "the steps have begun again")
        #expect(gate.answered(.other, inFlight.removeLast(), now: at(2.9)) == .admit(2))
    }

    @Test("C3: another 429 closes it again, and the steps begin again") func closesAgain() {
        var gate = openedGate(unlimited: 1_000)
        var inFlight = passes(&gate, asking: 1)
        _ = gate.answered(.other, inFlight.removeFirst(), now: at(1.1))
        inFlight = passes(&gate, asking: 2)
        #expect(gate.answered(.comeBack(after: 2), inFlight[0], now: at(2)) == .closed(until: 4 * Self.second))
        #expect(passes(&gate, asking: 1).isEmpty)
        #expect(gate.answered(.other, inFlight[1], now: at(2.1)) == .none, "an answer that is late opens nothing")
        #expect(gate.timeHasCome(now: at(4)) == .admit(1))
        #expect(passes(&gate, asking: 5).count == 1)
    }

    @Test("C3: of several moments the latest counts") func latest() {
        var gate = closedGate()
        #expect(gate.answered(.comeBack(after: 0.2), .withoutGate, now: at(0.1)) == .none)
        #expect(gate.answered(.comeBack(after: 3), .withoutGate, now: at(0.5)) == .extended(until: 3_500_000_000))
        #expect(gate.timeHasCome(now: at(1)) == .none)
        #expect(gate.timeHasCome(now: at(3.5)) == .admit(1))
    }

    @Test("C3: what began before the gate closed neither takes a place nor widens it") func earlier() {
        var gate = openedGate()
        #expect(gate.answered(.other, .withoutGate, now: at(1.1)) == .none)
        #expect(gate.gaveUp(.withoutGate) == .none)
        let pass = passes(&gate, asking: 5)
        #expect(pass.count == 1)
        _ = gate.answered(.comeBack(after: 1), pass[0], now: at(2))
        _ = gate.timeHasCome(now: at(3))
        #expect(passes(&gate, asking: 5).count == 1)
        #expect(gate.answered(.other, pass[0], now: at(3.1)) == .none, "a pass of the opening before")
        #expect(gate.gaveUp(pass[0]) == .none)
    }

    @Test("C3: 429 and 503 without a Retry-After widen nothing, and give their place to the next") func overloaded() {
        var gate = openedGate()
        let pass = passes(&gate, asking: 1)
        #expect(gate.answered(.overloaded, pass[0], now: at(1.1)) == .admit(1))
        #expect(passes(&gate, asking: 5).count == 1)
    }

    @Test("C3: an attempt that ends without an answer gives its place to the next") func gaveUp() {
        var gate = openedGate()
        let pass = passes(&gate, asking: 1)
        #expect(gate.gaveUp(pass[0]) == .admit(1))
        #expect(passes(&gate, asking: 5).count == 1)
    }

    @Test("C3: 429, and 503, with a usable Retry-After close a gate; no other answer does")
    func answers() {
        let usable = RetryAfter.usable(7, .retryAfter)
        for status in [Int32(429), 503] {
            let answer = OriginGate.Answer(status: status, retryAfter: usable)
            #expect(OriginGate.moment(of: answer, now: at(1)) == 8 * Self.second)
            for unusable in [RetryAfter.absent, .notUsable] {
                let other = OriginGate.Answer(status: status, retryAfter: unusable)
                #expect(other == .overloaded && OriginGate.moment(of: other, now: at(1)) == nil)
            }
        }
        for status in [Int32(200), 202, 401, 500, 502] {
            #expect(OriginGate.Answer(status: status, retryAfter: usable) == .other)
        }
    }

    @Test("C3: a round in which fewer are in flight than may be widens nothing; once it is full, its answers do")
    func notFull() {
        var gate = openedGate()
        _ = gate.answered(.other, passes(&gate, asking: 1)[0], now: at(1.1))
        for _ in 0..<10 {
            #expect(gate.answered(.other, passes(&gate, asking: 1)[0], now: at(1.2)) == .admit(1))
        }
        #expect(gate.places == 2)
        let both = passes(&gate, asking: 3)
        #expect(both.count == 2 && gate.places == 0)
        #expect(gate.answered(.other, both[0], now: at(1.3)) == .admit(3))
    }

    @Test("C3: what was let through and is answered well after the gate has closed counts for the next opening")
    func late() {
        var gate = openedGate(unlimited: 1_000)
        for _ in 0..<3 { _ = gate.answered(.other, passes(&gate, asking: 100)[0], now: at(1.1)) }
        let inFlight = passes(&gate, asking: 100)
        _ = gate.answered(.comeBack(after: 1), inFlight[0], now: at(1.2))
        for pass in inFlight.dropFirst() { #expect(gate.answered(.other, pass, now: at(1.3)) == .none) }
        _ = gate.timeHasCome(now: at(2.2))
        var begun = 0
        while gate.places > 0, begun < 3 + inFlight.count - 1 {
            for pass in passes(&gate, asking: 1) {
                begun += 1
                _ = gate.answered(.other, pass, now: at(2.3))
            }
        }
        #expect(gate.places == 1 && passes(&gate, asking: 5).count == 1, "the quota is used up")
    }

    @Test("C3: the longest Retry-After and the largest limit neither trap nor wrap") func extremes() {
        var gate = openedGate(unlimited: .max)
        for step in 1...12 {
            let pass = passes(&gate, asking: 1 << step)
            #expect(gate.answered(.other, pass[0], now: at(1)) == .admit(1 << (step - 1) + 1))
        }
        let far = gate.answered(.comeBack(after: Delay.maximum), .withoutGate, now: Instant.distantFuture)
        #expect(far == .closed(until: Instant.distantFuture.nanoseconds))
        for unlimited in [Int32.min, -1, 0, 1, 2] {
            var small = openedGate(unlimited: unlimited)
            let one = passes(&small, asking: 2)
            #expect(one.count == 1 && small.answered(.other, one[0], now: at(1)) == .opened)
        }
    }

    @Test("F123: 1,000 calls at a server that allows 50 a second: at most 1.2 requests for each success; off: 10")
    func rateLimited() {
        let on = RateLimitedServer.requests(isGated: true)
        let off = RateLimitedServer.requests(isGated: false)
        #expect(on <= 1_200, "\(on)")
        #expect(off > 9_000, "\(off)")
    }
}

/// A server that counts within each second, and answers 429 with Retry-After: 1 beyond 50. An answer takes 20 ms; 64 attempts
/// may be in flight.
private struct RateLimitedServer {
    private var gate: OriginGate?
    private var alarm = Int64.max
    private var waiting = 1_000
    private var sleeping: [Int64] = []
    private var answers: [(time: Int64, pass: OriginGate.Pass, isLimited: Bool)] = []
    private var second: Int64 = 0
    private var servedInSecond = 0
    private var requests = 0

    /// How many requests 1,000 calls need until all have succeeded.
    static func requests(isGated: Bool) -> Int {
        var server = RateLimitedServer()
        var successes = 0
        server.send(at: 0)
        while successes < 1_000, server.requests < 100_000 {
            let now = min(server.answers.first?.time ?? .max, server.alarm, server.sleeping.first ?? .max)
            if server.alarm <= now {
                server.alarm = .max
                if let action = server.gate?.timeHasCome(now: Instant(nanoseconds: now)) { server.run(action) }
            }
            while let due = server.sleeping.first, due <= now {
                server.sleeping.removeFirst()
                server.waiting += 1
            }
            while let first = server.answers.first, first.time <= now {
                server.answers.removeFirst()
                if first.isLimited { server.sleeping.append(now + 1_000_000_000) } else { successes += 1 }
                if isGated { server.reportToGate(first.isLimited ? .comeBack(after: 1) : .other, first.pass, now) }
            }
            server.send(at: now)
        }
        #expect(successes == 1_000)
        return server.requests
    }

    private mutating func send(at now: Int64) {
        while waiting > 0, answers.count < 64 {
            var pass = OriginGate.Pass.withoutGate
            if gate != nil {
                guard case .go(let given)? = gate?.asked() else { return }
                pass = given
            }
            waiting -= 1
            requests += 1
            if second != now / 1_000_000_000 { (second, servedInSecond) = (now / 1_000_000_000, 0) }
            servedInSecond += 1
            answers.append((now + 20_000_000, pass, servedInSecond > 50))
        }
    }

    private mutating func reportToGate(_ answer: OriginGate.Answer, _ pass: OriginGate.Pass, _ now: Int64) {
        let instant = Instant(nanoseconds: now)
        if let action = gate?.answered(answer, pass, now: instant) { return run(action) }
        guard let moment = OriginGate.moment(of: answer, now: instant) else { return }
        gate = OriginGate(closedUntil: moment, unlimited: 512)
        alarm = moment
    }

    private mutating func run(_ action: OriginGate.Action) {
        switch action {
        case .none, .admit: break
        case .closed(let until), .extended(let until): alarm = until
        case .opened: gate = nil
        }
    }
}
