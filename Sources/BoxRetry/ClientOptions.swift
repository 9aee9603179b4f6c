import CBoxRetry
import CShims
import CurlEngine
import RetryCore

extension boxretry_timeouts: SizedStruct {
    static var defaults: boxretry_timeouts {
        let settings = CallSettings()
        return boxretry_timeouts(
            struct_size: MemoryLayout<boxretry_timeouts>.size,
            timeout_interval_for_request_ms: settings.idleTimeout / 1_000_000,
            timeout_interval_for_resource_ms: settings.resourceTimeout / 1_000_000)
    }

    static var firstSize: Int { 24 }
}

extension boxretry_client_options: SizedStruct {
    static var defaults: boxretry_client_options {
        boxretry_client_options(
            struct_size: MemoryLayout<boxretry_client_options>.size, strategy: nil, timeouts: nil, deadline_ms: 0,
            user_agent: nil, ca_file: nil, proxy: nil, proxy_mode: Int32(BOXRETRY_PROXY_ENVIRONMENT),
            max_total_attempts: 0, max_transfers: 0, max_response_headers: 0, max_response_header_bytes: 0,
            body_limit: 0, error_body_limit: 0, on_event: nil, on_event_context: nil)
    }

    static var firstSize: Int { 112 }
}

extension boxretry_client_stats: SizedStruct {
    static var defaults: boxretry_client_stats {
        boxretry_client_stats(
            struct_size: MemoryLayout<boxretry_client_stats>.size, calls_started: 0, calls_ended: 0, attempts: 0,
            retries: 0, reconnects: 0)
    }

    static var firstSize: Int { 48 }
}

extension CallSettings {
    /// M3.
    mutating func set(timeouts pointer: UnsafePointer<boxretry_timeouts>?) throws(Failure) {
        guard let pointer else { return }
        let timeouts = try boxretry_timeouts.read(pointer, "timeouts")
        idleTimeout = try Self.nanoseconds(timeouts.timeout_interval_for_request_ms, "timeout_interval_for_request_ms")
        resourceTimeout = try Self.nanoseconds(
            timeouts.timeout_interval_for_resource_ms, "timeout_interval_for_resource_ms")
    }

    private static func nanoseconds(_ milliseconds: Int64, _ field: StaticString) throws(Failure) -> Int64 {
        guard milliseconds >= 1 else {
            throw .invalidArgument("timeouts", field, "must be 1 or more", is: milliseconds)
        }
        let (nanoseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : nanoseconds
    }

    /// 0 leaves the deadline as it is.
    mutating func set(deadline milliseconds: Int64, _ argument: StaticString) throws(Failure) {
        guard milliseconds != 0 else { return }
        guard milliseconds >= 1 else {
            throw .invalidArgument(argument, "deadline_ms", "must be 0 or more", is: milliseconds)
        }
        deadline = milliseconds
    }

    mutating func set(_ options: boxretry_client_options) throws(Failure) {
        try set(timeouts: options.timeouts)
        try set(deadline: options.deadline_ms, "options")
        maxTotalAttempts = try checkedCount(
            options.max_total_attempts, "max_total_attempts", upTo: 1_000_000, "must be from 0 to 1000000",
            orDefault: maxTotalAttempts)
        maxHeaderLines = Int(
            try checkedCount(
                options.max_response_headers, "max_response_headers", upTo: 65_536, "must be from 0 to 65536",
                orDefault: Int32(maxHeaderLines)))
        let headerBytes = try checkedSize(
            options.max_response_header_bytes, "options", "max_response_header_bytes", orDefault: maxHeaderBytes)
        guard headerBytes <= maxHeaderBytes else {
            throw .invalidArgument("options", "max_response_header_bytes", "must be at most 262144")
        }
        maxHeaderBytes = headerBytes
        bodyLimit = try checkedSize(options.body_limit, "options", "body_limit", orDefault: bodyLimit)
        errorBodyLimit = try checkedSize(
            options.error_body_limit, "options", "error_body_limit", orDefault: errorBodyLimit)
    }
}

/// A count for which 0 means the default.
private func checkedCount(
    _ count: Int32, _ field: StaticString, upTo maximum: Int32, _ why: StaticString, orDefault: Int32
) throws(Failure) -> Int32 {
    guard count != 0 else { return orDefault }
    guard count > 0, count <= maximum else { throw .invalidArgument("options", field, why, is: Int64(count)) }
    return count
}

/// A number of bytes for which 0 means the default.
func checkedSize(
    _ size: Int, _ argument: StaticString, _ field: StaticString, orDefault: Int
) throws(Failure) -> Int {
    guard size != 0 else { return orDefault }
    guard size > 0 else { throw .invalidArgument(argument, field, "must be below 2^63") }
    return size
}

extension EngineSettings {
    init(_ options: boxretry_client_options) throws(Failure) {
        self.init()
        maxTransfers = Int(
            try checkedCount(
                options.max_transfers, "max_transfers", upTo: 100_000, "must be from 0 to 100000",
                orDefault: Int32(maxTransfers)))
        if let agent = options.user_agent, !RequestChecks.isHeaderValue(agent) {
            throw .invalidArgument("options", "user_agent", "has a control character")
        }
        switch Int(options.proxy_mode) {
        case BOXRETRY_PROXY_ENVIRONMENT: break
        case BOXRETRY_PROXY_NONE: proxy = try copied(StaticString("").cString)
        case BOXRETRY_PROXY_GIVEN:
            guard let url = options.proxy, RequestChecks.isURL(url) else {
                throw .invalidArgument("options", "proxy", "is no URL")
            }
            proxy = try copied(url)
        default: throw .invalidArgument("options", "proxy_mode", "is none", is: Int64(options.proxy_mode))
        }
        if let agent = options.user_agent {
            userAgent = try copied(agent)
        } else {
            userAgent = try copied(shim_default_user_agent())
        }
        dropHandle = { CallHandle.release($0) }
        if let callback = options.on_event {
            let context = options.on_event_context
            onEvent = { event in
                withUnsafePointer(to: event.cEvent) { cEvent in
                    shim_callback_enter()
                    callback(context, cEvent)
                    shim_callback_leave()
                }
            }
        }
        caFile = options.ca_file == nil ? nil : try copied(options.ca_file)
    }
}

extension EngineEvent {
    fileprivate var cEvent: boxretry_event {
        let decision = record?.decision?.cDecision
        return boxretry_event(
            struct_size: MemoryLayout<boxretry_event>.size, kind: kind.rawValue, attempt_number: attemptNumber,
            exception_number: record?.exceptionNumber ?? 0, status: record?.status ?? 0,
            cause: record?.cause.rawValue ?? 0, error: ending?.cError ?? 0, action: decision?.action ?? 0,
            reason: decision?.reason ?? -1, delay: decision?.delay ?? 0, delay_source: decision?.delay_source ?? 0,
            reserved: 0, at_ms: Double(at) / 1e6, method: UnsafePointer(call.request.method),
            url: UnsafePointer(call.request.url), user_pointer: call.userPointer)
    }
}

private func copied(_ text: UnsafePointer<CChar>?) throws(Failure) -> UnsafeMutablePointer<CChar> {
    guard let copy = shim_copy_string(text) else { throw .outOfMemory }
    return copy
}
