import CBoxRetry
import CShims
import CurlEngine
import RetryCore

/// `boxretry_client`
final class ClientHandle: Handle, HandleClass {
    static var kind: HandleKind { .client }

    let engine: Engine
    /// Identifies the engine's calls that belong to this client.
    let owner: CallOwner
    private let parts: Parts
    private var tokens: TokenSource? { parts.tokens }
    private let lastTarget = LastTarget()

    /// What can differ between clients that share an engine.
    struct Parts {
        var strategy: any RetryStrategy
        private(set) var settings: CallSettings
        /// The settings of calls whose requests do not override any.
        private(set) var callSettings: SharedCallSettings
        var idempotencyHeader: IdempotencyHeader
        var tokens: TokenSource?
        /// Headers of all requests; nil: none.
        var headers: OwnedHeaders?

        init(_ options: boxretry_client_options) throws(Failure) {
            strategy = BoxRetryStrategy(checked: try BoxRetryOptions(preset: options.preset))
            settings = CallSettings()
            settings.mayReconnect = Int(options.preset) != BOXRETRY_PRESET_JANUARY  // B13
            callSettings = SharedCallSettings(settings)
            idempotencyHeader = try IdempotencyHeader.checked(nil)
            try set(options)
        }

        /// Applies options; fields that are 0 or NULL change nothing.
        mutating func set(_ options: boxretry_client_options) throws(Failure) {
            try settings.set(options)
            if let pointer = options.strategy {
                strategy = try StrategyHandle.retained(pointer, "options.strategy").strategy
            }
            if let name = options.idempotency_key_header { idempotencyHeader = try IdempotencyHeader.checked(name) }
            if let source = try TokenSourceHandle.source(behind: options.token_source, "options.token_source") {
                tokens = source
            }
            if options.allow_insecure_token != 0 { settings.allowsInsecureToken = true }
            let list = try HeaderList(reading: options.headers, options.header_count, "options")
            try list.check { shim_place("options", "headers", at: $0) }
            headers = try headers.merged(with: list)
            callSettings = SharedCallSettings(try settings.overridden(by: .defaults))
        }
    }

    init(_ engine: Engine, _ owner: CallOwner, _ parts: Parts) {
        self.engine = engine
        self.owner = owner
        self.parts = parts
        super.init(.client)
    }
}

extension OwnedHeaders? {
    /// A copy of these headers and of `others`, which replace headers with the same name; nil if there are none.
    fileprivate func merged(with others: HeaderList) throws(Failure) -> OwnedHeaders? {
        guard others.count > 0 else { return self }
        guard let copy = OwnedHeaders.copy(of: self?.list ?? .empty) else { throw .outOfMemory }
        others.forEach { name, _ in copy.remove { RequestChecks.isSameHeader($0, name) } }
        var isComplete = true
        others.forEach { name, value in isComplete = isComplete && copy.append(name, value) }
        guard isComplete else { throw .outOfMemory }
        return copy
    }
}

@_cdecl("boxretry_client_new") @implementation
public func boxretry_client_new(
    _ options: UnsafePointer<boxretry_client_options>!, _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    answer { () throws(Failure) in
        let options = options == nil ? .defaults : try boxretry_client_options.read(options, "options")
        let out = try required(out, "out")
        let clock = try TokenClock(behind: options.clock)
        let parts = try ClientHandle.Parts(options)
        let engineSettings = try EngineSettings.checked(options)
        do throws(Engine.SetupFailure) {
            let engine = try Engine.make(settings: engineSettings, clock: clock)
            guard let owner = engine.addOwner(from: nil) else { throw .outOfMemory }
            ClientHandle(engine, owner, parts).give(to: out)
        } catch {
            throw .setup(error)
        }
    }
}

@_cdecl("boxretry_client_new_derived") @implementation
public func boxretry_client_new_derived(
    _ from: OpaquePointer!, _ options: UnsafePointer<boxretry_client_options>!,
    _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    answer { () throws(Failure) in
        // Retained, because another thread may free it meanwhile.
        let from = try ClientHandle.retained(try required(from, "from"), "from")
        let options = options == nil ? .defaults : try boxretry_client_options.read(options, "options")
        let out = try required(out, "out")
        if let field = options.firstSharedSetting {
            throw .invalidArgument(
                "options", field, "is shared with the client that this one derives from; it cannot be set here")
        }
        let parts = try from.parts(changedBy: options)
        guard let owner = from.engine.addOwner(from: from.owner) else { throw .closed("from") }
        ClientHandle(from.engine, owner, parts).give(to: out)
    }
}

extension boxretry_client_options {
    /// The first field without its default value that applies to the engine, which derived clients share.
    fileprivate var firstSharedSetting: StaticString? {
        if user_agent != nil { return "user_agent" }
        if ca_file != nil { return "ca_file" }
        if proxy != nil { return "proxy" }
        if proxy_mode != Int32(BOXRETRY_PROXY_ENVIRONMENT) { return "proxy_mode" }
        if max_transfers != 0 { return "max_transfers" }
        if on_event != nil { return "on_event" }
        if preset != Int32(BOXRETRY_PRESET_BOX) { return "preset" }
        if max_transfers_per_host != 0 { return "max_transfers_per_host" }
        if max_lookups != 0 { return "max_lookups" }
        if client_certificate != nil { return "client_certificate" }
        if client_key != nil { return "client_key" }
        if client_key_password != nil { return "client_key_password" }
        if unix_socket != nil { return "unix_socket" }
        if secret_header_count != 0 { return "secret_header_count" }
        if on_transfer != nil { return "on_transfer" }
        if replay_code_count != 0 { return "replay_code_count" }
        if budget_capacity != 0 { return "budget_capacity" }
        if budget_ratio != 0 { return "budget_ratio" }
        if tls_verify != 0 { return "tls_verify" }
        if ca_path != nil { return "ca_path" }
        if budget != nil { return "budget" }
        if clock != nil { return "clock" }
        if share_retry_after != 0 { return "share_retry_after" }
        if threads != 0 { return "threads" }
        return nil
    }
}

extension ClientHandle {
    /// The parts of a client that is derived from this one.
    fileprivate func parts(changedBy options: boxretry_client_options) throws(Failure) -> Parts {
        var parts = parts
        try parts.set(options)
        return parts
    }
}

extension ClientHandle {
    /// Checks and copies a request, and creates its call.
    ///
    /// - `isSubmitted`: its end comes as the request says; otherwise, its caller waits for it.
    @_optimize(speed)
    func makeCall(
        _ pointer: UnsafePointer<boxretry_request>?, isSubmitted: Bool
    ) throws(Failure) -> Call {
        // Opening files is a cancellation point.
        shim_thread_disable_cancel()
        defer { shim_thread_restore_cancel() }
        let request = try boxretry_request.read(pointer, "request")
        let seen = try request.checkedAsSeen()
        var settings = parts.callSettings
        if request.hasSettings { settings = SharedCallSettings(try parts.settings.overridden(by: request)) }
        var strategy = parts.strategy
        if let pointer = request.strategy {
            strategy = try StrategyHandle.retained(pointer, "request.strategy").strategy
        }
        let cancel = try CancelHandle.cancelSwitch(behind: request.cancel, "request.cancel")
        let sink = try boxretry_sink.checked(request.sink)
        let copy = try copy(of: request, seen)
        let tokens = try tokens(for: request, copy, settings)
        if strategy.callsBack { try describe(copy, request) }
        return Call(
            engine: engine, request: copy, strategy: strategy, settings: settings,
            delivery: isSubmitted ? try delivery(of: request) : .none, cancelSwitch: cancel,
            userPointer: request.user_pointer, sink: sink,
            tokens: tokens, owner: owner)
    }

    /// The source of the call's access tokens; nil: none (T13).
    private func tokens(
        for request: boxretry_request, _ copy: RequestCopy, _ settings: SharedCallSettings
    ) throws(Failure) -> TokenSource? {
        let own = try TokenSourceHandle.source(behind: request.token_source, "request.token_source")
        let isWanted = try isOn(request.authorization, "request", "authorization", byDefault: true)
        guard let tokens = own ?? tokens else { return nil }
        guard engine.canHost(tokens) else {
            throw .invalidArgument(
                own == nil ? "options" : "request", "token_source",
                "has another clock than the client, which has no thread")
        }
        switch engine.settings.transport.carriage(
            to: copy.parsedURL, allowsInsecure: settings.value.allowsInsecureToken,
            hasAuthorization: copy.hasAuthorization,
            isDeclined: !isWanted)
        {
        case .noToken: return nil
        case .token: return tokens
        case .refused:
            throw .invalidArgument(
                "request", "url",
                "would send the token over plain http to another machine or a proxy; set allow_insecure_token to allow this"
            )
        }
    }

    private func copy(of request: boxretry_request, _ seen: boxretry_request.Seen) throws(Failure) -> RequestCopy {
        let target = try target(of: request)
        try seen.headers.check { shim_place("request", "headers", at: $0) }
        var headers = parts.headers
        if seen.headers.count > 0 { headers = try headers.merged(with: seen.headers) }
        if let key = request.idempotency_key {
            guard let copy = OwnedHeaders.copy(of: headers?.list ?? .empty) else { throw .outOfMemory }
            try parts.idempotencyHeader.add(key, to: copy)
            headers = copy
        }
        let addsDefaults = try isOn(request.default_headers, "request", "default_headers", byDefault: true)
        let body = try body(of: request)
        let copy = RequestCopy.make(
            to: target, headers: headers, body: body, isUnsafe: seen.isUnsafe, addsDefaults: addsDefaults)
        guard let copy else {
            body.free()
            throw .outOfMemory
        }
        return copy
    }

    /// Where the request goes: the target of the request before it, if it is the same, else a new one.
    private func target(of request: boxretry_request) throws(Failure) -> Target {
        let method: UnsafePointer<CChar> = request.method ?? StaticString("GET").cString
        if let url = request.url,
            let target = lastTarget.matching(method: method, url: url, hasBody: request.hasBody)
        {
            return target
        }
        guard RequestChecks.isMethod(method) else {
            throw .invalidArgument("request", "method", "is not an HTTP method")
        }
        let (url, parsedURL) = try checkedURL(request.url, "request")
        guard let target = Target.make(method: method, url: url, parsedURL: parsedURL, hasBody: request.hasBody) else {
            throw .outOfMemory
        }
        lastTarget.keep(target)
        return target
    }

    /// Stores the description of a request that custom strategies see.
    private func describe(_ copy: RequestCopy, _ request: boxretry_request) throws(Failure) {
        guard let description = shim_allocate(MemoryLayout<boxretry_request>.size) else { throw .outOfMemory }
        var seen = boxretry_request.defaults
        seen.method = copy.method
        seen.url = copy.url
        seen.headers = copy.headers.cHeaders
        seen.header_count = copy.headers.count
        if case .memory(let bytes, let count, _) = copy.body {
            seen.body = bytes
            seen.body_length = count
        }
        seen.user_pointer = request.user_pointer
        seen.retry_safety = request.retry_safety
        description.bindMemory(to: boxretry_request.self, capacity: 1).initialize(to: seen)
        copy.description = description
    }

    private func body(of request: boxretry_request) throws(Failure) -> RequestCopy.Body {
        let isBorrowed = request.body_is_borrowed != 0
        if let source = request.body_source {
            guard request.body == nil else {
                throw .invalidArgument("request", "body_source", "and body are both set")
            }
            return try .checked(source, isBorrowed: isBorrowed, engine)
        }
        guard request.body_length >= 0 else { throw .invalidArgument("request", "body_length", "must be below 2^63") }
        guard request.body_length > 0, let body = request.body else { return .none }
        if isBorrowed { return .memory(body, count: request.body_length, isCopy: false) }
        guard let copy = shim_copy_bytes(body, request.body_length) else { throw .outOfMemory }
        return .memory(copy, count: request.body_length, isCopy: true)
    }
}

/// A URL that can be fetched, and the properties of its origin.
func checkedURL(
    _ url: UnsafePointer<CChar>?, _ argument: StaticString
) throws(Failure) -> (UnsafePointer<CChar>, shim_url) {
    guard let url else { throw .invalidArgument(argument, "url", "is NULL") }
    var parsedURL = shim_url()
    try checkURL(url, argument, "url") { shim_url_check(url, &parsedURL, &$0) }
    return (url, parsedURL)
}

/// Throws if `check`, which returns SHIM_URL_… and a text for the problem, rejects the URL.
func checkURL(
    _ url: UnsafePointer<CChar>, _ argument: StaticString, _ field: StaticString,
    check: (inout UnsafePointer<CChar>?) -> Int32
) throws(Failure) {
    if let problem = RequestChecks.urlProblem(url) { throw .invalidArgument(argument, field, problem) }
    var problem: UnsafePointer<CChar>?
    let result = Int(check(&problem))
    guard result != SHIM_URL_NO_MEMORY else { throw .outOfMemory }
    if let problem { throw .invalidArgument(argument, field, problem) }
}

/// The name of the header for idempotency keys.
final class IdempotencyHeader {
    private let name: UnsafeMutablePointer<CChar>

    /// NULL: the default name.
    static func checked(_ name: UnsafePointer<CChar>?) throws(Failure) -> IdempotencyHeader {
        let name = name ?? StaticString("Idempotency-Key").cString
        guard RequestChecks.isHeaderName(name), !RequestChecks.isReservedHeader(name) else {
            throw .invalidArgument("options", "idempotency_key_header", "is not a header name")
        }
        return IdempotencyHeader(try copied(name))
    }

    private init(_ name: UnsafeMutablePointer<CChar>) {
        self.name = name
    }

    deinit {
        shim_free(name)
    }

    /// Adds a key; "": generates one.
    func add(_ key: UnsafePointer<CChar>, to headers: OwnedHeaders) throws(Failure) {
        var random: [37 of CChar] = .init(repeating: 0)
        var span = random.mutableSpan
        let isAdded = try span.withUnsafeMutableBufferPointer { buffer throws(Failure) -> Bool in
            var key = key
            if key.pointee == 0, let start = buffer.baseAddress {
                guard shim_write_uuid(start) else { throw .exhausted }
                key = UnsafePointer(start)
            }
            guard RequestChecks.isIdempotencyKey(key) else {
                throw .invalidArgument("request", "idempotency_key", "must be 1 to 255 visible characters, or empty")
            }
            return headers.set(name, key)
        }
        guard isAdded else { throw .outOfMemory }
    }
}

@_cdecl("boxretry_client_perform") @implementation
public func boxretry_client_perform(
    _ client: OpaquePointer!, _ request: UnsafePointer<boxretry_request>!,
    _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    answer { () throws(Failure) in
        try refuseInCallback()
        // Once for all locks.
        shim_thread_disable_cancel()
        defer { shim_thread_restore_cancel() }
        // Retained, because another thread may free the client meanwhile.
        let handle = try ClientHandle.retained(try required(client, "client"), "client")
        let out = try required(out, "out")
        let call = try handle.makeCall(request, isSubmitted: false)
        if call.lendsHandle { _ = CallHandle.lent(by: call) }
        let performed = handle.engine.perform(call)
        try performed.start.check()
        guard let result = performed.result else { throw .outOfMemory }
        ResponseHandle(consume result).give(to: out)
    }
}

@_cdecl("boxretry_client_submit") @implementation
public func boxretry_client_submit(
    _ client: OpaquePointer!, _ request: UnsafePointer<boxretry_request>!,
    _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    ClientHandle.with(client, "client") { handle throws(Failure) in
        try handle.submit(request, out) { engine, call in engine.submit(call) }
    }
}

@_cdecl("boxretry_client_submit_and_wait") @implementation
public func boxretry_client_submit_and_wait(
    _ client: OpaquePointer!, _ request: UnsafePointer<boxretry_request>!, _ timeout_ms: Int64,
    _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    answer { () throws(Failure) in
        // Retained, because another thread may free the client meanwhile.
        let handle = try ClientHandle.retained(try required(client, "client"), "client")
        try refuseInCallback()
        let limit = try checkedLimit(timeout_ms)
        try handle.submit(request, try required(out, "out")) { engine, call in
            engine.submit(call, waitingUntil: limit)
        }
    }
}

extension ClientHandle {
    /// Makes a call, and starts it with `start`. Its handle is the caller's, or that of its queue or callback.
    fileprivate func submit(
        _ request: UnsafePointer<boxretry_request>?, _ out: UnsafeMutablePointer<OpaquePointer?>?,
        _ start: (Engine, Call) -> Engine.Start
    ) throws(Failure) {
        let call = try makeCall(request, isSubmitted: true)
        if case .none = call.delivery { _ = try required(out, "out") }
        let callHandle = Unmanaged.passRetained(CallHandle.lent(by: call))
        call.isUnowned = out == nil
        do throws(Failure) {
            try start(engine, call).check()
        } catch {
            call.lentHandle = nil
            callHandle.release()
            throw error
        }
        out?.pointee = OpaquePointer(callHandle.toOpaque())
    }
}

extension Engine.Start {
    /// Throws if the call has not begun.
    fileprivate func check() throws(Failure) {
        switch self {
        case .begun: return
        case .closed: throw .closed("client")
        case .exhausted: throw .exhausted
        }
    }
}

private func delivery(of request: boxretry_request) throws(Failure) -> Call.Delivery {
    if let queue = request.queue { return .queue(try QueueHandle.retained(queue, "request.queue").queue) }
    guard let onComplete = request.on_complete else { return .none }
    let context = request.on_complete_context
    return .callback { call in
        called { onComplete(context, call.handle.map { OpaquePointer($0) }) }
        if call.isUnowned { CallHandle.release(call.handle) }
    }
}

@_cdecl("boxretry_client_close") @implementation
public func boxretry_client_close(_ client: OpaquePointer!, _ timeout_ms: Int64) -> boxretry_error {
    answer { () throws(Failure) in
        try refuseInCallback()
        let handle = try ClientHandle.retained(try required(client, "client"), "client")
        let limit = try checkedLimit(timeout_ms)
        handle.engine.close(handle.owner)
        guard handle.engine.waitUntilClosed(handle.owner, until: limit) else { throw .waitTimeout }
    }
}

/// The time at which to stop waiting.
func checkedLimit(_ milliseconds: Int64) throws(Failure) -> Int64 {
    guard milliseconds >= 0 else {
        throw .invalidArgument("timeout_ms", nil, "must be 0 or more", is: milliseconds)
    }
    return systemClock.monotonic.advanced(byMilliseconds: milliseconds).nanoseconds
}

@_cdecl("boxretry_client_free") @implementation
public func boxretry_client_free(_ client: OpaquePointer!) {
    ClientHandle.take(client) { $0.engine.close($0.owner) }
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
                reconnects: stats.reconnects, gates_closed: stats.gatesClosed, gates_opened: stats.gatesOpened,
                held: stats.held), to: out, callerSize: size)
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
