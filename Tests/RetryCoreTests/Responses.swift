import RetryCore

/// Keeps header lines alive for the outcomes that borrow them.
final class Lines {
    private let strings: [UnsafeMutablePointer<CChar>]
    private let pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>

    init(_ lines: [(String, String)]) {
        strings = lines.flatMap { [$0.0, $0.1] }.map { text in
            let bytes = text.utf8CString
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
            for (index, byte) in bytes.enumerated() { copy[index] = byte }
            return copy
        }
        pairs = .allocate(capacity: max(strings.count, 1))
        for (index, string) in strings.enumerated() { pairs[index] = UnsafePointer(string) }
    }

    deinit {
        for string in strings { string.deallocate() }
        pairs.deallocate()
    }

    var list: HeaderList {
        HeaderList(pairs: pairs, count: strings.count / 2) ?? .empty
    }
}

/// What a pretend server answers to one attempt: a response, or only an exception.
struct Answer {
    var status: Int32
    var headers: [(String, String)]
    var cause = NetworkExceptionCause.none
    /// Seconds that the attempt takes.
    var takes = 0.0
    /// Changes to the outcome that the attempt ends in.
    var adjust: (inout Outcome) -> Void = { _ in }

    static func status(_ status: Int32, _ headers: (String, String)..., takes: Double = 0) -> Answer {
        Answer(status: status, headers: headers, takes: takes)
    }

    static func exception(_ cause: NetworkExceptionCause = .connect, takes: Double = 0) -> Answer {
        Answer(status: 0, headers: [], cause: cause, takes: takes)
    }
}

/// The course of a call: the decision after each attempt.
struct Call {
    var decisions: [Decision]

    var requests: Int { decisions.count }
    /// The waits between attempts, in seconds.
    var waits: [Double] { decisions.filter(\.isRetry).map(\.delay) }
    var last: Decision? { decisions.last }
}

/// Plays a call in virtual time: each answer in turn, the last one again and again, and waits on the clock.
func play(
    _ answers: [Answer], strategy: any RetryStrategy = BoxRetryStrategy(checked: withoutJitter()),
    limits: RetryLoop.Limits = .init(), clock: ManualClock = ManualClock()
) throws -> Call {
    var loop = RetryLoop(strategy: strategy, limits: limits, random: SplitMix64(state: 1))
    var call = Call(decisions: [])
    while !loop.hasEnded {
        let answer = answers[min(call.requests, answers.count - 1)]
        let lines = Lines(answer.headers)
        var outcome = Outcome(status: answer.status, headers: lines.list)
        outcome.cause = answer.cause
        answer.adjust(&outcome)
        _ = clock.advance(bySeconds: answer.takes)
        let decision = try withExtendedLifetime(lines) { try loop.next(outcome, clock: clock) }
        call.decisions.append(decision)
        _ = clock.advance(bySeconds: decision.delay)
    }
    return call
}

/// Box's options with the jitter at its middle.
func withoutJitter() -> BoxRetryOptions {
    var options = BoxRetryOptions()
    options.retryRandomizationFactor = 0
    return options
}

/// The same, with a change.
func withoutJitter(_ change: (inout BoxRetryOptions) throws -> Void) rethrows -> BoxRetryOptions {
    var options = withoutJitter()
    try change(&options)
    return options
}
