import CBoxRetry
import CShims
import RetryCore

extension boxretry_request: SizedStruct {
    static var defaults: boxretry_request {
        boxretry_request(
            struct_size: MemoryLayout<boxretry_request>.size, method: nil, url: nil, headers: nil, header_count: 0,
            body: nil, body_length: 0, user_pointer: nil, retry_safety: Int32(BOXRETRY_SAFETY_BY_METHOD),
            body_is_borrowed: 0, timeouts: nil, strategy: nil, deadline_ms: 0, body_limit: 0, queue: nil,
            on_complete: nil, on_complete_context: nil, cancel: nil, body_source: nil, sink: nil, on_progress: nil,
            on_progress_context: nil, before_attempt: nil, before_attempt_context: nil, idempotency_key: nil,
            max_redirects: 0, compression: 0, http_version: 0, authorization: 0, token_source: nil,
            connect_timeout_ms: 0, reconnect: 0, default_headers: 0)
    }

    static var firstSize: Int { 56 }
}

extension boxretry_request {
    /// Whether sending the request twice may have its effect twice (B12). Checks the fields that determine this.
    func checkedIsUnsafe() throws(Failure) -> Bool {
        guard let safety = RequestSafety(rawValue: retry_safety) else {
            throw .invalidArgument(
                "request", "retry_safety", "is not a BOXRETRY_SAFETY_ constant", is: Int64(retry_safety))
        }
        return safety.isUnsafe(method: method, hasKey: idempotency_key != nil)
    }

    /// What a decision or the strategy reads.
    struct Seen {
        let isUnsafe: Bool
        let headers: HeaderList
    }

    /// Checks and lends what a decision or the strategy reads.
    func checkedAsSeen() throws(Failure) -> Seen {
        let isUnsafe = try checkedIsUnsafe()
        guard body != nil || body_length == 0 else {
            throw .invalidArgument("request", "body", "is NULL, but body_length is not 0")
        }
        return Seen(isUnsafe: isUnsafe, headers: try HeaderList(reading: headers, header_count, "request"))
    }

    /// Whether sending the caller's request twice may have its effect twice (B12).
    static func checkedIsUnsafe(_ pointer: UnsafePointer<boxretry_request>?) throws(Failure) -> Bool {
        try read(pointer, "request").checkedAsSeen().isUnsafe
    }

    /// Whether it has a body; `ClientHandle.body` checks which.
    var hasBody: Bool { body_source != nil || body_length > 0 && body != nil }

    /// Whether it overrides settings of the client.
    var hasSettings: Bool {
        timeouts != nil || deadline_ms != 0 || body_limit != 0 || on_progress != nil || before_attempt != nil
            || max_redirects != 0 || compression != 0 || http_version != 0 || connect_timeout_ms != 0 || reconnect != 0
    }
}

extension HeaderList {
    /// Borrows the caller's headers: each is two pointers, and the core uses the same layout.
    @inline(__always)
    init(
        reading headers: UnsafePointer<boxretry_header>?, _ count: Int, _ argument: StaticString
    ) throws(Failure) {
        guard count != 0 else {
            self = .empty
            return
        }
        guard count > 0, count <= Self.maximumCount else {
            throw .invalidArgument(argument, "header_count", "must be at most 65536")
        }
        guard let headers else { throw .invalidArgument(argument, "headers", "is NULL, but header_count is not 0") }
        let pairs = UnsafeRawPointer(headers).assumingMemoryBound(to: UnsafePointer<CChar>?.self)
        guard let list = HeaderList(pairs: pairs, count: count) else {
            let index = (0..<count).first { headers[$0].name == nil || headers[$0].value == nil } ?? -1
            throw .invalidArgument(shim_place(argument, "headers", at: index), "has a name or a value that is NULL")
        }
        self = list
    }

    /// Maximum size of all headers of a request in total.
    static var maximumBytes: Int { 1_000_000 }

    /// Throws if these are not valid headers of a request. `place`: of the header with that index; of all headers for
    /// -1.
    func check(_ place: (Int) -> shim_place) throws(Failure) {
        var failure: Failure?
        var bytes = 0
        var index = 0
        forEach { name, value in
            bytes += shim_length(name) + shim_length(value)
            if failure == nil { failure = Self.problem(name, value, totalBytes: bytes, place, index) }
            index += 1
        }
        if let failure { throw failure }
    }

    private static func problem(
        _ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>, totalBytes: Int, _ place: (Int) -> shim_place,
        _ index: Int
    ) -> Failure? {
        if totalBytes > maximumBytes { return .invalidArgument(place(-1), "are longer than 1000000 bytes in total") }
        // Invalid names are not part of the message, because they may contain anything.
        guard RequestChecks.isHeaderName(name) else {
            return .invalidArgument(place(index), "has an invalid name")
        }
        guard RequestChecks.isHeaderValue(value) else {
            return .invalidArgument(place(index), "has a value with a control character", name)
        }
        guard !RequestChecks.isReservedHeader(name) else {
            return .invalidArgument(place(index), "is set by the library itself", name)
        }
        return nil
    }

    var cHeaders: UnsafePointer<boxretry_header>? {
        pairs.map { UnsafeRawPointer($0).assumingMemoryBound(to: boxretry_header.self) }
    }
}

@_cdecl("boxretry_request_init") @implementation
public func boxretry_request_init(
    _ request: UnsafeMutablePointer<boxretry_request>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in try boxretry_request.initialize(request, "request", structSize: struct_size) }
}
