import RetryCore
import TestSupport
import Testing

/// The files in Tests/vectors, through the core. `BoxRetryTests` reads the same ones through the C interface.
@Suite struct VectorTests {
    @Test("B6: each backoff delay in backoff.tsv") func backoff() throws {
        let lines = try vectors("backoff")
        #expect(lines.count == 1440)
        for line in lines {
            var options = BoxRetryOptions()
            options.retryBaseInterval = try #require(Double(line[1]))
            options.retryRandomizationFactor = try #require(Double(line[2]))
            let delay = options.backoffDelay(
                attemptNumber: try #require(Int32(line[0])), unitRandom: try #require(Double(line[3])))
            #expect(isClose(delay, try #require(Double(line[4]))), "\(line) gave \(delay)")
        }
    }

    @Test("T5: each token delay in token_delays.tsv") func tokenDelays() throws {
        let lines = try vectors("token_delays")
        #expect(lines.count == 168)
        for line in lines {
            var policy = TokenRetryPolicy()
            policy.initialDelay = try #require(Double(line[1]))
            policy.multiplier = try #require(Double(line[2]))
            policy.maximumDelay = try #require(Double(line[3]))
            policy.jitterRatio = try #require(Double(line[4]))
            try policy.validate()
            let delay = policy.delay(
                afterFailure: try #require(Int32(line[0])), unitRandom: try #require(Double(line[5])))
            #expect(isClose(delay, try #require(Double(line[6]))), "\(line) gave \(delay)")
        }
    }

    @Test("B7: each value in retry_after.tsv") func retryAfter() throws {
        let lines = try vectors("retry_after")
        #expect(lines.count == 51)
        for line in lines {
            let value = line[0].replacing("\\t", with: "\t")
            let seconds = parseRetryAfter(value, unixTime: 1_790_000_000)
            if line[1] == "-" {
                #expect(seconds == nil, "\(line)")
            } else {
                let expected = try #require(Double(line[1]))
                #expect(isClose(try #require(seconds, "\(line)"), expected), "\(line)")
            }
        }
    }

    @Test("C2: each row of retry_after_jitter.tsv") func retryAfterJitter() throws {
        let lines = try vectors("retry_after_jitter")
        #expect(lines.count == 17)
        for line in lines {
            var options = BoxRetryOptions()
            options.retryAfterJitter = try #require(Double(line[1]))
            options.retryAfterCap = try #require(Double(line[2]))
            let seconds = try #require(parseRetryAfter(line[0], unixTime: 1_790_000_000))
            for (unitRandom, expected) in zip([0, 0.5, 1], line[3...5]) {
                let wait = options.wait(.usable(seconds, .retryAfter), attemptNumber: 1, unitRandom: unitRandom)
                #expect(wait.source == .retryAfter && !wait.isOverCap)
                #expect(isClose(wait.delay, try #require(Double(expected))), "\(line) gave \(wait.delay)")
            }
        }
    }

    @Test("B3–B7: each sequence of outcomes in decisions.tsv") func decisions() throws {
        let lines = try vectors("decisions")
        #expect(lines.count == 87)
        for line in lines {
            let strategy = BoxRetryStrategy(
                checked: try withoutJitter { options in
                    options.maxAttempts = try #require(Int32(line[1]))
                    options.maxRetriesOnException = try #require(Int32(line[2]))
                })
            var limits = RetryLoop.Limits()
            limits.authAvailable = line[3] == "1"
            let call = try play(line[4].split(separator: " ").map(answer(named:)), strategy: strategy, limits: limits)
            let expected = line[5].split(separator: " ").map(String.init)
            #expect(call.decisions.map(vectorName) == expected, "\(line)")
        }
    }
}

private func answer(named text: Substring) -> Answer {
    let parts = text.split(separator: "+ra=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts[0] != "E" else { return .exception() }
    return Answer(status: Int32(parts[0]) ?? -1, headers: parts.count == 2 ? [("Retry-After", String(parts[1]))] : [])
}

/// The decision as the vectors write it.
private func vectorName(_ decision: Decision) -> String {
    switch decision.action {
    case .stop: "stop"
    case .succeed: "success"
    case .retry: "retry:" + delayName(decision)
    case .refreshTokenAndRetry: "refresh:" + delayName(decision)
    }
}

private func delayName(_ decision: Decision) -> String {
    guard decision.delaySource == .backoff else { return "ra\(decision.delay)" }
    let number = decision.exceptionNumber > 0 ? decision.exceptionNumber : decision.attemptNumber
    // Without jitter the delay is 2^n; the n that it is, is the n of the backoff.
    for candidate in 0...number where Double(sign: .plus, exponent: Int(candidate), significand: 1) == decision.delay {
        return "b\(candidate)"
    }
    return "?\(decision.delay)"
}

func parseRetryAfter(_ value: String, unixTime: Int64) -> Double? {
    value.withCString { RetryAfter.parse(ByteCursor(cString: $0), unixTime: unixTime) }
}
