import CBoxRetry
import CShims
import CurlEngine
import RetryCore

/// Why a function of the C interface failed. Creating one sets the thread's error detail.
struct Failure: Error {
    let error: boxretry_error

    private init(_ error: Int) {
        self.error = boxretry_error(error)
    }

    /// `argument.field: why`
    static func invalidArgument(_ argument: StaticString, _ field: StaticString?, _ why: StaticString) -> Failure {
        shim_detail_set(argument.cString, field?.cString, why.cString)
        return Failure(BOXRETRY_ERROR_INVALID_ARGUMENT)
    }

    static func invalidArgument(_ argument: StaticString, _ why: StaticString) -> Failure {
        invalidArgument(argument, nil, why)
    }

    /// The same with a text from another source, which is copied.
    static func invalidArgument(
        _ argument: StaticString, _ field: StaticString, _ why: UnsafePointer<CChar>
    ) -> Failure {
        shim_detail_set(argument.cString, field.cString, why)
        return Failure(BOXRETRY_ERROR_INVALID_ARGUMENT)
    }

    /// `argument.field[1]: why (name)`: an element of an array. `name` must not contain secrets or control characters.
    @inline(never)
    static func invalidArgument(
        _ place: shim_place, _ why: StaticString, _ name: UnsafePointer<CChar>? = nil
    ) -> Failure {
        withUnsafePointer(to: place) { shim_detail_set_place($0, why.cString, name) }
        return Failure(BOXRETRY_ERROR_INVALID_ARGUMENT)
    }

    /// The same with the system's text for an error.
    static func invalidArgument(_ place: shim_place, system error: Int32) -> Failure {
        withUnsafePointer(to: place) { shim_detail_set_place($0, shim_system_text(error), nil) }
        return Failure(BOXRETRY_ERROR_INVALID_ARGUMENT)
    }

    static func invalidArgument(_ reason: FailureReason) -> Failure {
        reason.setDetail()
        return Failure(BOXRETRY_ERROR_INVALID_ARGUMENT)
    }

    /// `argument.field: why, but is value`
    static func invalidArgument(
        _ argument: StaticString, _ field: StaticString?, _ why: StaticString, is value: Int64
    ) -> Failure {
        shim_detail_set_integer(argument.cString, field?.cString, why.cString, value)
        return Failure(BOXRETRY_ERROR_INVALID_ARGUMENT)
    }

    static func invalidArgument(_ argument: StaticString, _ why: StaticString, is value: Double) -> Failure {
        shim_detail_set_real(argument.cString, nil, why.cString, value)
        return Failure(BOXRETRY_ERROR_INVALID_ARGUMENT)
    }

    static func invalidArgument(_ argument: StaticString, _ option: InvalidOption) -> Failure {
        let (field, why) = (option.field.cString, option.requirement.cString)
        switch option.value {
        case .integer(let value): shim_detail_set_integer(argument.cString, field, why, value)
        case .real(let value): shim_detail_set_real(argument.cString, field, why, value)
        }
        return Failure(BOXRETRY_ERROR_INVALID_ARGUMENT)
    }

    static var exhausted: Failure {
        Failure(BOXRETRY_ERROR_EXHAUSTED, "no descriptors or threads are left, or libcurl cannot be initialized")
    }
    static func closed(_ argument: StaticString) -> Failure {
        shim_detail_set(argument.cString, nil, "is closed")
        return Failure(BOXRETRY_ERROR_CLOSED)
    }
    static func setup(_ failure: Engine.SetupFailure) -> Failure {
        switch failure {
        case .outOfMemory: .outOfMemory
        case .exhausted: .exhausted
        }
    }
    static var outOfMemory: Failure { Failure(BOXRETRY_ERROR_OUT_OF_MEMORY, "out of memory") }
    static func source(_ reason: FailureReason?) -> Failure {
        reason.setDetail()
        return Failure(BOXRETRY_ERROR_SOURCE)
    }
    static var notUsable: Failure {
        Failure(BOXRETRY_ERROR_NOT_USABLE, "value: is not a number, a list of numbers or an HTTP date")
    }
    static func callbackFailed(_ failure: StrategyFailure) -> Failure {
        Failure(failure.isForked ? BOXRETRY_ERROR_FORKED : BOXRETRY_ERROR_CALLBACK_FAILED, failure.why)
    }
    static func inCallback(_ why: StaticString) -> Failure { Failure(BOXRETRY_ERROR_IN_CALLBACK, why) }
    static func forked(_ argument: StaticString) -> Failure {
        shim_detail_set(argument.cString, nil, "was made before fork(), in the parent process")
        return Failure(BOXRETRY_ERROR_FORKED)
    }
    static var closed: Failure { Failure(BOXRETRY_ERROR_CLOSED, "the clock was freed while this call waited on it") }
    static var ended: Failure { Failure(BOXRETRY_ERROR_ENDED, "loop: has already made its last decision") }
    static var waitTimeout: Failure { Failure(BOXRETRY_ERROR_WAIT_TIMEOUT, "timeout_ms passed") }

    static var tokenRequestEnded: Failure {
        Failure(
            BOXRETRY_ERROR_TOKEN_REQUEST_ENDED, "request: was answered already, timed out, or its source was freed")
    }

    /// Why there is no token. No text contains any part of a token (T1).
    static func token(_ failure: TokenWaitFailure) -> Failure {
        switch failure {
        case .cancelled: Failure(BOXRETRY_ERROR_CANCELLED, "cancel: was triggered")
        case .timedOut: .waitTimeout
        case .outOfMemory: .outOfMemory
        case .rejectedAgain:
            Failure(BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED, "the provider returned the rejected token again")
        case .notRenewable: Failure(BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED, "a fixed token cannot be renewed")
        case .source(.exhausted): .exhausted
        case .source(.hanging):
            Failure(BOXRETRY_ERROR_EXHAUSTED, "16 calls of the provider have not returned yet")
        case .source(.closed): closed("source")
        case .source(.invalidToken):
            Failure(
                BOXRETRY_ERROR_INVALID_CLIENT_TOKEN,
                "the provider's token is empty, longer than 16384 bytes, or has a byte that is not allowed in a header")
        case .source(.invalidExpiration):
            Failure(
                BOXRETRY_ERROR_INVALID_CLIENT_TOKEN_EXPIRATION,
                "the lifetime of the provider's token must be above 60 seconds and above refresh_leeway")
        case .source(.missingExpiration):
            Failure(
                BOXRETRY_ERROR_INVALID_CLIENT_TOKEN_EXPIRATION,
                "the token endpoint's response has no expires_in, and default_expires_in is not set")
        case .source(.provider(let failure, let attempts)): provider(failure, attempts: attempts)
        }
    }

    private static func provider(_ failure: ProviderFailure, attempts: Int32) -> Failure {
        let why: StaticString =
            switch failure {
            case .failed, .unavailable: "the provider failed"
            case .cancelled: "the token provider canceled"
            case .unanswered: "the provider returned, or released its request, without an answer"
            case .timedOut: "the provider did not answer within provider_timeout_ms"
            case .fetchTimedOut: "fetch_timeout_ms passed"
            }
        let text: ProviderText = if case .failed(let text) = failure { text } else { .none }
        let last: ProviderText = if case .unavailable(let last) = failure { last } else { .none }
        last.withCString { lastStart in
            text.withCString { textStart in
                shim_detail_set_attempts(
                    why.cString, attempts, last.isEmpty ? nil : lastStart, text.isEmpty ? nil : textStart)
            }
        }
        return Failure(failure == .cancelled ? BOXRETRY_ERROR_CANCELLED : BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED)
    }

    private init(_ error: Int, _ detail: StaticString) {
        self.init(error)
        shim_detail_set(nil, nil, detail.cString)
    }
}

extension shim_place {
    /// A field of an argument.
    init(_ argument: StaticString, _ field: StaticString) {
        self.init(argument: argument.cString, index: -1, field: field.cString, field_index: -1)
    }

    /// An element of the array in a field of an argument.
    init(_ argument: StaticString, _ field: StaticString, at index: Int) {
        self.init(argument: argument.cString, index: -1, field: field.cString, field_index: Int64(index))
    }

    /// A field of an element in an array of structs.
    init(_ argument: StaticString, at index: Int, _ field: StaticString?, at fieldIndex: Int = -1) {
        self.init(
            argument: argument.cString, index: Int64(index), field: field?.cString, field_index: Int64(fieldIndex))
    }
}

extension FailureReason {
    fileprivate func setDetail() {
        let place = shim_place(argument: argument?.cString, index: index, field: field?.cString, field_index: -1)
        withUnsafePointer(to: place) { shim_detail_set_place($0, text, nil) }
    }
}

extension Optional<FailureReason> {
    /// Nil: no details are known.
    func setDetail() {
        if let self { self.setDetail() } else { shim_detail_set(nil, nil, StaticString("").cString) }
    }
}

/// Runs the body of a function of the C interface, and converts a thrown failure to the function's return value.
@inline(__always)
func answer(_ body: () throws(Failure) -> Void) -> boxretry_error {
    do throws(Failure) {
        try body()
        return boxretry_error(BOXRETRY_OK)
    } catch {
        return error.error
    }
}

/// The first check of a blocking function (K4).
func refuseInCallback() throws(Failure) {
    guard !shim_in_callback() else { throw .inCallback("this would block, inside a callback of the library") }
}

@_cdecl("boxretry_error_name") @implementation
public func boxretry_error_name(_ error: boxretry_error) -> UnsafePointer<CChar>! {
    shim_error_name(error)
}

@_cdecl("boxretry_error_text") @implementation
public func boxretry_error_text(_ error: boxretry_error) -> UnsafePointer<CChar>! {
    shim_error_text(error)
}

@_cdecl("boxretry_last_error_detail") @implementation
public func boxretry_last_error_detail() -> UnsafePointer<CChar>! {
    shim_detail()
}
