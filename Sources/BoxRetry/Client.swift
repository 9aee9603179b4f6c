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

extension HeaderList {
    /// Refuses what could end a line, or be too much, and what the library writes itself.
    func checkForSending(_ argument: StaticString) throws(Failure) {
        var problem: StaticString?
        var bytes = 0
        forEach { name, value in
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
        if let problem { throw .invalidArgument(argument, "headers", problem) }
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
        try list.checkForSending("request")
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
        try handle.engine.perform(call).check()
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
        let start = handle.engine.submit(call)
        if start != .begun {
            CallHandle.release(call.handle)
            if case .callback = call.delivery { CallHandle.release(call.handle) }
        }
        try start.check()
        out?.pointee = OpaquePointer(Unmanaged.passUnretained(callHandle).toOpaque())
    }
}

extension Engine.Start {
    fileprivate func check() throws(Failure) {
        switch self {
        case .begun: return
        case .closed: throw .closed("client")
        case .exhausted: throw .exhausted
        }
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
