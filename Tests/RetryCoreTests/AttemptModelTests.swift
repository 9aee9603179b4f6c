import Testing

@testable import RetryCore

/// Random sequences of events through an attempt, and beside it a model as simple as can be: it has no states, only a list
/// of what has happened in this sending, and says what must hold.
@Suite struct AttemptModelTests {
    @Test("B2 B12 B13 B15: the invariants hold for any events in any order", arguments: 0..<10)
    func invariants(seed: Int) {
        for round in 0..<100 {
            let walk = AttemptWalk(seed: UInt64(seed * 1_000 + round))
            for _ in 0..<60 where walk.problem == nil { walk.step() }
            #expect(walk.problem == nil, "seed \(seed), round \(round): \(walk.history.suffix(30))")
        }
    }

    @Test("the walks reach what they are there for") func coverage() {
        var seen: [String: Int] = [:]
        for seed in 0..<3_000 {
            let walk = AttemptWalk(seed: UInt64(seed))
            for _ in 0..<60 { walk.step() }
            for (name, count) in walk.seen { seen[name, default: 0] += count }
        }
        for name in [
            "response", "exception", "local", "notSent", "refused", "reconnect", "redirect", "kept end", "ended first",
            "decided first", "veto", "held", "late",
        ] {
            #expect(seen[name, default: 0] > 10, "\(name): \(seen[name, default: 0])")
        }
    }
}

private final class AttemptWalk {
    private let attempt = AttemptScene()
    private var random: SplitMix64
    private(set) var problem: String?
    private(set) var history: [String] = []
    private(set) var seen: [String: Int] = [:]

    // What the model knows of this sending.
    private var request = Exchange.Request()
    private var isUnderWay = false
    private var sent = 0
    private var status: Int32 = 0
    private var hasHead = false
    private var isAsked = false
    private var keptEnd: AttemptEnd?
    private var isPaused = false
    private var firstLocal: LocalFailure?
    private var isStopped = false
    private var isRefused = false
    // And of the whole attempt.
    private var mayHaveActed = false
    private var wasRefused = false
    private var hasBegun = false
    private var isOver = false

    init(seed: UInt64) {
        random = SplitMix64(state: seed)
    }

    private func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    private func flip() -> Bool { pick(2) == 0 }
    private func countEvent(_ name: String) { seen[name, default: 0] += 1 }
    private func check(_ holds: Bool, _ what: String) {
        if !holds, problem == nil { problem = what; history.append("! " + what) }
    }

    func step() {
        guard !isOver else { return checkLate() }
        guard isUnderWay else { return start() }
        if isStopped { return end() }  // The transport obeys.
        switch pick(100) {
        case 0..<20: send()
        case 20..<55: receive()
        case 55..<63: body()
        case 63..<68: pause()
        case 68..<76: resume()
        case 76..<82: decide()
        case 82..<90: refuse()
        case 90: fail()
        default: end()
        }
        checkFacts()
    }

    private func start() {
        history.append("start")
        if attempt.begin(at: 0, boottime: 0) == hasBegun { check(false, "begins once") }
        hasBegun = true
        request = Exchange.Request()
        (request.hasBody, request.hasSink, request.negotiatesHTTP2) = (flip(), flip(), flip())
        _ = attempt.startSending(request, at: 0)
        isUnderWay = true
        (sent, status, hasHead, isAsked, keptEnd, isPaused) = (0, 0, false, false, nil, false)
        (firstLocal, isStopped, isRefused) = (nil, false, false)
        checkFacts()
    }

    private func send() {
        guard status == 0, sent == 0 || pick(8) == 0 else { return }
        let problem: ConnectionProblem? = pick(6) == 0 ? .stale : nil
        history.append("send \(problem.map { "\($0)" } ?? "")")
        let permission = attempt.maySend(over: request.negotiatesHTTP2 ? .http2 : .http1, problem)
        if problem != nil, sent == 0 {
            check(permission == .avoid(.stale), "an unusable connection is avoided")
            return isStopped = true
        }
        sent += 1
        check(permission == (sent == 1 ? .send : .veto), "sent once")
        if sent > 1 { (isStopped, _) = (true, countEvent("veto")) }
    }

    private func receive() {
        guard sent == 1, !hasHead else { return }
        let line = [103, 200, 202, 302, 404, 503][pick(6)]
        history.append("head \(line)")
        let version = request.negotiatesHTTP2 ? "HTTP/2" : "HTTP/1.1"
        check(attempt.take("\(version) \(line)", hasSentAll: flip()), "a status line is taken")
        status = Int32(line)
        if pick(5) == 0 { return end() }
        guard attempt.takeLine("") == .endHead else { return check(status < 200, "a final head ends") }
        hasHead = true
        let isAsking = request.hasSink && (200..<300).contains(status)
        check(attempt.headEnded() == (isAsking ? .ask : .keep), "a sink's body waits for the decision")
        isAsked = isAsking
    }

    private func body() {
        guard hasHead else { return }
        history.append("body")
        let action = attempt.body(3, held: 0)
        check((action == .pause) == isAsked, "nothing is taken before the decision")
        if action != .pause { attempt.bodyTaken(3) }
    }

    private func pause() {
        history.append("pause")
        attempt.paused()
        isPaused = true
        countEvent("held")
    }

    private func resume() {
        history.append("resume")
        check(attempt.resumed() == !isAsked, "a resume waits for the decision")
        if !isAsked { isPaused = false }
    }

    private func decide() {
        let retries = flip()
        history.append("decide \(retries)")
        let decided = attempt.decided(retries: retries)
        guard isAsked else { return check(decided == .tooLate, "the strategy was not asked") }
        check(decided == .go(retries ? .nowhere : .sink, end: keptEnd), "the decision comes with the end that was kept")
        isAsked = false
        if !retries { attempt.sinkStarted() }
        countEvent(keptEnd == nil ? "decided first" : "ended first")
        if let end = keptEnd {
            keptEnd = nil
            finish(end)
        }
    }

    private func refuse() {
        history.append("refuse")
        let isAboutIt = request.negotiatesHTTP2 && status == 0
        check(attempt.needsHTTP1() == isAboutIt, "a refusal comes before the response")
        isRefused = isAboutIt
    }

    private func fail() {
        let failure: LocalFailure = flip() ? .sink : .outOfMemory
        history.append("fail \(failure)")
        attempt.failed(failure)
        if firstLocal == nil { firstLocal = failure }
        if !isAsked { isStopped = true }
    }

    private func end() {
        let ends: [TransportEnd] = [
            .done, .done, .aborted, .failed(.receive), .lost(mayBeDead: flip()), .deadConnection, .failed(.protocol),
            .writeFailed(hasSentAll: flip(), mayBeDead: flip()), .timedOut(.timeoutIdle), .local(.setting),
        ]
        let end = AttemptEnd(ends[pick(ends.count)], code: 0, at: 0)
        guard isAsked else { return finish(end) }
        history.append("kept \(end.end)")
        check(attempt.transportEnded(end, .init()) == .none, "the end waits for the decision")
        if keptEnd == nil { keptEnd = end }
        countEvent("kept end")
    }

    private func finish(_ end: AttemptEnd) {
        var context = AttemptMachine.Context()
        (context.isIdempotent, context.isReplayable) = (flip(), flip())
        let action = attempt.transportEnded(end, context)
        history.append("end \(end.end), \(context): \(action)")
        check(attempt.transportEnded(end, context) == .none, "there is one end")
        if let firstLocal { check(action == .end(.local(firstLocal)), "a local failure is the end") }
        switch action {
        case .none: check(false, "an end is acted on")
        case .sendAgain(.notSent):
            check(sent == 0, "what was sent is not sent again uncounted")
            again("notSent")
        case .sendAgain(.refused):
            check(isRefused && !wasRefused && context.isReplayable, "a refusal, once")
            wasRefused = true
            again("refused")
        case .sendAgain(.reconnect): check(false, "a reconnect is asked for first")
        case .askToReconnect:
            check(context.isIdempotent && context.isReplayable, "only what is safe is sent again")
            guard flip() else {
                check(attempt.reconnectAllowed(false) == .end(.exception(.receive)), "no reconnect")
                return over("exception")
            }
            check(attempt.reconnectAllowed(true) == .sendAgain(.reconnect), "a reconnect")
            mayHaveActed = true
            again("reconnect")
        case .response:
            check(hasHead && firstLocal == nil, "a response has a head")
            guard (300..<400).contains(status), flip() else { return over("response") }
            let followed = attempt.redirected(
                takesBody: request.hasBody, isReplayable: context.isReplayable, maximum: 2)
            guard followed == .followed else { return over("response") }
            check(!request.hasBody || context.isReplayable, "a body that is gone is not sent again")
            mayHaveActed = true
            again("redirect")
        case .end(.exception): over("exception")
        case .end(.local): over("local")
        case .end(.response), .end(.replay), .end(.part): check(false, "\(action)")
        }
    }

    private func again(_ name: String) {
        countEvent(name)
        attempt.queueAgain()
        (isUnderWay, sent, isPaused, status) = (false, 0, false, 0)
        checkFacts()
    }

    private func over(_ name: String) {
        countEvent(name)
        isOver = true
    }

    private func checkFacts() {
        guard !isOver else { return }
        check(attempt.isHeld == (isUnderWay && (isPaused || isAsked)), "it is held while somebody is not ready")
        check((attempt.requestSent == .some) == (sent > 0 || mayHaveActed), "what has left is known")
        check(attempt.isOpen, "it is in the record until its end")
    }

    private func checkLate() {
        countEvent("late")
        check(attempt.transportEnded(.done) == .none && !attempt.resumed(), "nothing happens after the end")
        check(attempt.decided(retries: true) == .tooLate, "nor is a decision taken")
    }
}
