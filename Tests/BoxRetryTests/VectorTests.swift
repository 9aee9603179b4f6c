import BoxRetry
import CBoxRetry
import TestSupport
import Testing

/// The files in Tests/vectors, through the C interface. `RetryCoreTests` reads the same ones through the core.
@Suite struct VectorTests {
    @Test("B6: each backoff delay in backoff.tsv") func backoff() throws {
        let lines = try vectors("backoff")
        #expect(lines.count == 1440)
        for line in lines {
            var options = boxretry_retry_options()
            try check(boxretry_retry_options_init(&options, MemoryLayout<boxretry_retry_options>.size))
            options.retry_base_interval = try #require(Double(line[1]))
            options.retry_randomization_factor = try #require(Double(line[2]))
            var delay = -1.0
            try check(
                boxretry_backoff_delay(
                    &options, try #require(Int32(line[0])), try #require(Double(line[3])), &delay))
            #expect(isClose(delay, try #require(Double(line[4]))), "\(line) gave \(delay)")
        }
    }

    @Test("T5: each token delay in token_delays.tsv") func tokenDelays() throws {
        let lines = try vectors("token_delays")
        #expect(lines.count == 168)
        for line in lines {
            var policy = boxretry_token_retry_policy()
            try check(boxretry_token_retry_policy_init(&policy, MemoryLayout<boxretry_token_retry_policy>.size))
            policy.initial_delay = try #require(Double(line[1]))
            policy.multiplier = try #require(Double(line[2]))
            policy.maximum_delay = try #require(Double(line[3]))
            policy.jitter_ratio = try #require(Double(line[4]))
            var delay = -1.0
            try check(
                boxretry_token_delay(&policy, try #require(Int32(line[0])), try #require(Double(line[5])), &delay))
            #expect(isClose(delay, try #require(Double(line[6]))), "\(line) gave \(delay)")
        }
    }

    @Test("B7: each value in retry_after.tsv") func retryAfter() throws {
        let lines = try vectors("retry_after")
        #expect(lines.count == 51)
        for line in lines {
            var seconds = -1.0
            let error = boxretry_parse_retry_after(line[0].replacing("\\t", with: "\t"), 1_790_000_000, &seconds)
            if line[1] == "-" {
                #expect(error == BOXRETRY_ERROR_NOT_USABLE && seconds == -1, "\(line)")
            } else {
                try check(error)
                #expect(isClose(seconds, try #require(Double(line[1]))), "\(line)")
            }
        }
    }

    @Test("B3–B7: each sequence of outcomes in decisions.tsv") func decisions() throws {
        let lines = try vectors("decisions")
        #expect(lines.count == 87)
        for line in lines {
            let strategy = try newStrategy {
                $0.max_attempts = try #require(Int32(line[1]))
                $0.max_retries_on_exception = try #require(Int32(line[2]))
                $0.retry_randomization_factor = 0
            }
            let loop = try newLoop(strategy) { $0.auth_available = try #require(Int32(line[3])) }
            let expected = line[5].split(separator: " ")
            for (outcome, action) in zip(line[4].split(separator: " "), expected) {
                #expect(try play(outcome, in: loop) == Step(named: action), "\(line)")
            }
            let error = #expect(throws: CError.self) { try next(loop, status: 200) }
            #expect(error?.name == "ended", "\(line)")
        }
    }
}

/// What the vectors say of a decision.
private struct Step: Equatable {
    var action: Int32
    var delay = 0.0
    var delaySource = Int32(BOXRETRY_DELAY_NONE)

    init(_ decision: boxretry_decision) {
        action = decision.action
        delay = decision.delay
        delaySource = decision.delay_source
    }

    /// `retry:b2`, `refresh:ra3.0`, `stop`, `success`
    init(named text: Substring) throws {
        let parts = text.split(separator: ":")
        let actions = [
            "stop": BOXRETRY_ACTION_STOP, "success": BOXRETRY_ACTION_SUCCEED, "retry": BOXRETRY_ACTION_RETRY,
            "refresh": BOXRETRY_ACTION_REFRESH_TOKEN_AND_RETRY,
        ]
        action = Int32(try #require(actions[String(parts[0])]))
        guard parts.count == 2 else { return }
        if parts[1].hasPrefix("b") {
            delay = Double(sign: .plus, exponent: try #require(Int(parts[1].dropFirst())), significand: 1)
            delaySource = Int32(BOXRETRY_DELAY_BACKOFF)
        } else {
            delay = try #require(Double(parts[1].dropFirst(2)))
            delaySource = Int32(BOXRETRY_DELAY_RETRY_AFTER)
        }
    }
}

private func play(_ outcome: Substring, in loop: Owned) throws -> Step {
    let parts = outcome.split(separator: "+ra=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts[0] != "E" else {
        return Step(try next(loop, status: 0) { $0.cause = Int32(BOXRETRY_CAUSE_CONNECT) })
    }
    let header = parts.count == 2 ? ("Retry-After", String(parts[1])) : nil
    return Step(try next(loop, status: try #require(Int32(parts[0])), header: header))
}
