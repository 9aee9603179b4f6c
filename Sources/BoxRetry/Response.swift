import CBoxRetry
import CShims
import CurlEngine
import RetryCore

/// `boxretry_response`
final class ResponseHandle: Handle, HandleClass {
    static var kind: HandleKind { .response }

    let result: CallResult
    /// Copies of the texts returned by `boxretry_response_error_detail`.
    private var details: [(ErrorDetail, UnsafeMutablePointer<CChar>)] = []

    init(_ result: CallResult) {
        self.result = result
        super.init(.response)
    }

    deinit {
        for (_, copy) in details { shim_free(copy) }
    }

    /// A detail of an error response; nil: it has none, or out of memory.
    func text(of detail: ErrorDetail) -> UnsafePointer<CChar>? {
        for (known, copy) in details where known == detail { return UnsafePointer(copy) }
        switch detail.text(status: result.status, body: result.body, headers: result.headerList) {
        case nil: return nil
        case .header(let value): return value
        case .json(let text):
            guard let copy = shim_allocate(text.count + 1)?.assumingMemoryBound(to: CChar.self) else { return nil }
            var length = 0
            var hasNUL = false
            text.forEachByte { byte in
                copy[length] = CChar(bitPattern: byte)
                hasNUL = hasNUL || byte == 0
                length += 1
            }
            copy[length] = 0
            guard !hasNUL else {
                shim_free(copy)
                return nil
            }
            details.append((detail, copy))
            return UnsafePointer(copy)
        }
    }

    /// Reads a value from a response; `otherwise` for NULL.
    static func read<Value>(_ pointer: OpaquePointer?, _ otherwise: Value, _ body: (CallResult) -> Value) -> Value {
        read(pointer, "response", otherwise) { body($0.result) }
    }
}

extension boxretry_attempt: SizedStruct {
    static var defaults: boxretry_attempt {
        boxretry_attempt(
            struct_size: MemoryLayout<boxretry_attempt>.size, number: 0, exception_number: 0, status: 0, cause: 0,
            action: 0, reason: -1, delay: 0, delay_source: 0, reconnects: 0, started_ms: 0, ended_ms: 0,
            retry_after: -1, curl_code: 0, reserved: 0, curl_text: nil, redirects: 0, http_version: 0, resumed_from: 0,
            bytes_sent: 0, bytes_received: 0, lookup_ms: -1, connect_ms: -1, tls_ms: -1, first_byte_ms: -1,
            request_sent: Int32(BOXRETRY_SENT_UNKNOWN), reserved_2: 0, proxy_status: 0, reserved_3: 0)
    }

    static var firstSize: Int { 160 }
}

extension AttemptRecord {
    fileprivate var cAttempt: boxretry_attempt {
        var attempt = boxretry_attempt.defaults
        attempt.number = number
        attempt.exception_number = exceptionNumber
        attempt.status = status
        attempt.cause = cause.rawValue
        if let decision = decision?.cDecision {
            attempt.action = decision.action
            attempt.reason = decision.reason
            attempt.delay = decision.delay
            attempt.delay_source = decision.delay_source
            attempt.retry_after = decision.retry_after
        }
        attempt.reconnects = reconnects
        attempt.started_ms = Double(startedAt) / 1e6
        attempt.ended_ms = Double(endedAt) / 1e6
        attempt.redirects = redirects
        attempt.http_version = report.http_version
        attempt.resumed_from = resumedFrom
        attempt.bytes_sent = report.sent
        attempt.bytes_received = report.received
        attempt.lookup_ms = Self.milliseconds(report.lookup)
        attempt.connect_ms = Self.milliseconds(report.connect)
        attempt.tls_ms = Self.milliseconds(report.tls)
        attempt.first_byte_ms = Self.milliseconds(report.first_byte)
        attempt.request_sent = requestSent.rawValue
        attempt.proxy_status = report.proxy_status
        attempt.curl_code = curlCode
        attempt.curl_text = curlCode == 0 ? StaticString("").cString : shim_curl_code_text(curlCode)
        return attempt
    }

    private static func milliseconds(_ nanoseconds: Int64) -> Double {
        nanoseconds < 0 ? -1 : Double(nanoseconds) / 1e6
    }
}

extension boxretry_redirect: SizedStruct {
    static var defaults: boxretry_redirect {
        boxretry_redirect(
            struct_size: MemoryLayout<boxretry_redirect>.size, attempt_number: 0, status: 0, url: nil)
    }

    static var firstSize: Int { 24 }
}

extension CallMachine.Ending {
    /// The call's result as an error of the C interface.
    /// The error of a token failure is in the result.
    var cError: boxretry_error {
        switch self {
        case .token: boxretry_error(BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED)
        case .response: boxretry_error(BOXRETRY_OK)
        case .cancelled: boxretry_error(BOXRETRY_ERROR_CANCELLED)
        case .deadline: boxretry_error(BOXRETRY_ERROR_DEADLINE)
        case .callbackFailed: boxretry_error(BOXRETRY_ERROR_CALLBACK_FAILED)
        case .local(.responseTooLarge): boxretry_error(BOXRETRY_ERROR_RESPONSE_TOO_LARGE)
        case .local(.exhausted): boxretry_error(BOXRETRY_ERROR_EXHAUSTED)
        case .local(.outOfMemory): boxretry_error(BOXRETRY_ERROR_OUT_OF_MEMORY)
        case .local(.setting): boxretry_error(BOXRETRY_ERROR_SETTING)
        case .local(.source): boxretry_error(BOXRETRY_ERROR_SOURCE)
        case .local(.sink): boxretry_error(BOXRETRY_ERROR_SINK)
        case .local(.tooManyRedirects): boxretry_error(BOXRETRY_ERROR_TOO_MANY_REDIRECTS)
        case .exception(let cause):
            switch cause {
            case .resolve: boxretry_error(BOXRETRY_ERROR_RESOLVE)
            case .connect: boxretry_error(BOXRETRY_ERROR_CONNECT)
            case .tls: boxretry_error(BOXRETRY_ERROR_TLS)
            case .send: boxretry_error(BOXRETRY_ERROR_SEND)
            case .receive, .none: boxretry_error(BOXRETRY_ERROR_RECEIVE)
            case .protocol: boxretry_error(BOXRETRY_ERROR_PROTOCOL)
            case .timeoutIdle: boxretry_error(BOXRETRY_ERROR_TIMEOUT_IDLE)
            case .timeoutResource: boxretry_error(BOXRETRY_ERROR_TIMEOUT_RESOURCE)
            }
        }
    }
}

@_cdecl("boxretry_response_error") @implementation
public func boxretry_response_error(_ response: OpaquePointer!) -> boxretry_error {
    ResponseHandle.read(response, boxretry_error(BOXRETRY_ERROR_INVALID_ARGUMENT)) { result in
        if result.ending == .token, let failure = result.tokenFailure { return Failure.token(failure).error }
        if case .proxy(let status) = result.reason?.why {
            result.proxyName.withCString { shim_detail_set_proxy($0, status) }
        } else if result.ending != .response {
            result.reason.setDetail()
        }
        return result.ending.cError
    }
}

@_cdecl("boxretry_response_token_error") @implementation
public func boxretry_response_token_error(_ response: OpaquePointer!) -> boxretry_error {
    ResponseHandle.read(response, boxretry_error(BOXRETRY_ERROR_INVALID_ARGUMENT)) { result in
        result.tokenFailure.map { Failure.token($0).error } ?? boxretry_error(BOXRETRY_OK)
    }
}

@_cdecl("boxretry_response_status") @implementation
public func boxretry_response_status(_ response: OpaquePointer!) -> Int32 {
    ResponseHandle.read(response, 0) { $0.status }
}

@_cdecl("boxretry_response_reason_phrase") @implementation
public func boxretry_response_reason_phrase(_ response: OpaquePointer!) -> UnsafePointer<CChar>! {
    ResponseHandle.read(response, nil) { $0.reasonPhrase }
}

@_cdecl("boxretry_response_header") @implementation
public func boxretry_response_header(
    _ response: OpaquePointer!, _ name: UnsafePointer<CChar>!
) -> UnsafePointer<CChar>! {
    guard let name else { return nil }
    return ResponseHandle.read(response, nil) { $0.headerList.firstValue(of: name) }
}

@_cdecl("boxretry_response_error_detail") @implementation
public func boxretry_response_error_detail(
    _ response: OpaquePointer!, _ name: UnsafePointer<CChar>!
) -> UnsafePointer<CChar>! {
    guard let name, let detail = ErrorDetail.named(name) else { return nil }
    return ResponseHandle.read(response, "response", nil) { $0.text(of: detail) }
}

@_cdecl("boxretry_response_header_count") @implementation
public func boxretry_response_header_count(_ response: OpaquePointer!) -> Int {
    ResponseHandle.read(response, 0) { $0.headerList.count }
}

@_cdecl("boxretry_response_header_at") @implementation
public func boxretry_response_header_at(
    _ response: OpaquePointer!, _ index: Int, _ out: UnsafeMutablePointer<boxretry_header>!
) -> boxretry_error {
    ResponseHandle.with(response, "response") { handle throws(Failure) in
        let out = try required(out, "out")
        let list = handle.result.headerList
        guard index >= 0, index < list.count, let headers = list.cHeaders else {
            throw .invalidArgument("index", "is beyond the last header line")
        }
        out.pointee = headers[index]
    }
}

@_cdecl("boxretry_response_body") @implementation
public func boxretry_response_body(
    _ response: OpaquePointer!, _ length: UnsafeMutablePointer<Int>!
) -> UnsafeRawPointer! {
    let empty = UnsafeRawBufferPointer(start: StaticString("").utf8Start, count: 0)
    let body = ResponseHandle.read(response, empty) { $0.body.baseAddress == nil ? empty : $0.body }
    length?.pointee = body.count
    return body.baseAddress
}

@_cdecl("boxretry_response_body_is_cut_off") @implementation
public func boxretry_response_body_is_cut_off(_ response: OpaquePointer!) -> Int32 {
    ResponseHandle.read(response, 0) { $0.isBodyCutOff ? 1 : 0 }
}

@_cdecl("boxretry_response_sink_length") @implementation
public func boxretry_response_sink_length(_ response: OpaquePointer!) -> Int64 {
    ResponseHandle.read(response, 0) { $0.sinkLength }
}

@_cdecl("boxretry_response_url") @implementation
public func boxretry_response_url(_ response: OpaquePointer!) -> UnsafePointer<CChar>! {
    ResponseHandle.read(response, nil) { $0.url }
}

@_cdecl("boxretry_response_user_pointer") @implementation
public func boxretry_response_user_pointer(_ response: OpaquePointer!) -> UnsafeMutableRawPointer! {
    ResponseHandle.read(response, nil) { $0.userPointer }
}

@_cdecl("boxretry_response_attempt_count") @implementation
public func boxretry_response_attempt_count(_ response: OpaquePointer!) -> Int {
    ResponseHandle.read(response, 0) { $0.records.count }
}

@_cdecl("boxretry_response_attempt") @implementation
public func boxretry_response_attempt(
    _ response: OpaquePointer!, _ index: Int, _ out: UnsafeMutablePointer<boxretry_attempt>!
) -> boxretry_error {
    ResponseHandle.with(response, "response") { handle throws(Failure) in
        let out = try required(out, "out")
        let size = try boxretry_attempt.checkedSize(out, "out")
        let records = handle.result.records
        guard index >= 0, index < records.count else { throw .invalidArgument("index", "is beyond the last attempt") }
        boxretry_attempt.write(records[index].cAttempt, to: out, callerSize: size)
    }
}

@_cdecl("boxretry_response_redirect_count") @implementation
public func boxretry_response_redirect_count(_ response: OpaquePointer!) -> Int {
    ResponseHandle.read(response, 0) { $0.redirects.count }
}

@_cdecl("boxretry_response_redirect") @implementation
public func boxretry_response_redirect(
    _ response: OpaquePointer!, _ index: Int, _ out: UnsafeMutablePointer<boxretry_redirect>!
) -> boxretry_error {
    ResponseHandle.with(response, "response") { handle throws(Failure) in
        let out = try required(out, "out")
        let size = try boxretry_redirect.checkedSize(out, "out")
        let redirects = handle.result.redirects
        guard index >= 0, index < redirects.count else {
            throw .invalidArgument("index", "is beyond the last redirect")
        }
        var redirect = boxretry_redirect.defaults
        redirect.attempt_number = redirects[index].attemptNumber
        redirect.status = redirects[index].status
        redirect.url = redirects[index].url
        boxretry_redirect.write(redirect, to: out, callerSize: size)
    }
}

extension boxretry_reconnect: SizedStruct {
    static var defaults: boxretry_reconnect {
        boxretry_reconnect(
            struct_size: MemoryLayout<boxretry_reconnect>.size, attempt_number: 0, cause: Int32(BOXRETRY_CAUSE_NONE),
            at_ms: 0)
    }

    static var firstSize: Int { 24 }
}

@_cdecl("boxretry_reconnect_init") @implementation
public func boxretry_reconnect_init(
    _ reconnect: UnsafeMutablePointer<boxretry_reconnect>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in
        try boxretry_reconnect.initialize(reconnect, "reconnect", structSize: struct_size)
    }
}

@_cdecl("boxretry_response_reconnect_count") @implementation
public func boxretry_response_reconnect_count(_ response: OpaquePointer!) -> Int {
    ResponseHandle.read(response, 0) { $0.reconnects.count }
}

@_cdecl("boxretry_response_reconnect") @implementation
public func boxretry_response_reconnect(
    _ response: OpaquePointer!, _ index: Int, _ out: UnsafeMutablePointer<boxretry_reconnect>!
) -> boxretry_error {
    ResponseHandle.with(response, "response") { handle throws(Failure) in
        let out = try required(out, "out")
        let size = try boxretry_reconnect.checkedSize(out, "out")
        let reconnects = handle.result.reconnects
        guard index >= 0, index < reconnects.count else {
            throw .invalidArgument("index", "is beyond the last reconnect")
        }
        var reconnect = boxretry_reconnect.defaults
        reconnect.attempt_number = reconnects[index].attemptNumber
        reconnect.cause = reconnects[index].cause.rawValue
        reconnect.at_ms = Double(reconnects[index].at) / 1e6
        boxretry_reconnect.write(reconnect, to: out, callerSize: size)
    }
}

@_cdecl("boxretry_response_free") @implementation
public func boxretry_response_free(_ response: OpaquePointer!) {
    ResponseHandle.take(response)
}

@_cdecl("boxretry_attempt_init") @implementation
public func boxretry_attempt_init(
    _ attempt: UnsafeMutablePointer<boxretry_attempt>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in try boxretry_attempt.initialize(attempt, "attempt", structSize: struct_size) }
}

@_cdecl("boxretry_redirect_init") @implementation
public func boxretry_redirect_init(
    _ redirect: UnsafeMutablePointer<boxretry_redirect>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in try boxretry_redirect.initialize(redirect, "redirect", structSize: struct_size) }
}
