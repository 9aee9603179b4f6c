import CBoxRetry
import CShims
import CurlEngine
import RetryCore

/// `boxretry_client`
final class ClientHandle: Handle, HandleClass {
    static var kind: HandleKind { .client }

    let engine: Engine
    let strategy: any RetryStrategy
    let settings: CallSettings

    init(_ engine: Engine, strategy: any RetryStrategy, settings: CallSettings) {
        self.engine = engine
        self.strategy = strategy
        self.settings = settings
        super.init(.client)
    }
}

// MARK: - Structs

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
private func checkedSize(
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

// MARK: - Functions

@_cdecl("boxretry_client_new") @implementation
public func boxretry_client_new(
    _ options: UnsafePointer<boxretry_client_options>!, _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    answer { () throws(Failure) in
        let options = options == nil ? .defaults : try boxretry_client_options.read(options, "options")
        let out = try required(out, "out")
        var settings = CallSettings()
        try settings.set(options)
        let strategy: any RetryStrategy
        if let pointer = options.strategy {
            strategy = try StrategyHandle.retained(pointer, "strategy").strategy
        } else {
            strategy = BoxRetryStrategy(checked: BoxRetryOptions())
        }
        let engineSettings = try EngineSettings(options)
        do throws(Engine.SetupFailure) {
            let engine = try Engine(settings: engineSettings, clock: systemClock)
            ClientHandle(engine, strategy: strategy, settings: settings).give(to: out)
        } catch {
            switch error {
            case .outOfMemory: throw .outOfMemory
            case .exhausted: throw .exhausted
            }
        }
    }
}

extension ClientHandle {
    /// Checks and copies a request, and makes a call of it.
    func makeCall(
        _ pointer: UnsafePointer<boxretry_request>?, delivery: (boxretry_request) throws(Failure) -> Call.Delivery
    ) throws(Failure) -> Call {
        let request = try boxretry_request.read(pointer, "request")
        var outcome = Outcome(status: 0)
        try outcome.setRequest(try required(pointer, "request"))
        var settings = settings
        try settings.set(timeouts: request.timeouts)
        try settings.set(deadline: request.deadline_ms, "request")
        settings.bodyLimit = try checkedSize(
            request.body_limit, "request", "body_limit", orDefault: settings.bodyLimit)
        var strategy = strategy
        if let pointer = request.strategy { strategy = try StrategyHandle.retained(pointer, "strategy").strategy }
        let cancel: CancelSwitch?
        if let pointer = request.cancel {
            cancel = try CancelHandle.retained(pointer, "cancel").cancelSwitch
        } else {
            cancel = nil
        }
        return Call(
            engine: engine, request: try RequestCopy.checked(request), strategy: strategy, settings: settings,
            delivery: try delivery(request), cancelSwitch: cancel, userPointer: request.user_pointer)
    }
}

extension RequestCopy {
    fileprivate static func checked(_ request: boxretry_request) throws(Failure) -> RequestCopy {
        let list = try HeaderList(reading: request.headers, request.header_count, "request")
        let method: UnsafePointer<CChar> = request.method ?? StaticString("GET").cString
        guard RequestChecks.isMethod(method) else { throw .invalidArgument("request", "method", "is no HTTP method") }
        guard let url = request.url else { throw .invalidArgument("request", "url", "is NULL") }
        var origin: UInt64 = 0
        var needsLookup = false
        guard RequestChecks.isURL(url), shim_url_check(url, &origin, &needsLookup) else {
            throw .invalidArgument("request", "url", "is no http or https URL")
        }
        var problem: StaticString?
        var bytes = 0
        list.forEach { name, value in
            bytes += shim_length(name) + shim_length(value)
            if bytes > 1_000_000 {
                problem = "are longer than 1000000 bytes in all"
            } else if !RequestChecks.isHeaderName(name) {
                problem = "have a name that is no token"
            } else if !RequestChecks.isHeaderValue(value) {
                problem = "have a value with a control character"
            } else if RequestChecks.isReservedHeader(name) {
                problem = "have one that the library writes itself"
            }
        }
        if let problem { throw .invalidArgument("request", "headers", problem) }
        guard request.body_length >= 0 else { throw .invalidArgument("request", "body_length", "must be below 2^63") }
        let body = request.body_length > 0 ? request.body : nil
        let copy = RequestCopy(
            method: method, url: url, headers: list, body: body.map { UnsafeRawPointer($0) },
            bodyLength: request.body_length, safety: RequestSafety(rawValue: request.retry_safety) ?? .byMethod,
            origin: origin, needsLookup: needsLookup)
        guard let copy, let description = shim_allocate(MemoryLayout<boxretry_request>.size) else {
            throw .outOfMemory
        }
        var seen = boxretry_request.defaults
        seen.method = UnsafePointer(copy.method)
        seen.url = UnsafePointer(copy.url)
        seen.headers = copy.headers.cHeaders
        seen.header_count = copy.headers.count
        seen.body = copy.body.map { UnsafeRawPointer($0) }
        seen.body_length = copy.bodyLength
        seen.user_pointer = request.user_pointer
        seen.retry_safety = request.retry_safety
        description.bindMemory(to: boxretry_request.self, capacity: 1).initialize(to: seen)
        copy.description = description
        return copy
    }
}

@_cdecl("boxretry_client_perform") @implementation
public func boxretry_client_perform(
    _ client: OpaquePointer!, _ request: UnsafePointer<boxretry_request>!,
    _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    answer { () throws(Failure) in
        try refuseInCallback()
        // Retained: another thread may free the client meanwhile.
        let handle = try ClientHandle.retained(try required(client, "client"), "client")
        let out = try required(out, "out")
        let call = try handle.makeCall(request) { _ in .none }
        guard handle.engine.perform(call) else { throw .closed("client") }
        guard let result = handle.engine.takeResult(of: call) else { throw .outOfMemory }
        ResponseHandle(result).give(to: out)
    }
}

@_cdecl("boxretry_client_submit") @implementation
public func boxretry_client_submit(
    _ client: OpaquePointer!, _ request: UnsafePointer<boxretry_request>!,
    _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    ClientHandle.with(client, "client") { handle throws(Failure) in
        let call = try handle.makeCall(request) { request throws(Failure) in try delivery(of: request) }
        if case .none = call.delivery { _ = try required(out, "out") }
        let callHandle = CallHandle(call)
        call.handle = Unmanaged.passRetained(callHandle).toOpaque()
        // A callback gets the handle even if its owner has freed it.
        if case .callback = call.delivery { _ = Unmanaged.passRetained(callHandle) }
        call.isUnowned = out == nil
        guard handle.engine.submit(call) else {
            CallHandle.release(call.handle)
            if case .callback = call.delivery { CallHandle.release(call.handle) }
            throw .closed("client")
        }
        out?.pointee = OpaquePointer(Unmanaged.passUnretained(callHandle).toOpaque())
    }
}

private func delivery(of request: boxretry_request) throws(Failure) -> Call.Delivery {
    if let queue = request.queue { return .queue(try QueueHandle.retained(queue, "queue").queue) }
    guard let onComplete = request.on_complete else { return .none }
    let context = request.on_complete_context
    return .callback { call in
        shim_callback_enter()
        onComplete(context, call.handle.map { OpaquePointer($0) })
        shim_callback_leave()
        CallHandle.release(call.handle)
        if call.isUnowned { CallHandle.release(call.handle) }
    }
}

@_cdecl("boxretry_client_close") @implementation
public func boxretry_client_close(_ client: OpaquePointer!, _ timeout_ms: Int64) -> boxretry_error {
    answer { () throws(Failure) in
        try refuseInCallback()
        let engine = try ClientHandle.retained(try required(client, "client"), "client").engine
        let limit = try checkedLimit(timeout_ms)
        engine.close()
        guard engine.waitUntilIdle(until: limit) else { throw .waitTimeout }
    }
}

/// The moment until which to wait.
func checkedLimit(_ milliseconds: Int64) throws(Failure) -> Int64 {
    guard milliseconds >= 0 else {
        throw .invalidArgument("timeout_ms", nil, "must be 0 or more", is: milliseconds)
    }
    return systemClock.monotonic.advanced(byMilliseconds: milliseconds).nanoseconds
}

@_cdecl("boxretry_client_free") @implementation
public func boxretry_client_free(_ client: OpaquePointer!) {
    ClientHandle.take(client) { $0.engine.close() }
}

@_cdecl("boxretry_client_get_stats") @implementation
public func boxretry_client_get_stats(
    _ client: OpaquePointer!, _ out: UnsafeMutablePointer<boxretry_client_stats>!
) -> boxretry_error {
    ClientHandle.with(client, "client") { handle throws(Failure) in
        let out = try required(out, "out")
        let size = try boxretry_client_stats.checkedSize(out, "out")
        let stats = handle.engine.currentStats
        boxretry_client_stats.write(
            boxretry_client_stats(
                struct_size: MemoryLayout<boxretry_client_stats>.size, calls_started: stats.calls,
                calls_ended: stats.ended, attempts: stats.attempts, retries: stats.retries,
                reconnects: stats.reconnects), to: out, callerSize: size)
    }
}

@_cdecl("boxretry_timeouts_init") @implementation
public func boxretry_timeouts_init(
    _ timeouts: UnsafeMutablePointer<boxretry_timeouts>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in try boxretry_timeouts.initialize(timeouts, "timeouts", structSize: struct_size) }
}

@_cdecl("boxretry_client_options_init") @implementation
public func boxretry_client_options_init(
    _ options: UnsafeMutablePointer<boxretry_client_options>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in try boxretry_client_options.initialize(options, "options", structSize: struct_size) }
}

@_cdecl("boxretry_client_stats_init") @implementation
public func boxretry_client_stats_init(
    _ stats: UnsafeMutablePointer<boxretry_client_stats>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in try boxretry_client_stats.initialize(stats, "stats", structSize: struct_size) }
}
