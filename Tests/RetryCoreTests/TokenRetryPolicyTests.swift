import RetryCore
import Testing

@Suite struct TokenRetryPolicyTests {
    @Test("T5: without jitter the waits are 1 2 4 8 8 8 8 8, 47 seconds in all") func documentedSchedule() {
        var policy = TokenRetryPolicy()
        policy.jitterRatio = 0
        let waits = (1...8).map { policy.delay(afterFailure: $0, unitRandom: 0.7) }
        #expect(waits == [1, 2, 4, 8, 8, 8, 8, 8])
        #expect(waits.reduce(0, +) == 47)
    }

    @Test("T5: no wait is longer than maximum_delay, jitter included") func capAfterJitter() {
        let policy = TokenRetryPolicy()
        #expect(policy.delay(afterFailure: 4, unitRandom: 1) == 8)
        #expect(policy.delay(afterFailure: Int32.max, unitRandom: 0) == 6.4)
    }

    @Test("T5: a multiplier just above 1 takes no longer than any other") func slowMultiplier() {
        var policy = TokenRetryPolicy()
        policy.multiplier = 1.0.nextUp
        policy.maximumDelay = 1e300
        #expect(policy.delay(afterFailure: Int32.max, unitRandom: 0.5) > 1)
    }

    @Test("T5: a tiny first delay grows, although the power alone would overflow") func tinyDelay() {
        var policy = TokenRetryPolicy()
        policy.initialDelay = 1e-308
        #expect(abs(policy.delay(afterFailure: 1_026, unitRandom: 0.5) - 3.595386269724631) < 1e-9)
    }

    @Test("T5: huge values saturate") func saturation() {
        var policy = TokenRetryPolicy()
        policy.initialDelay = 1e308
        policy.multiplier = 1e308
        policy.maximumDelay = 1e308
        policy.jitterRatio = 1
        for unit in [0, 0.25, 0.5, 1] {
            let delay = policy.delay(afterFailure: 3, unitRandom: unit)
            #expect(delay >= 0 && delay <= Delay.maximum)
        }
    }

    @Test("T5: what cannot be is refused, and the field named") func refused() {
        let changes: [(String, (inout TokenRetryPolicy) -> Void)] = [
            ("maximum_attempts", { $0.maximumAttempts = 0 }),
            ("initial_delay", { $0.initialDelay = -1 }),
            ("initial_delay", { $0.initialDelay = .nan }),
            ("maximum_delay", { $0.maximumDelay = .infinity }),
            ("multiplier", { $0.multiplier = 0.99 }),
            ("multiplier", { $0.multiplier = .infinity }),
            ("multiplier", { $0.multiplier = .nan }),
            ("jitter_ratio", { $0.jitterRatio = 1.01 }),
            ("jitter_ratio", { $0.jitterRatio = .nan }),
        ]
        for (field, change) in changes {
            var policy = TokenRetryPolicy()
            change(&policy)
            let error = #expect(throws: InvalidOption.self) { try policy.validate() }
            #expect(error?.field.description == field)
        }
    }
}
