import Foundation
import RetryCore

/// One sequence's state.
struct Runner {
    private var manualClock: ManualClock?
    private var strategy: (any RetryStrategy)?
    private var loop: RetryLoop?
    private var gate: GateScript?
    private var isSkipping = false

    /// The last answer line of a command; nil if it has none.
    mutating func run(_ command: Command) -> String? {
        guard !isSkipping else { return nil }
        do throws(Refusal) {
            return try answer(to: command)
        } catch {
            isSkipping = command.name == "strategy" || command.name == "loop"
            return "error \(error.name) \(error.detail)"
        }
    }

    private mutating func answer(to command: Command) throws(Refusal) -> String? {
        switch command.name {
        case "sequence": return "sequence \(command.text(at: 0))"
        case "clock": return try makeClock(command)
        case "strategy": return try makeStrategy(command)
        case "custom":
            strategy = Script(command)
            return "ok"
        case "loop": return try makeLoop(command)
        case "advance":
            return try move(command) { (clock, seconds) in clock.advance(bySeconds: seconds) }
        case "suspend":
            return try move(command) { (clock, seconds) in clock.suspend(forSeconds: seconds) }
        case "wall":
            try setWall(command.double(at: 0))
            return "ok"
        case "attempt": return try attempt(command)
        case "should_retry": return try shouldRetry(command)
        case "retry_after": return try retryAfter(command)
        case "backoff": return try Self.backoff(command)
        case "parse": return try Self.parse(command)
        case "token_delay": return try Self.tokenDelay(command)
        case "gate":
            gate = GateScript()
            return nil
        case "time", "fill", "gone", "answer": return gate?.run(command)
        case "json": return readDocument(command)
        case "form": return encodeForForm(command)
        default: fail("unknown command", command.name)
        }
    }

    // MARK: - The clock

    private mutating func makeClock(_ command: Command) throws(Refusal) -> String? {
        manualClock = ManualClock()
        try setWall(command.double(at: 0))
        return nil
    }

    private func setWall(_ unixTime: Double) throws(Refusal) {
        guard made(manualClock).setWall(unixTime) else {
            throw .invalidArgument("unix_time", "must be in the years 1 to 9999", is: unixTime)
        }
    }

    private func move(_ command: Command, _ accepts: (ManualClock, Double) -> Bool) throws(Refusal) -> String {
        let seconds = command.double(at: 0)
        guard accepts(made(manualClock), seconds) else {
            let isDelay = seconds >= 0 && seconds <= Delay.maximum
            let why = isDelay ? "exceeds the clock's range" : "must be from 0 to 2^31 - 1"
            throw .invalidArgument("seconds", why, is: seconds)
        }
        return "ok"
    }

    // MARK: - Strategy and loop

    private mutating func makeStrategy(_ command: Command) throws(Refusal) -> String {
        strategy = BoxRetryStrategy(checked: try BoxRetryOptions(command), delayHeaders: try DelayHeaders(command))
        return "ok"
    }

    private mutating func makeLoop(_ command: Command) throws(Refusal) -> String {
        let limits = try RetryLoop.Limits(command, clock: manualClock ?? systemClock)
        let seed: UInt64 = command.texts(of: "seed").last.map(number) ?? 0
        let random = SplitMix64(state: seed != 0 ? seed : .random(in: 1...UInt64.max))
        loop = RetryLoop(strategy: made(strategy), limits: limits, random: random)
        return "ok"
    }

    private mutating func attempt(_ command: Command) throws(Refusal) -> String {
        var asked = made(loop)
        defer { loop = asked }
        return try withOutcome(of: command) { outcome throws(Refusal) in
            guard !asked.hasEnded else { throw .ended }
            do throws(StrategyFailure) {
                return shown(try asked.next(outcome, clock: manualClock ?? systemClock))
            } catch {
                throw .callbackFailed(error)
            }
        }
    }

    private func shouldRetry(_ command: Command) throws(Refusal) -> String {
        let strategy = made(strategy)
        return try withOutcome(of: command) { outcome throws(Refusal) in
            let attemptNumber: Int32 = command.integer(at: 0)
            try checkAttemptNumber(attemptNumber, atLeast: 0, "attempt_number")
            var random = SplitMix64(state: .random(in: 1...UInt64.max))
            do throws(StrategyFailure) {
                let decision = try strategy.decide(
                    outcome, attemptNumber: attemptNumber, refusal: nil, clock: systemClock, random: &random)
                return shown(decision)
            } catch {
                throw .callbackFailed(error)
            }
        }
    }

    private func retryAfter(_ command: Command) throws(Refusal) -> String {
        let strategy = made(strategy)
        return try withOutcome(of: command) { outcome throws(Refusal) in
            let attemptNumber: Int32 = command.integer(at: 0)
            try checkAttemptNumber(attemptNumber, atLeast: 0, "attempt_number")
            let retryAfter = strategy.readRetryAfter(outcome.headers, clock: systemClock)
            do throws(StrategyFailure) {
                let wait = try strategy.retryAfter(
                    outcome, retryAfter: retryAfter, attemptNumber: attemptNumber, unitRandom: .random(in: 0...1))
                return "value \(shown(wait.delay))"
            } catch {
                throw .callbackFailed(error)
            }
        }
    }

    /// What an earlier command of the sequence has made.
    private func made<Thing>(_ thing: Thing?) -> Thing {
        guard let thing else { fail("this was not made", "\(Thing.self)") }
        return thing
    }

    // MARK: - Arithmetic

    private static func backoff(_ command: Command) throws(Refusal) -> String {
        let options = try BoxRetryOptions(command)
        _ = try DelayHeaders(command)
        let (attemptNumber, unitRandom): (Int32, Double) = (command.integer(at: 0), command.double(at: 1))
        try checkAttemptNumber(attemptNumber, atLeast: 0, "attempt_number")
        try checkUnitRandom(unitRandom)
        return "value \(shown(options.backoffDelay(attemptNumber: attemptNumber, unitRandom: unitRandom)))"
    }

    private static func parse(_ command: Command) throws(Refusal) -> String {
        let unixTime: Int64 = command.integer(at: 0)
        guard HTTPDate.range.contains(unixTime) else {
            throw .invalidArgument("unix_time", "must be in the years 1 to 9999", is: unixTime)
        }
        let seconds = decoded(command.text(at: 1)).withUnsafeBufferPointer { value in
            value.baseAddress.flatMap { RetryAfter.parse(ByteCursor(cString: $0), unixTime: unixTime) }
        }
        guard let seconds else { throw .notUsable }
        return "value \(shown(seconds))"
    }

    private static func tokenDelay(_ command: Command) throws(Refusal) -> String {
        let policy = try TokenRetryPolicy(command)
        let (failedAttempt, unitRandom): (Int32, Double) = (command.integer(at: 0), command.double(at: 1))
        try checkAttemptNumber(failedAttempt, atLeast: 1, "failed_attempt")
        try checkUnitRandom(unitRandom)
        return "value \(shown(policy.delay(afterFailure: failedAttempt, unitRandom: unitRandom)))"
    }
}
