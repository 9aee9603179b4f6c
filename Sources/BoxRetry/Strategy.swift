import CBoxRetry
import CShims
import RetryCore

/// `boxretry_strategy`
final class StrategyHandle: Handle, HandleClass {
    static var kind: HandleKind { .strategy }

    let strategy: any RetryStrategy
    let clock: any Clock = systemClock
    let callsBack: Bool

    init(_ strategy: any RetryStrategy) {
        self.strategy = strategy
        callsBack = strategy.callsBack
        super.init(.strategy)
    }
}

// MARK: - Structs

extension boxretry_retry_options: SizedStruct {
    static var defaults: boxretry_retry_options {
        let options = BoxRetryOptions()
        return boxretry_retry_options(
            struct_size: MemoryLayout<boxretry_retry_options>.size, max_attempts: options.maxAttempts,
            max_retries_on_exception: options.maxRetriesOnException, retry_base_interval: options.retryBaseInterval,
            retry_randomization_factor: options.retryRandomizationFactor, backoff_cap: options.backoffCap,
            retry_after_cap: options.retryAfterCap, retry_after_over_cap: options.retryAfterOverCap.rawValue,
            retry_unsafe_methods: options.retryUnsafeMethods ? 1 : 0, delay_headers: nil, delay_header_count: 0,
            retry_after_jitter: options.retryAfterJitter, should_retry_header: nil)
    }

    static var firstSize: Int { 32 }
}

extension BoxRetryOptions {
    /// Copies and checks the caller's options; NULL means the defaults.
    init(reading pointer: UnsafePointer<boxretry_retry_options>?) throws(Failure) {
        self.init()
        guard let pointer else { return }
        let options = try boxretry_retry_options.read(pointer, "options")
        maxAttempts = options.max_attempts
        maxRetriesOnException = options.max_retries_on_exception
        retryBaseInterval = options.retry_base_interval
        retryRandomizationFactor = options.retry_randomization_factor
        backoffCap = options.backoff_cap
        retryAfterCap = options.retry_after_cap
        guard let overCap = OverCap(rawValue: options.retry_after_over_cap) else {
            throw .invalidArgument(
                "options", "retry_after_over_cap", "is not a BOXRETRY_OVER_CAP_ constant",
                is: Int64(options.retry_after_over_cap))
        }
        retryAfterOverCap = overCap
        retryUnsafeMethods = options.retry_unsafe_methods != 0
        retryAfterJitter = options.retry_after_jitter
        do throws(InvalidOption) {
            try validate()
        } catch {
            throw .invalidArgument("options", error)
        }
    }
}

extension DelayHeaders {
    /// Copies the delay headers in the caller's options; NULL means none.
    init(reading pointer: UnsafePointer<boxretry_retry_options>?) throws(Failure) {
        self = .none
        guard let pointer else { return }
        let options = try boxretry_retry_options.read(pointer, "options")
        guard options.delay_header_count != 0 else { return }
        guard options.delay_header_count > 0, options.delay_header_count <= Self.maximumCount else {
            throw .invalidArgument("options", "delay_header_count", "must be at most 16")
        }
        guard let headers = options.delay_headers else {
            throw .invalidArgument("options", "delay_headers", "is NULL, but delay_header_count is not 0")
        }
        for index in 0..<options.delay_header_count {
            guard let name = headers[index].name, append(name: name, unit: headers[index].unit) else {
                throw .invalidArgument(
                    shim_place("options", "delay_headers", at: index), "has an invalid name or unit")
            }
        }
    }
}

extension VerdictHeader {
    /// Copies a header name in the caller's options; NULL means none.
    static func reading(_ pointer: UnsafePointer<boxretry_retry_options>?) throws(Failure) -> VerdictHeader? {
        guard let pointer else { return nil }
        let options = try boxretry_retry_options.read(pointer, "options")
        guard let name = options.should_retry_header else { return nil }
        guard let header = VerdictHeader(name: name) else {
            throw .invalidArgument("options", "should_retry_header", "is not the name of a header")
        }
        return header
    }
}

extension boxretry_outcome: SizedStruct {
    static var defaults: boxretry_outcome {
        boxretry_outcome(
            struct_size: MemoryLayout<boxretry_outcome>.size, status: 0, cause: Int32(BOXRETRY_CAUSE_NONE),
            headers: nil, header_count: 0, auth_available: 0, request_sent: Int32(BOXRETRY_SENT_UNKNOWN), request: nil,
            body_not_replayable: 0, reserved: 0, body: nil, body_length: 0, body_state: Int32(BOXRETRY_BODY_NONE),
            reserved_2: 0, url: nil)
    }

    static var firstSize: Int { 40 }
}

extension Outcome {
    /// Borrows and checks the caller's outcome.
    @inline(__always)
    init(reading pointer: UnsafePointer<boxretry_outcome>?) throws(Failure) {
        let pointer = try required(pointer, "outcome")
        if boxretry_outcome.hasOurSize(pointer) {
            try self.init(checking: pointer.pointee)
        } else {
            try self.init(readingOtherSize: pointer)
        }
    }

    @inline(never)
    private init(readingOtherSize pointer: UnsafePointer<boxretry_outcome>) throws(Failure) {
        try self.init(checking: try boxretry_outcome.readOtherSize(pointer, "outcome"))
    }

    @inline(__always)
    private init(checking outcome: boxretry_outcome) throws(Failure) {
        guard outcome.status == 0 || (100...999).contains(outcome.status) else {
            throw .invalidArgument("outcome", "status", "must be 0, or from 100 to 999", is: Int64(outcome.status))
        }
        guard let cause = NetworkExceptionCause(rawValue: outcome.cause) else {
            throw .invalidArgument("outcome", "cause", "is not a BOXRETRY_CAUSE_ constant", is: Int64(outcome.cause))
        }
        guard let sent = RequestSent(rawValue: outcome.request_sent) else {
            throw .invalidArgument(
                "outcome", "request_sent", "is not a BOXRETRY_SENT_ constant", is: Int64(outcome.request_sent))
        }
        guard outcome.reserved == 0 else { throw .invalidArgument("outcome", "reserved", "must be 0") }
        guard outcome.reserved_2 == 0 else { throw .invalidArgument("outcome", "reserved_2", "must be 0") }
        guard let state = BodyState(rawValue: outcome.body_state) else {
            throw .invalidArgument(
                "outcome", "body_state", "is not a BOXRETRY_BODY_ constant", is: Int64(outcome.body_state))
        }
        guard outcome.body != nil || outcome.body_length == 0 else {
            throw .invalidArgument("outcome", "body", "is NULL, but body_length is not 0")
        }
        self.init(
            status: outcome.status, cause: cause,
            headers: try HeaderList(reading: outcome.headers, outcome.header_count, "outcome"),
            authAvailable: outcome.auth_available != 0, requestSent: sent,
            isRequestUnsafe: outcome.request == nil ? false : try boxretry_request.checkedIsUnsafe(outcome.request),
            request: UnsafeRawPointer(outcome.request), isBodyReplayable: outcome.body_not_replayable == 0)
        body = outcome.body
        bodyLength = outcome.body_length
        bodyState = state
        url = outcome.url
    }
}

extension boxretry_decision: SizedStruct {
    static var defaults: boxretry_decision {
        Decision(action: .stop, reason: .success, attemptNumber: 0, exceptionNumber: 0, retryAfter: .absent).cDecision
    }

    static var firstSize: Int { 40 }
}

extension Decision {
    var cDecision: boxretry_decision {
        var state = Int32(BOXRETRY_RETRY_AFTER_ABSENT)
        var seconds = -1.0
        switch retryAfter {
        case .absent: break
        case .usable(let value, _): (state, seconds) = (Int32(BOXRETRY_RETRY_AFTER_USABLE), value)
        case .notUsable: state = Int32(BOXRETRY_RETRY_AFTER_NOT_USABLE)
        }
        return boxretry_decision(
            struct_size: MemoryLayout<boxretry_decision>.size, action: action.rawValue, reason: reason.rawValue,
            delay: delay, delay_source: delaySource.rawValue, attempt_number: attemptNumber,
            exception_number: exceptionNumber, retry_after_state: state, retry_after: seconds)
    }
}

// MARK: - Functions

func checkedAttemptNumber(_ number: Int32, atLeast minimum: Int32, _ argument: StaticString) throws(Failure) {
    guard number >= minimum else {
        let why: StaticString = minimum == 0 ? "must be 0 or more" : "must be 1 or more"
        throw .invalidArgument(argument, nil, why, is: Int64(number))
    }
}

@_cdecl("boxretry_strategy_new") @implementation
public func boxretry_strategy_new(
    _ options: UnsafePointer<boxretry_retry_options>!, _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    answer { () throws(Failure) in
        let out = try required(out, "out")
        let checked = try BoxRetryOptions(reading: options)
        let delayHeaders = try DelayHeaders(reading: options)
        let verdictHeader = try VerdictHeader.reading(options)
        let strategy = BoxRetryStrategy(checked: checked, delayHeaders: delayHeaders, verdictHeader: verdictHeader)
        StrategyHandle(strategy).give(to: out)
    }
}

@_cdecl("boxretry_strategy_should_retry") @implementation
public func boxretry_strategy_should_retry(
    _ strategy: OpaquePointer!, _ outcome: UnsafePointer<boxretry_outcome>!, _ attempt_number: Int32,
    _ out: UnsafeMutablePointer<boxretry_decision>!
) -> boxretry_error {
    StrategyHandle.with(strategy, "strategy") { handle throws(Failure) in
        let outcome = try Outcome(reading: outcome)
        try checkedAttemptNumber(attempt_number, atLeast: 0, "attempt_number")
        let out = try required(out, "out")
        let size = try boxretry_decision.checkedSize(out, "out")
        var random = SplitMix64(state: shim_next_random_state())
        let decision = try handle.keptAlive(if: handle.callsBack) { () throws(StrategyFailure) in
            try handle.strategy.decide(
                outcome, attemptNumber: attempt_number, refusal: nil, clock: handle.clock, random: &random)
        }
        boxretry_decision.write(decision.cDecision, to: out, callerSize: size)
    }
}

@_cdecl("boxretry_strategy_retry_after") @implementation
public func boxretry_strategy_retry_after(
    _ strategy: OpaquePointer!, _ outcome: UnsafePointer<boxretry_outcome>!, _ attempt_number: Int32,
    _ delay_out: UnsafeMutablePointer<Double>!
) -> boxretry_error {
    StrategyHandle.with(strategy, "strategy") { handle throws(Failure) in
        let outcome = try Outcome(reading: outcome)
        try checkedAttemptNumber(attempt_number, atLeast: 0, "attempt_number")
        let out = try required(delay_out, "delay_out")
        var random = SplitMix64(state: shim_next_random_state())
        let wait = try handle.keptAlive(if: handle.callsBack) { () throws(StrategyFailure) in
            let retryAfter = handle.strategy.readRetryAfter(outcome.headers, clock: handle.clock)
            return try handle.strategy.retryAfter(
                outcome, retryAfter: retryAfter, attemptNumber: attempt_number, unitRandom: random.nextUnit())
        }
        out.pointee = wait.delay
    }
}

@_cdecl("boxretry_strategy_free") @implementation
public func boxretry_strategy_free(_ strategy: OpaquePointer!) {
    StrategyHandle.take(strategy)
}

@_cdecl("boxretry_retry_options_init") @implementation
public func boxretry_retry_options_init(
    _ options: UnsafeMutablePointer<boxretry_retry_options>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in try boxretry_retry_options.initialize(options, "options", structSize: struct_size) }
}

@_cdecl("boxretry_outcome_init") @implementation
public func boxretry_outcome_init(
    _ outcome: UnsafeMutablePointer<boxretry_outcome>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in try boxretry_outcome.initialize(outcome, "outcome", structSize: struct_size) }
}

@_cdecl("boxretry_decision_init") @implementation
public func boxretry_decision_init(
    _ decision: UnsafeMutablePointer<boxretry_decision>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in try boxretry_decision.initialize(decision, "decision", structSize: struct_size) }
}

@_cdecl("boxretry_cause_name") @implementation
public func boxretry_cause_name(_ cause: Int32) -> UnsafePointer<CChar>! {
    shim_cause_name(cause)
}

@_cdecl("boxretry_action_name") @implementation
public func boxretry_action_name(_ action: Int32) -> UnsafePointer<CChar>! {
    shim_action_name(action)
}

@_cdecl("boxretry_delay_source_name") @implementation
public func boxretry_delay_source_name(_ delay_source: Int32) -> UnsafePointer<CChar>! {
    shim_delay_source_name(delay_source)
}

@_cdecl("boxretry_reason_name") @implementation
public func boxretry_reason_name(_ reason: Int32) -> UnsafePointer<CChar>! {
    shim_reason_name(reason)
}

@_cdecl("boxretry_reason_text") @implementation
public func boxretry_reason_text(_ reason: Int32) -> UnsafePointer<CChar>! {
    shim_reason_text(reason)
}
