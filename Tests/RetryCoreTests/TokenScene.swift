@testable import RetryCore

/// A token machine in virtual time, and what has come out of it. Tokens are texts, waiters are numbers.
final class TokenScene {
    typealias Machine = TokenMachine<String, Int>

    let clock = ManualClock()
    var machine: Machine
    /// The calls of the provider, by number, and when they began.
    private(set) var calls: [(number: UInt64, at: Double)] = []
    /// Who was woken, in this order, and with what.
    private(set) var woken: [(waiter: Int, with: String)] = []
    private var nextWaiter = 1

    init(_ change: (inout TokenSettings) -> Void = { _ in }) {
        var settings = TokenSettings()
        settings.retryPolicy.jitterRatio = 0
        change(&settings)
        machine = Machine(settings: settings, random: SplitMix64(state: 1))
    }

    var moment: TokenMoment { TokenMoment(clock) }
    var call: UInt64 { calls.last?.number ?? 0 }

    enum Asked: Equatable {
        case token(String)
        case waiting(ticket: UInt64)
        case closed
    }

    @discardableResult
    func ask() -> Asked {
        let waiter = nextWaiter
        nextWaiter += 1
        let (answer, actions) = machine.asked(by: waiter, at: moment)
        perform(actions)
        switch answer {
        case .token(let cached): return .token(cached.token)
        case .waiting(let ticket): return .waiting(ticket: ticket)
        case .closed: return .closed
        }
    }

    /// False if the answer was refused.
    @discardableResult
    func answer(_ token: String?, life: Double = 3_600, to call: UInt64? = nil) -> Bool {
        perform(machine.answered(call ?? self.call, token, life: life, at: moment))
    }

    @discardableResult
    func fail(
        _ failure: ProviderFailure = .failed(.none), retryable: Bool = true, leastDelay: Double = 0,
        call: UInt64? = nil
    ) -> Bool {
        perform(
            machine.failed(
                call ?? self.call, failure, isRetryable: retryable, leastDelay: leastDelay, at: moment))
    }

    func leave(_ ticket: UInt64) -> Bool {
        machine.left(ticket: ticket)
    }

    func free() {
        perform(machine.freed())
    }

    /// Moves the clock, from one timer to the next.
    func advance(_ seconds: Double) {
        let end = clock.monotonic.advanced(bySeconds: seconds).nanoseconds
        while true {
            let due = max(min(machine.nextTimer?.nanoseconds ?? .max, end), clock.monotonic.nanoseconds)
            _ = clock.advance(bySeconds: Double(due - clock.monotonic.nanoseconds) / 1e9)
            perform(machine.timePassed(at: moment))
            if due == end { return }
        }
    }

    @discardableResult
    private func perform(_ actions: [Machine.Action]?) -> Bool {
        for action in actions ?? [] {
            switch action {
            case .call(let number): calls.append((number, clock.monotonic.seconds))
            case .wake(let waiters, .token(let cached)): woken += waiters.map { ($0, cached.token) }
            case .wake(let waiters, .failure(let failure)): woken += waiters.map { ($0, "\(failure.name)") }
            }
        }
        return actions != nil
    }
}

extension TokenFailure {
    /// The attempts are shown, the text is not.
    var name: String {
        switch self {
        case .invalidToken: "invalid token"
        case .invalidExpiration: "invalid expiration"
        case .missingExpiration: "missing expiration"
        case .provider(let failure, let attempts): "\(failure.name) after \(attempts)"
        case .closed: "closed"
        case .exhausted: "exhausted"
        case .hanging: "hanging"
        }
    }
}

extension ProviderFailure {
    var name: String {
        switch self {
        case .failed: "failed"
        case .unavailable: "unavailable"
        case .cancelled: "cancelled"
        case .unanswered: "unanswered"
        case .timedOut: "timed out"
        case .fetchTimedOut: "fetch timed out"
        }
    }
}
