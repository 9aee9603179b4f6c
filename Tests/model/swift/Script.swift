import RetryCore

/// A custom strategy that answers as the command `custom` says (B9), and tells what it was asked.
final class Script: RetryStrategy {
    private let actions: [Int32]
    private let delays: [String]
    private var timesAsked = 0

    init(_ command: Command) {
        func list(_ key: String) -> [String] {
            command.texts(of: key).flatMap { $0.split(separator: ",").map(String.init) }
        }
        actions = list("should_retry").map(number)
        delays = list("retry_after")
    }

    var callsBack: Bool { true }

    var retryBound: Int32? { nil }

    func readRetryAfter(_ headers: HeaderList, clock: any Clock) -> RetryAfter {
        RetryAfter.read(headers, further: .none, clock: clock)
    }

    func shouldRetry(
        _ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32
    ) throws(StrategyFailure) -> RetryAnswer {
        sayAsked("should_retry", outcome, attemptNumber)
        let action = actions[timesAsked % actions.count]
        timesAsked += 1
        switch action {
        case 0: return .stop(outcome.isSuccess ? .success : .custom)
        case 1: return .retry(.custom)
        case 2: return .refresh(.custom)
        case -1: throw StrategyFailure("should_retry returned without an answer")
        default: throw StrategyFailure("should_retry did not answer STOP, RETRY or REFRESH_TOKEN_AND_RETRY")
        }
    }

    func retryAfter(
        _ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32, unitRandom: Double
    ) throws(StrategyFailure) -> Wait {
        guard !delays.isEmpty else {
            return BoxRetryOptions().wait(retryAfter, attemptNumber: attemptNumber, unitRandom: unitRandom)
        }
        sayAsked("retry_after", outcome, attemptNumber)
        let answer = delays[max(timesAsked - 1, 0) % delays.count]
        guard answer != "unanswered" else { throw StrategyFailure("retry_after returned without an answer") }
        return Wait(delay: Delay.clamped(number(answer)), source: .custom)
    }

    private func sayAsked(_ callback: String, _ outcome: Outcome, _ attemptNumber: Int32) {
        let (auth, count) = (outcome.authAvailable ? 1 : 0, outcome.headers.count)
        say("asked \(callback) \(attemptNumber) \(outcome.status) \(outcome.cause.rawValue) \(auth) \(count)")
    }
}
