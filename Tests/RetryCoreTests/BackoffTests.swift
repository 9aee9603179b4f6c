import Testing

@testable import RetryCore

@Suite struct BackoffTests {
    @Test("F20, B6: the delay never falls as the attempts go up, and saturates") func saturation() {
        let options = withoutJitter()
        var previous = 0.0
        for attempt in Array(0...70) + [1_023, 1_024, 1_200, Int32.max] {
            let delay = options.backoffDelay(attemptNumber: attempt, unitRandom: 0.5)
            #expect(delay >= previous && delay <= Delay.maximum)
            previous = delay
        }
        #expect(previous == Delay.maximum)
    }

    @Test("F20, B6: tiny and huge base intervals neither overflow nor vanish")
    func extremeBases() {
        let tiny = withoutJitter { $0.retryBaseInterval = Double.leastNonzeroMagnitude }
        #expect(tiny.backoffDelay(attemptNumber: 0, unitRandom: 0.5) == Double.leastNonzeroMagnitude)
        #expect(tiny.backoffDelay(attemptNumber: 1_074, unitRandom: 0.5) == 1)
        #expect(tiny.backoffDelay(attemptNumber: Int32.max, unitRandom: 0.5) == Delay.maximum)
        var spread = tiny
        spread.retryRandomizationFactor = 0.5
        #expect(spread.backoffDelay(attemptNumber: 1_100, unitRandom: 0) == 33_554_432)
        let huge = withoutJitter { $0.retryBaseInterval = Double.greatestFiniteMagnitude }
        #expect(huge.backoffDelay(attemptNumber: 0, unitRandom: 0.5) == Delay.maximum)
        var jittered = huge
        jittered.retryRandomizationFactor = 1
        #expect(jittered.backoffDelay(attemptNumber: Int32.max, unitRandom: 1) == Delay.maximum)
        #expect(jittered.backoffDelay(attemptNumber: Int32.max, unitRandom: 0) == 0)
    }

    @Test("F21, B6: a base of 0 means no delay, however late the attempt") func zeroBase() {
        let options = withoutJitter { $0.retryBaseInterval = 0 }
        for attempt: Int32 in [0, 1, 1_025, Int32.max] {
            #expect(options.backoffDelay(attemptNumber: attempt, unitRandom: 0.5) == 0)
        }
    }

    @Test("F22, B1: what cannot be is refused, and the field named") func refusedOptions() {
        let changes: [(String, (inout BoxRetryOptions) -> Void)] = [
            ("retry_randomization_factor", { $0.retryRandomizationFactor = 1.5 }),
            ("retry_randomization_factor", { $0.retryRandomizationFactor = -0.1 }),
            ("retry_randomization_factor", { $0.retryRandomizationFactor = .nan }),
            ("retry_base_interval", { $0.retryBaseInterval = .nan }),
            ("retry_base_interval", { $0.retryBaseInterval = -1 }),
            ("retry_base_interval", { $0.retryBaseInterval = .infinity }),
            ("max_attempts", { $0.maxAttempts = -1 }),
            ("max_attempts", { $0.maxAttempts = 1_000_001 }),
            ("max_retries_on_exception", { $0.maxRetriesOnException = -1 }),
            ("max_retries_on_exception", { $0.maxRetriesOnException = 1_000_001 }),
            ("backoff_cap", { $0.backoffCap = -1 }),
            ("retry_after_cap", { $0.retryAfterCap = .nan }),
            ("retry_after_jitter", { $0.retryAfterJitter = .nan }),
            ("retry_after_jitter", { $0.retryAfterJitter = -0.1 }),
            ("retry_after_jitter", { $0.retryAfterJitter = 1.1 }),
        ]
        for (field, change) in changes {
            let options = withoutJitter(change)
            let error = #expect(throws: InvalidOption.self) { try options.validate() }
            #expect(error?.field.description == field)
        }
    }

    @Test("B1: the ends of the ranges are accepted") func acceptedOptions() throws {
        var options = BoxRetryOptions()
        options.maxAttempts = 1_000_000
        options.maxRetriesOnException = 0
        options.retryBaseInterval = 0
        options.retryRandomizationFactor = 1
        try options.validate()
    }

    @Test("F23, B11: the cap holds after the jitter") func cap() {
        var options = BoxRetryOptions()
        options.backoffCap = 1
        #expect(options.backoffDelay(attemptNumber: 1, unitRandom: 1) == 1)
        #expect(options.backoffDelay(attemptNumber: 0, unitRandom: 0) == 0.5)
    }

    @Test("F24, B6: delays are spread over the whole range, and two sequences differ") func spread() throws {
        let sequences = [UInt64(1), 2].map { seed in
            var random = SplitMix64(state: seed)
            return (0..<1_000).map { _ in
                BoxRetryOptions().backoffDelay(attemptNumber: 1, unitRandom: random.nextUnit())
            }
        }
        for delays in sequences {
            #expect(Set(delays).count > 990)
            #expect(delays.allSatisfy { (1.0...3.0).contains($0) })
            #expect((delays.min() ?? 9) < 1.05 && (delays.max() ?? 0) > 2.95)
            #expect(abs(delays.reduce(0, +) / 1_000 - 2) < 0.1)
        }
        #expect(sequences[0] != sequences[1])
    }

    @Test("B6: both ends of the jitter can occur") func ends() {
        #expect(SplitMix64.unit(.min) == 0)
        #expect(SplitMix64.unit(.max) == 1)
        let options = BoxRetryOptions()
        #expect(options.backoffDelay(attemptNumber: 1, unitRandom: 0) == 1)
        #expect(options.backoffDelay(attemptNumber: 1, unitRandom: 1) == 3)
    }

    @Test("F25, B6: the first delay is 2 s at the middle") func firstDelay() throws {
        #expect(BoxRetryOptions().backoffDelay(attemptNumber: 1, unitRandom: 0.5) == 2)
        #expect(try play([.status(503), .status(200)]).waits == [2])
    }
}
