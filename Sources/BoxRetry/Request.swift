import CBoxRetry
import RetryCore

extension boxretry_request: SizedStruct {
    static var defaults: boxretry_request {
        boxretry_request(
            struct_size: MemoryLayout<boxretry_request>.size, method: nil, url: nil, headers: nil, header_count: 0,
            body: nil, body_length: 0, user_pointer: nil, retry_safety: Int32(BOXRETRY_SAFETY_BY_METHOD), reserved: 0,
            timeouts: nil, strategy: nil, deadline_ms: 0, body_limit: 0, queue: nil, on_complete: nil,
            on_complete_context: nil, cancel: nil)
    }

    static var firstSize: Int { 56 }
}

extension Outcome {
    /// Borrows a caller's request, and checks it.
    mutating func setRequest(_ pointer: UnsafePointer<boxretry_request>) throws(Failure) {
        let request = try boxretry_request.read(pointer, "request")
        guard let safety = RequestSafety(rawValue: request.retry_safety) else {
            throw .invalidArgument("request", "retry_safety", "is no BOXRETRY_SAFETY_", is: Int64(request.retry_safety))
        }
        guard request.reserved == 0 else { throw .invalidArgument("request", "reserved", "must be 0") }
        guard request.body != nil || request.body_length == 0 else {
            throw .invalidArgument("request", "body", "is NULL, but body_length is not 0")
        }
        _ = try HeaderList(reading: request.headers, request.header_count, "request")
        isRequestUnsafe = safety.isUnsafe(method: request.method)
        self.request = UnsafeRawPointer(pointer)
    }
}

extension HeaderList {
    /// Borrows a caller's headers: each is two pointers, and that is how the core sees them.
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
            throw .invalidArgument(argument, "headers", "have a name or a value that is NULL")
        }
        self = list
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
