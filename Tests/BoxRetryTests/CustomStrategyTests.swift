import BoxRetry
import CBoxRetry
import Testing

/// Strategies of the caller's own, through callbacks (B9).
@Suite struct CustomStrategyTests {
    @Test("B9: the callbacks see each outcome, successes too, with the number of its kind") func seesOutcomes() throws {
        let script = Script { script, outcome, number in
            script.seen.append("\(outcome.status)/\(outcome.cause)#\(number)")
            return outcome.status == 200 ? 0 : 1
        }
        let loop = try newLoop(script.strategy())
        for status: Int32 in [503, 0, 0, 404] { #expect(try next(loop, status: status).action == 1) }
        #expect(try next(loop, status: 200).action == BOXRETRY_ACTION_SUCCEED)
        #expect(script.seen == ["503/0#1", "0/0#1", "0/0#2", "404/0#4", "200/0#5"])
    }

    @Test("B9: a success may be retried, and a token refreshed") func retriesSuccess() throws {
        let script = Script { _, outcome, _ in outcome.status == 200 ? 1 : 2 }
        let loop = try newLoop(script.strategy())
        #expect(try next(loop, status: 200).action == BOXRETRY_ACTION_RETRY)
        #expect(try next(loop, status: 403).action == BOXRETRY_ACTION_REFRESH_TOKEN_AND_RETRY)
    }

    @Test(
        "B9: a delay that is NaN or negative counts as 0, one that is too large saturates",
        arguments: [(Double.nan, 0), (-1, 0), (-.infinity, 0), (.infinity, 2_147_483_647), (1.5, 1.5)])
    func delays(answer: Double, delay: Double) throws {
        let script = Script(delay: answer) { _, _, _ in 1 }
        let decision = try next(try newLoop(script.strategy()), status: 500)
        #expect(decision.delay == delay)
        #expect(decision.delay_source == BOXRETRY_DELAY_CUSTOM)
    }

    @Test("B9: without retry_after, Retry-After and the backoff are the delay") func defaultDelays() throws {
        let loop = try newLoop(Script { _, _, _ in 1 }.strategy())
        #expect(try next(loop, status: 404, header: ("Retry-After", "7")).delay == 7)
        #expect((2.0...6.0).contains(try next(loop, status: 404).delay))
    }

    @Test(
        "B9: a callback that does not answer, or with something else, ends the call",
        arguments: [BOXRETRY_ACTION_UNANSWERED, 3, 4, Int32.min])
    func failures(answer: Int32) throws {
        let loop = try newLoop(Script { _, _, _ in answer }.strategy())
        let error = #expect(throws: CError.self) { try next(loop, status: 500) }
        #expect(error?.name == "callback_failed")
        let afterwards = #expect(throws: CError.self) { try next(loop, status: 500) }
        #expect(afterwards?.name == "ended")
    }

    @Test("B9: so does a retry_after that does not answer") func failingDelay() throws {
        let script = Script(delay: BOXRETRY_DELAY_UNANSWERED) { _, _, _ in 1 }
        #expect(throws: CError.self) { try next(try newLoop(script.strategy()), status: 500) }
    }

    @Test("the context is freed once, when strategy and loops are gone, in any order") func contextFree() throws {
        let script = Script { _, _, _ in 1 }
        do {
            let loop: Owned
            do {
                let strategy = try script.strategy()
                loop = try newLoop(strategy)
            }
            #expect(script.timesFreed == 0)
            #expect(try next(loop, status: 500).action == BOXRETRY_ACTION_RETRY)
        }
        #expect(script.timesFreed == 1)
    }

    @Test("the context is not freed if the strategy could not be made") func contextKept() throws {
        let script = Script { _, _, _ in 1 }
        var callbacks = script.makeCallbacks()
        callbacks.should_retry = nil
        var strategy: OpaquePointer?
        #expect(boxretry_strategy_new_custom(&callbacks, &strategy) == BOXRETRY_ERROR_INVALID_ARGUMENT)
        #expect(strategy == nil && script.timesFreed == 0)
        Script.release(callbacks.context)
    }

    @Test("K4: what blocks refuses inside a callback, and the loop refuses its own") func insideCallbacks() throws {
        let script = Script { script, _, _ in
            script.seen.append(CError(boxretry_clock_sleep(nil, 0)).name)
            if let loop = script.loop {
                let error = #expect(throws: CError.self) { try next(loop, status: 500) }
                script.seen.append(error?.name ?? "")
            }
            return 1
        }
        let loop = try newLoop(script.strategy())
        script.loop = loop
        _ = try next(loop, status: 500)
        script.loop = nil
        #expect(script.seen == ["in_callback", "in_callback"])
        try check(boxretry_clock_sleep(nil, 0))
    }

    @Test("K5: a callback may free the loop and the strategy that it is called from") func freesItsOwner() throws {
        let script = Script { script, _, _ in
            script.freeOwners()
            return 1
        }
        var (strategy, loop): (OpaquePointer?, OpaquePointer?)
        var callbacks = script.makeCallbacks()
        try check(boxretry_strategy_new_custom(&callbacks, &strategy))
        try check(boxretry_retry_loop_new(strategy, nil, &loop))
        script.freeOwners = { [strategy, loop] in
            boxretry_strategy_free(strategy)
            boxretry_retry_loop_free(loop)
        }
        var outcome = boxretry_outcome()
        var decision = boxretry_decision()
        try check(boxretry_outcome_init(&outcome, MemoryLayout<boxretry_outcome>.size))
        try check(boxretry_decision_init(&decision, MemoryLayout<boxretry_decision>.size))
        outcome.status = 500
        try check(boxretry_retry_loop_next(loop, &outcome, &decision))
        #expect(decision.action == BOXRETRY_ACTION_RETRY)
        #expect(script.timesFreed == 1)
    }

    @Test("B9: the callbacks see the request, and whether its body can be sent again") func seesRequest() throws {
        let script = Script { script, outcome, _ in
            if let request = outcome.request?.pointee {
                script.seen += [request.method.text, request.url.text, request.headers[0].value.text]
                script.seen.append(request.user_pointer == script.pointer ? "mine" : "other")
            }
            script.seen.append("\(outcome.body_not_replayable) \(outcome.auth_available) \(outcome.request_sent)")
            return 0
        }
        let loop = try newLoop(script.strategy()) { $0.auth_available = 1 }
        var request = boxretry_request()
        try check(boxretry_request_init(&request, MemoryLayout<boxretry_request>.size))
        try "PUT".withCString { method in
            try "https://example.org/".withCString { url in
                try withUnsafePointer(to: boxretry_header(name: method, value: url)) { headers in
                    request.method = method
                    request.url = url
                    request.headers = headers
                    request.header_count = 1
                    request.user_pointer = script.pointer
                    _ = try withUnsafePointer(to: request) { request in
                        try next(loop, status: 500) {
                            $0.request = request
                            $0.body_not_replayable = 1
                            $0.request_sent = Int32(BOXRETRY_SENT_SOME)
                        }
                    }
                }
            }
        }
        #expect(script.seen == ["PUT", "https://example.org/", "https://example.org/", "mine", "1 1 2"])
    }
}

/// A custom strategy whose answers are a closure's. A strategy retains it, and lets go of it when its context is freed.
private final class Script {
    typealias Answer = (Script, boxretry_outcome, Int32) -> Int32

    var seen: [String] = []
    var timesFreed = 0
    var loop: Owned?
    var freeOwners: () -> Void = {}
    private let delay: Double?
    private let answer: Answer

    init(delay: Double? = nil, _ answer: @escaping Answer) {
        self.delay = delay
        self.answer = answer
    }

    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Retains the script, for the code that will call `context_free`.
    func makeCallbacks() -> boxretry_strategy_callbacks {
        boxretry_strategy_callbacks(
            struct_size: MemoryLayout<boxretry_strategy_callbacks>.size,
            context: Unmanaged.passRetained(self).toOpaque(),
            should_retry: { context, outcome, number, action in
                guard let script = Script.of(context), let outcome, let action else { return }
                action.pointee = script.answer(script, outcome.pointee, number)
            },
            retry_after: delay == nil
                ? nil
                : { context, _, _, delay in
                    guard let answer = Script.of(context)?.delay else { return }
                    delay?.pointee = answer
                },
            context_free: { context in
                Script.of(context)?.timesFreed += 1
                Script.release(context)
            })
    }

    func strategy() throws -> Owned {
        var callbacks = makeCallbacks()
        return try Owned(free: boxretry_strategy_free) { boxretry_strategy_new_custom(&callbacks, &$0) }
    }

    static func release(_ context: UnsafeMutableRawPointer?) {
        if let context { Unmanaged<Script>.fromOpaque(context).release() }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Script? {
        context.map { Unmanaged<Script>.fromOpaque($0).takeUnretainedValue() }
    }
}
