import CShims
import RetryCore
import Testing

@testable import CurlEngine

/// C3: the origin gate in the engine, in virtual time.
@Suite struct GateTests {
    /// The events about gates: the kind, seconds since the call was made, the status, and the delay.
    final class Log {
        private(set) var events: [String] = []
        private var ends: [ObjectIdentifier: Double] = [:]

        /// Seconds since the call was made at which it ended.
        func end(of call: Call?) -> Double? { call.flatMap { ends[ObjectIdentifier($0)] } }

        func add(_ event: EngineEvent) {
            if event.kind == .callEnded { ends[ObjectIdentifier(event.call)] = Double(event.at) / 1e9 }
            guard event.kind == .gateClosed || event.kind == .gateOpened else { return }
            events.append("\(event.kind) at \(Double(event.at) / 1e9): \(event.status), \(event.delay)")
        }
    }

    private let log = Log()

    private var noRetries: BoxRetryStrategy {
        var options = BoxRetryOptions()
        options.maxAttempts = 1
        options.maxRetriesOnException = 0
        return BoxRetryStrategy(checked: options)
    }

    private func scene(_ scripts: Script..., isOn: Bool = true, maxTransfers: Int = 4) throws -> Scene {
        let log = log
        return try Scene(scripts, maxTransfers: maxTransfers, sharesRetryAfter: isOn) { log.add($0) }
    }

    /// Begins calls at that time.
    private func submit(_ calls: Call..., to scene: Scene, at seconds: Double) {
        scene.transport.at(seconds: seconds) {
            for call in calls { #expect(scene.engine.submit(call) == .begun) }
        }
    }

    private func result(of call: Call, in scene: Scene) throws -> CallResult {
        _ = scene.engine.wait(for: call, until: .max)
        return try #require(scene.engine.takeResult(of: call))
    }

    @Test("after a 429 with Retry-After, all attempts to the origin wait; then one goes, then two, then all")
    func holds() throws {
        let scene = try scene(.status(429, "Retry-After: 5"), .status(200, after: 1))
        let others = try [scene.makeCall(), scene.makeCall()]
        submit(others[0], others[1], to: scene, at: 1)
        let first = try scene.perform()
        #expect(scene.transport.begun.map(\.at) == [0, 5, 6, 6])
        #expect(first.records.map(\.status) == [429, 200] && first.records.map(\.number) == [1, 2])
        #expect(first.records.map(\.startedAt) == [0, 6_000_000_000], "an attempt begins when it is let through")
        for other in others {
            let result = try result(of: other, in: scene)
            #expect(result.status == 200 && result.records.count == 1)
        }
        #expect(log.events == ["gateClosed at 0.0: 429, 5.0", "gateOpened at 7.0: 200, 0.0"])
        let stats = scene.engine.currentStats
        #expect((stats.gatesClosed, stats.gatesOpened, stats.held) == (1, 1, 3))
        #expect((stats.attempts, stats.retries) == (4, 1))
        #expect(scene.engine.starting.gates == 0 && scene.engine.timers.count == 0)
    }

    @Test("off by default: each call keeps its own Retry-After, and no host is counted for it") func off() throws {
        let scene = try scene(.status(503, "Retry-After: 5"), .status(200), isOn: false)
        let other = try scene.makeCall()
        submit(other, to: scene, at: 1)
        #expect(try scene.perform().status == 200)
        #expect(scene.transport.begun.map(\.at) == [0, 1, 5])
        #expect(log.events.isEmpty && !other.isCountedByHost)
    }

    @Test("another origin is not held, and a 503 without a usable Retry-After holds nothing") func others() throws {
        let scene = try scene(
            .status(503, "Retry-After: 5"), .status(503, "Retry-After: soon"), .status(200))
        let other = try scene.makeCall(url: "http://127.0.0.2/")
        submit(other, to: scene, at: 1)
        #expect(try scene.perform().status == 200)
        #expect(scene.transport.begun.map(\.at) == [0, 1, 3, 5])
        #expect(log.events.count == 1)
    }

    @Test("deadlines and cancels work behind a gate, and a request that was never sent does not count as an attempt")
    func ends() throws {
        let scene = try scene(.status(429, "Retry-After: 5"), .status(200, after: 10))
        let late = try scene.makeCall { $0.deadline = 2_000 }
        let cancelled = try scene.makeCall()
        let through = try scene.makeCall()
        submit(late, cancelled, through, to: scene, at: 1)
        scene.transport.at(seconds: 2) { scene.engine.cancel(cancelled) }
        scene.transport.at(seconds: 7) { scene.call.map { scene.engine.cancel($0) } }
        let first = try scene.perform()
        // Its second attempt was held behind `through`, which was under way.
        #expect(first.ending == .cancelled && first.records.map(\.status) == [429] && first.status == 429)
        let (lateResult, cancelledResult) = try (result(of: late, in: scene), result(of: cancelled, in: scene))
        #expect(lateResult.ending == .deadline && lateResult.records.isEmpty)
        #expect(cancelledResult.ending == .cancelled && cancelledResult.records.isEmpty)
        #expect(try result(of: through, in: scene).status == 200)
        #expect([scene.call, late, cancelled, through].map { log.end(of: $0) } == [7, 2, 2, 15])
        #expect(scene.transport.begun.map(\.at) == [0, 5])
        let stats = scene.engine.currentStats
        #expect((stats.attempts, stats.retries, stats.held) == (2, 0, 4))
    }

    @Test("an attempt that ends without an answer, or is canceled, gives its place to the next") func places() throws {
        let scene = try scene(
            .status(429, "Retry-After: 1"), .exception(.receive, after: 1), .silence, .status(200, after: 1))
        let calls = try [
            scene.makeCall(strategy: noRetries), scene.makeCall(), scene.makeCall(),
        ]
        submit(calls[0], calls[1], calls[2], to: scene, at: 0.5)
        scene.transport.at(seconds: 3) { scene.engine.cancel(calls[1]) }
        #expect(try scene.perform().status == 200)
        // The exception at 2 s, the cancel at 3 s, the first good answer at 4 s.
        #expect(scene.transport.begun.map(\.at) == [0, 1, 2, 3, 4])
        for call in calls { _ = try result(of: call, in: scene) }
    }

    @Test(
        "a redirect to a gated origin waits within its attempt, whose resource time keeps running (M2)",
        arguments: [false, true])
    func redirected(timesOut: Bool) throws {
        let scene = try scene(
            .status(429, "Retry-After: 9"), .status(302, "Location: http://127.0.0.2/x"), .status(200))
        #expect(try scene.perform(url: "http://127.0.0.2/", strategy: noRetries).status == 429)
        let redirected = try scene.perform { if timesOut { $0.resourceTimeout = 3_000_000_000 } }
        #expect(redirected.status == 200 && redirected.redirects.count == 1)
        if timesOut {
            #expect(redirected.records.map(\.cause) == [.timeoutResource, .none])
            #expect(redirected.records.map(\.requestSent) == [.some, .some])
            #expect(scene.transport.begun.map(\.at) == [0, 0, 5], "nothing was sent after the redirect")
        } else {
            #expect(redirected.records.count == 1 && redirected.lastEnd == 9)
        }
    }

    @Test(
        "a Retry-After above the strategy's cap closes the gate for the cap only, or not if such calls end there (B11)")
    func capped() throws {
        for (overCap, begins) in [(BoxRetryOptions.OverCap.clamp, [0.0, 2]), (.stop, [0, 1])] {
            let scene = try scene(.status(429, "Retry-After: 100"), .status(200))
            var options = BoxRetryOptions()
            options.retryAfterCap = 2
            options.retryAfterOverCap = overCap
            if overCap == .clamp { options.maxAttempts = 1 }
            #expect(try scene.perform(strategy: BoxRetryStrategy(checked: options)).status == 429)
            scene.transport.at(seconds: 1) {}
            _ = scene.clock.advance(bySeconds: 1)
            #expect(try scene.perform().status == 200)
            #expect(scene.transport.begun.map(\.at) == begins)
        }
    }

    @Test("C2: the jitter of the strategy holds for the gate's moment, too") func jittered() throws {
        var moments: [Double] = []
        for _ in 0..<20 {
            let scene = try scene(.status(429, "Retry-After: 2"), .status(200))
            var options = BoxRetryOptions()
            options.retryAfterJitter = 1
            options.maxAttempts = 1
            #expect(try scene.perform(strategy: BoxRetryStrategy(checked: options)).status == 429)
            #expect(try scene.perform().status == 200)
            moments.append(try #require(scene.transport.begun.last).at)
        }
        #expect(moments.allSatisfy { (2...4).contains($0) })
        #expect((moments.max() ?? 0) - (moments.min() ?? 0) > 0.5)
    }

    @Test("a gate that has held no attempt for a minute is dropped") func dropped() throws {
        let scene = try scene(.status(429, "Retry-After: 5"), .status(200), .status(200, after: 200))
        #expect(try scene.perform(strategy: noRetries).status == 429)
        _ = scene.clock.advance(bySeconds: 50)
        #expect(try scene.perform(url: "http://127.0.0.2/").status == 200)
        #expect(scene.engine.starting.gates == 1)
        #expect(try scene.perform(url: "http://127.0.0.2/") { $0.idleTimeout = .max }.status == 200)
        #expect(scene.engine.starting.gates == 0 && log.events.count == 1)
    }

    @Test("an attempt that several gates hold one after another counts as held once") func heldOnce() throws {
        let refusal = Script.status(503, "Retry-After: 1")
        let scene = try scene(refusal, .status(200), refusal, .status(200), refusal, .status(200), maxTransfers: 1)
        let calls = try (0..<5).map { _ in try scene.makeCall(strategy: noRetries) }
        // On the loop: the first refusal comes when all of them wait.
        submit(calls[0], calls[1], calls[2], calls[3], calls[4], to: scene, at: 0)
        #expect(try scene.perform(strategy: noRetries).status == 503)
        for call in calls { _ = try result(of: call, in: scene) }
        let stats = scene.engine.currentStats
        #expect((stats.attempts, stats.gatesClosed, stats.gatesOpened, stats.held) == (6, 3, 3, 5))
    }

    @Test("the first attempt after a gate's time has come is not held") func timeHasCome() throws {
        let scene = try scene(.status(429, "Retry-After: 5"), .status(200))
        #expect(try scene.perform(strategy: noRetries).status == 429)
        _ = scene.clock.advance(bySeconds: 6)
        #expect(try scene.perform().status == 200)
        #expect(scene.transport.begun.map(\.at) == [0, 6])
        #expect(scene.engine.currentStats.held == 0)
    }

    @Test("C3: in 20 random programs, gates are kept to, and what a gate lets through does not wait")
    func randomPrograms() throws {
        let scene = try scene(.status(200))
        for seed in UInt64(1)...20 {
            var program = try GateProgram(seed: seed, scene)
            for _ in 0..<1_000 { try program.step() }
            try program.end()
        }
    }
}

/// Random events for a queue in which hosts may have gates.
private struct GateProgram {
    private let scene: Scene
    private var random: Generator
    private var queue = StartQueue()
    private var settings = EngineSettings()
    private var now: Int64 = 0
    private var gates: [HostGate] = []
    private var waiting: [Call] = []
    private var running: [Call] = []

    init(seed: UInt64, _ scene: Scene) throws {
        self.scene = scene
        random = Generator(state: seed)
        settings.sharesRetryAfter = true
        settings.transport.maxTransfers = 20
        if seed % 2 == 0 { settings.maxTransfersForOneHost = 5 }
    }

    mutating func step() throws {
        now += Int64.random(in: 0..<10, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1, 2:
            let call = try scene.makeCall(url: "http://127.0.0.\(Int.random(in: 1..<4, using: &random))/")
            queue.append(call, settings, probes: false)
            waiting.append(call)
        case 3:
            guard let index = waiting.indices.randomElement(using: &random) else { break }
            queue.remove(waiting.remove(at: index))
        case 4:
            for gate in gates where gate.timeHasCome(now: now) { queue.requeue(gate.host) }
        default:
            guard let index = running.indices.randomElement(using: &random) else { break }
            let call = running.remove(at: index)
            answer(call)
            queue.ended(call.target, isCounted: true, pass: call.takeGatePass())
        }
        start()
    }

    private mutating func answer(_ call: Call) {
        let answers: [OriginGate.Answer?] = [.comeBack(after: 1e-7), .overloaded, .other, .other, .other, nil]
        guard let answer = answers.randomElement(using: &random) ?? nil else { return }  // Without an answer.
        let instant = Instant(nanoseconds: now)
        guard let host = queue.hosts.knownIndex(for: call.target.parsedURL) else { return }
        guard let gate = queue.hosts[host].gate else {
            guard let moment = OriginGate.moment(of: answer, now: instant) else { return }
            let gate = HostGate(
                scene.engine, host: host, OriginGate(closedUntil: moment, unlimited: 20), unitRandom: 0, now: now)
            gates.append(gate)
            return queue.add(gate)
        }
        let pass = call.takeGatePass().map { $0.gate === gate ? $0.pass : .withoutGate } ?? .withoutGate
        if gate.value.answered(answer, pass, now: instant) == .opened {
            gates.removeAll { $0 === gate }
            queue.remove(gate)
        } else {
            queue.requeue(host)
        }
    }

    private mutating func start() {
        while let next = queue.next(settings, now: now) {
            let origin = next.target.parsedURL.origin
            let first = waiting.firstIndex { $0.target.parsedURL.origin == origin }
            #expect(first.map { waiting[$0] === next } == true, "first come, first served")
            waiting.removeAll { $0 === next }
            running.append(next)
            #expect(next.gatePass != nil || gate(of: next) == nil, "it has passed the gate")
        }
        for call in waiting where running.count < settings.transport.maxTransfers {
            let ofHost = running.filter { $0.target.parsedURL.origin == call.target.parsedURL.origin }.count
            let isHeld = gate(of: call)?.value.places == 0
            #expect(isHeld || ofHost == settings.maxTransfersForOneHost, "it could have begun")
            #expect(gate(of: call)?.value.places(at: now) != 0 || queue.isHeld(call, now: now))
        }
        #expect(queue.isEmpty == waiting.isEmpty && queue.gates == gates.count)
    }

    /// Once everything is answered well, nothing is held, and nothing is left.
    mutating func end() throws {
        while !waiting.isEmpty || !running.isEmpty {
            now += 1_000
            for gate in gates where gate.timeHasCome(now: now) { queue.requeue(gate.host) }
            start()
            guard let call = running.popLast() else { throw Engine.SetupFailure.exhausted }
            queue.ended(call.target, isCounted: true, pass: call.takeGatePass())
            start()
        }
        for gate in gates { queue.remove(gate) }
        #expect(queue.gates == 0)
    }

    private func gate(of call: Call) -> HostGate? {
        queue.hosts.knownIndex(for: call.target.parsedURL).flatMap { queue.hosts[$0].gate }
    }
}
