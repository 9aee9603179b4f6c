import CBoxRetry
import CShims
import RetryCore

extension boxretry_strategy_callbacks: SizedStruct {
    static var defaults: boxretry_strategy_callbacks {
        boxretry_strategy_callbacks(
            struct_size: MemoryLayout<boxretry_strategy_callbacks>.size, context: nil, should_retry: nil,
            retry_after: nil, context_free: nil)
    }

    static var firstSize: Int { 40 }
}

/// A custom strategy (B9): runs its callbacks on the thread that needs the decision.
final class CallbackRetryStrategy: RetryStrategy {
    private let callbacks: boxretry_strategy_callbacks

    /// `callbacks.should_retry` is not NULL.
    init(_ callbacks: boxretry_strategy_callbacks) {
        self.callbacks = callbacks
    }

    deinit {
        guard let contextFree = callbacks.context_free else { return }
        called { contextFree(callbacks.context) }
    }

    var callsBack: Bool { true }

    /// B5 does not limit a custom strategy; only the ceiling does (B14).
    var retryBound: Int32? { nil }

    func readRetryAfter(_ headers: HeaderList, clock: any Clock) -> RetryAfter {
        RetryAfter.read(headers, further: .none, clock: clock)
    }

    func shouldRetry(
        _ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32
    ) throws(StrategyFailure) -> RetryAnswer {
        var action = BOXRETRY_ACTION_UNANSWERED
        try withCOutcome(outcome) { callbacks.should_retry?(callbacks.context, $0, attemptNumber, &action) }
        switch RetryAction(rawValue: action) {
        case .stop: return .stop(outcome.isSuccess ? .success : .custom)
        case .retry: return .retry(.custom)
        case .refreshTokenAndRetry: return .refresh(.custom)
        case .succeed, nil:
            throw StrategyFailure(
                action == BOXRETRY_ACTION_UNANSWERED
                    ? "should_retry returned without an answer"
                    : "should_retry did not answer STOP, RETRY or REFRESH_TOKEN_AND_RETRY")
        }
    }

    func retryAfter(
        _ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32, unitRandom: Double
    ) throws(StrategyFailure) -> Wait {
        guard let ask = callbacks.retry_after else {
            return BoxRetryOptions().wait(retryAfter, attemptNumber: attemptNumber, unitRandom: unitRandom)
        }
        var delay = BOXRETRY_DELAY_UNANSWERED
        try withCOutcome(outcome) { ask(callbacks.context, $0, attemptNumber, &delay) }
        guard delay != BOXRETRY_DELAY_UNANSWERED else {
            throw StrategyFailure("retry_after returned without an answer")
        }
        return Wait(delay: Delay.clamped(delay), source: .custom)
    }

    /// Runs a callback with the outcome as a C struct.
    private func withCOutcome(
        _ outcome: Outcome, _ body: (UnsafePointer<boxretry_outcome>) -> Void
    ) throws(StrategyFailure) {
        let forks = shim_fork_generation()
        var cOutcome = boxretry_outcome(
            struct_size: MemoryLayout<boxretry_outcome>.size, status: outcome.status, cause: outcome.cause.rawValue,
            headers: outcome.headers.cHeaders, header_count: outcome.headers.count,
            auth_available: outcome.authAvailable ? 1 : 0, request_sent: outcome.requestSent.rawValue,
            request: outcome.request?.assumingMemoryBound(to: boxretry_request.self),
            body_not_replayable: outcome.isBodyReplayable ? 0 : 1, reserved: 0, body: outcome.body,
            body_length: outcome.bodyLength, body_state: outcome.bodyState.rawValue, reserved_2: 0, url: outcome.url)
        called { body(&cOutcome) }
        guard shim_fork_generation() == forks else {
            throw StrategyFailure("a callback called fork(), and this is the child", isForked: true)
        }
    }
}

@_cdecl("boxretry_strategy_new_custom") @implementation
public func boxretry_strategy_new_custom(
    _ callbacks: UnsafePointer<boxretry_strategy_callbacks>!, _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    answer { () throws(Failure) in
        let callbacks = try boxretry_strategy_callbacks.read(callbacks, "callbacks")
        guard callbacks.should_retry != nil else { throw .invalidArgument("callbacks", "should_retry", "is NULL") }
        let out = try required(out, "out")
        StrategyHandle(CallbackRetryStrategy(callbacks)).give(to: out)
    }
}

@_cdecl("boxretry_strategy_callbacks_init") @implementation
public func boxretry_strategy_callbacks_init(
    _ callbacks: UnsafeMutablePointer<boxretry_strategy_callbacks>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in
        try boxretry_strategy_callbacks.initialize(callbacks, "callbacks", structSize: struct_size)
    }
}
