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
            body_limit: 0, error_body_limit: 0, on_event: nil, on_event_context: nil,
            preset: Int32(BOXRETRY_PRESET_BOX), http_version: 0, max_redirects: 0, compression: 0,
            max_transfers_per_host: 0, max_lookups: 0, client_certificate: nil, client_key: nil,
            client_key_password: nil, unix_socket: nil, secret_headers: nil, secret_header_count: 0,
            idempotency_key_header: nil, before_attempt: nil, before_attempt_context: nil, on_transfer: nil,
            on_transfer_context: nil, token_source: nil, replay_codes: nil, replay_code_count: 0,
            allow_insecure_token: 0, budget_capacity: 0, budget_ratio: 0, connect_timeout_ms: 0, reconnect: 0,
            tls_verify: 0, ca_path: nil, headers: nil, header_count: 0, budget: nil, clock: nil,
            share_retry_after: 0, threads: 0)
    }

    static var firstSize: Int { 264 }
}

extension boxretry_client_stats: SizedStruct {
    static var defaults: boxretry_client_stats {
        boxretry_client_stats(
            struct_size: MemoryLayout<boxretry_client_stats>.size, calls_started: 0, calls_ended: 0, attempts: 0,
            retries: 0, reconnects: 0, gates_closed: 0, gates_opened: 0, held: 0)
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
        return nanoseconds(milliseconds)
    }

    private static func nanoseconds(_ milliseconds: Int64) -> Int64 {
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

    /// 0 leaves it as it is (W5).
    private mutating func set(connectTimeout milliseconds: Int64, _ argument: StaticString) throws(Failure) {
        guard milliseconds != 0 else { return }
        guard milliseconds > 0 else {
            throw .invalidArgument(argument, "connect_timeout_ms", "must be 0 or more", is: milliseconds)
        }
        connectTimeout = Self.nanoseconds(milliseconds)
    }

    mutating func set(_ options: boxretry_client_options) throws(Failure) {
        try set(timeouts: options.timeouts)
        try set(connectTimeout: options.connect_timeout_ms, "options")
        try set(deadline: options.deadline_ms, "options")
        if options.max_total_attempts != 0 {
            maxTotalAttempts = try checkedCount(
                options.max_total_attempts, "max_total_attempts", upTo: 1_000_000, "must be from 0 to 1000000",
                orDefault: 0)
        }
        limits.headerLines = Int(
            try checkedCount(
                options.max_response_headers, "max_response_headers", upTo: 65_536, "must be from 0 to 65536",
                orDefault: Int32(limits.headerLines)))
        let headerBytes = try checkedSize(
            options.max_response_header_bytes, "options", "max_response_header_bytes", orDefault: limits.headerBytes)
        guard headerBytes <= limits.headerBytes else {
            throw .invalidArgument("options", "max_response_header_bytes", "must be at most 262144")
        }
        limits.headerBytes = headerBytes
        limits.body = try checkedSize(options.body_limit, "options", "body_limit", orDefault: limits.body)
        limits.errorBody = try checkedSize(
            options.error_body_limit, "options", "error_body_limit", orDefault: limits.errorBody)
        try set(maxRedirects: options.max_redirects, "options")
        try set(httpVersion: options.http_version, "options")
        isCompressed = try isOn(options.compression, "options", "compression", byDefault: isCompressed)
        mayReconnect = try isOn(
            options.reconnect, "options", "reconnect", byDefault: mayReconnect)
        if let hook = hook(options.before_attempt, options.before_attempt_context) { beforeAttempt = hook }
    }

    /// The settings of a call: the client's, overridden by those of the request.
    func overridden(by request: boxretry_request) throws(Failure) -> CallSettings {
        var settings = self
        try settings.set(timeouts: request.timeouts)
        try settings.set(connectTimeout: request.connect_timeout_ms, "request")
        try settings.set(deadline: request.deadline_ms, "request")
        settings.limits.body = try checkedSize(request.body_limit, "request", "body_limit", orDefault: limits.body)
        try settings.set(maxRedirects: request.max_redirects, "request")
        try settings.set(httpVersion: request.http_version, "request")
        settings.isCompressed = try isOn(request.compression, "request", "compression", byDefault: isCompressed)
        settings.mayReconnect = try isOn(request.reconnect, "request", "reconnect", byDefault: mayReconnect)
        // A client's limit protects memory, so it does not limit sinks, except for compressed bodies, which may expand
        // enormously.
        if request.body_limit > 0 || settings.isCompressed { settings.limits.sink = settings.limits.body }
        if let hook = hook(request.before_attempt, request.before_attempt_context) { settings.beforeAttempt = hook }
        settings.onProgress = progress(request.on_progress, request.on_progress_context)
        return settings
    }

    /// 0 leaves it as it is.
    private mutating func set(maxRedirects count: Int32, _ argument: StaticString) throws(Failure) {
        guard count != 0 else { return }
        guard count == Int32(BOXRETRY_NO_REDIRECTS) || (1...1_000).contains(count) else {
            throw .invalidArgument(argument, "max_redirects", "must be from -1 to 1000", is: Int64(count))
        }
        maxRedirects = max(count, 0)
    }

    private mutating func set(httpVersion number: Int32, _ argument: StaticString) throws(Failure) {
        guard number != Int32(BOXRETRY_HTTP_DEFAULT) else { return }
        guard let version = HTTPVersion(rawValue: number) else {
            throw .invalidArgument(argument, "http_version", "is not a BOXRETRY_HTTP_ constant", is: Int64(number))
        }
        httpVersion = version
    }

}

/// The meaning of a BOXRETRY_SWITCH_… constant.
func isOn(
    _ value: Int32, _ argument: StaticString, _ field: StaticString, byDefault: Bool
) throws(Failure) -> Bool {
    switch Int(value) {
    case BOXRETRY_SWITCH_DEFAULT: return byDefault
    case BOXRETRY_SWITCH_ON: return true
    case BOXRETRY_SWITCH_OFF: return false
    default: throw .invalidArgument(argument, field, "is not a BOXRETRY_SWITCH_ constant", is: Int64(value))
    }
}

private typealias OnProgress = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<boxretry_progress>?) -> Void

private func progress(
    _ callback: OnProgress?, _ context: UnsafeMutableRawPointer?
) -> ((Int32, shim_progress, Int64) -> Void)? {
    guard let callback else { return nil }
    return { attemptNumber, progress, before in
        let seen = boxretry_progress(
            struct_size: MemoryLayout<boxretry_progress>.size, attempt_number: attemptNumber, reserved: 0,
            sent: progress.sent, send_total: progress.send_total, received: saturated(progress.received, before),
            receive_total: progress.receive_total < 0 ? -1 : saturated(progress.receive_total, before))
        withUnsafePointer(to: seen) { seen in called { callback(context, seen) } }
    }
}

/// Saturates, because a server may announce any number of bytes.
private func saturated(_ bytes: Int64, _ before: Int64) -> Int64 {
    let (sum, overflow) = bytes.addingReportingOverflow(before)
    return overflow ? .max : sum
}

extension BoxRetryOptions {
    /// The options of a preset.
    init(preset: Int32) throws(Failure) {
        self.init()
        switch Int(preset) {
        case BOXRETRY_PRESET_BOX: break
        case BOXRETRY_PRESET_JANUARY:
            maxAttempts = 0
            maxRetriesOnException = 0
        default: throw .invalidArgument("options", "preset", "is not a BOXRETRY_PRESET_ constant", is: Int64(preset))
        }
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
    /// Checks and copies the caller's options.
    static func checked(_ options: boxretry_client_options) throws(Failure) -> EngineSettings {
        var settings = EngineSettings()
        try settings.setLimits(options)
        try settings.setConnections(options)
        try settings.setSecretHeaders(options)
        try settings.setReplayCodes(options)
        try settings.setBudget(options)
        settings.sharesRetryAfter = try isOn(
            options.share_retry_after, "options", "share_retry_after", byDefault: false)
        guard (BOXRETRY_THREADS_OWN...BOXRETRY_THREADS_NONE).contains(Int(options.threads)) else {
            throw .invalidArgument(
                "options", "threads", "is not a BOXRETRY_THREADS_ constant", is: Int64(options.threads))
        }
        settings.isDriven = Int(options.threads) == BOXRETRY_THREADS_NONE
        settings.setCallbacks(options)
        return settings
    }

    private mutating func setLimits(_ options: boxretry_client_options) throws(Failure) {
        transport.maxTransfers = Int(
            try checkedCount(
                options.max_transfers, "max_transfers", upTo: 100_000, "must be from 0 to 100000",
                orDefault: Int32(transport.maxTransfers)))
        if options.max_transfers_per_host != 0 {
            maxTransfersForOneHost = Int(
                try checkedCount(
                    options.max_transfers_per_host, "max_transfers_per_host", upTo: 100_000,
                    "must be from 0 to 100000", orDefault: 0))
        }
        maxLookups = Int(
            try checkedCount(
                options.max_lookups, "max_lookups", upTo: 1_000, "must be from 0 to 1000", orDefault: Int32(maxLookups))
        )
    }

    private mutating func setConnections(_ options: boxretry_client_options) throws(Failure) {
        if let agent = options.user_agent, !RequestChecks.isHeaderValue(agent) {
            throw .invalidArgument("options", "user_agent", "has a control character")
        }
        transport.userAgent = transport.own(try copied(options.user_agent ?? shim_default_user_agent()))
        transport.proxy = transport.own(try Self.proxy(options))
        transport.caFile = transport.own(try copiedPath(options.ca_file, "ca_file"))
        transport.caPath = transport.own(try copiedPath(options.ca_path, "ca_path"))
        transport.trustsAnyCertificate = try !isOn(options.tls_verify, "options", "tls_verify", byDefault: true)
        transport.clientCertificate = transport.own(
            try copiedPath(options.client_certificate, "client_certificate"))
        transport.clientKey = transport.own(try copiedPath(options.client_key, "client_key"))
        transport.clientKeyPassword = transport.own(try copiedIfAny(options.client_key_password))
        transport.unixSocket = transport.own(try copiedIfAny(options.unix_socket))
    }

    /// Nil: from the environment; empty: no proxy.
    private static func proxy(_ options: boxretry_client_options) throws(Failure) -> Text? {
        let isGiven = Int(options.proxy_mode) == BOXRETRY_PROXY_GIVEN
        guard isGiven || options.proxy == nil else {
            throw .invalidArgument("options", "proxy", "is set, but proxy_mode is not BOXRETRY_PROXY_GIVEN")
        }
        switch Int(options.proxy_mode) {
        case BOXRETRY_PROXY_ENVIRONMENT: return nil
        case BOXRETRY_PROXY_NONE: return try copied(StaticString("").cString)
        case BOXRETRY_PROXY_GIVEN:
            guard let url = options.proxy else { throw .invalidArgument("options", "proxy", "is NULL") }
            try checkURL(url, "options", "proxy") { shim_url_check_proxy(url, &$0) }
            return try copied(url)
        default:
            throw .invalidArgument(
                "options", "proxy_mode", "is not a BOXRETRY_PROXY_ constant", is: Int64(options.proxy_mode))
        }
    }

    private mutating func setSecretHeaders(_ options: boxretry_client_options) throws(Failure) {
        secretHeaders = try copies(
            of: options.secret_headers, options.secret_header_count,
            NameList(
                field: "secret_headers", countField: "secret_header_count", maximum: 64, tooMany: "must be at most 64",
                missing: "is NULL, but secret_header_count is not 0", wrong: "is not a header name"))
    }

    private mutating func setReplayCodes(_ options: boxretry_client_options) throws(Failure) {
        replayCodes = try copies(
            of: options.replay_codes, options.replay_code_count,
            NameList(
                field: "replay_codes", countField: "replay_code_count", maximum: 16, tooMany: "must be at most 16",
                missing: "is NULL, but replay_code_count is not 0", wrong: "is not a token"))
        if replayCodes.isEmpty, Int(options.preset) == BOXRETRY_PRESET_JANUARY,
            let code = transport.own(try copied(StaticString("token_expired").cString))
        {
            replayCodes = [code]
        }
    }

    private mutating func setBudget(_ options: boxretry_client_options) throws(Failure) {
        let ratio = try RetryBudget.checkedRatio(options.budget_ratio, "options", "budget_ratio")
        let capacity = try checkedCount(
            options.budget_capacity, "budget_capacity", upTo: RetryBudget.capacityRange.upperBound,
            "must be from 0 to 1000000", orDefault: 0)
        budget = try BudgetHandle.budget(behind: options.budget)
        guard capacity > 0 else { return }
        guard budget == nil else {
            throw .invalidArgument("options", "budget", "and budget_capacity are both set")
        }
        budget = SharedRetryBudget(RetryBudget(capacity: capacity, ratio: ratio))
    }

    /// An array of names in the caller's options, and the texts for its errors.
    private struct NameList {
        let field: StaticString
        let countField: StaticString
        let maximum: Int
        let tooMany: StaticString
        let missing: StaticString
        let wrong: StaticString
    }

    /// Checks and copies the names, each of which must be a token.
    private func copies(
        of names: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int, _ list: NameList
    ) throws(Failure) -> [Text] {
        guard count >= 0, count <= list.maximum else {
            throw .invalidArgument("options", list.countField, list.tooMany)
        }
        guard count > 0 else { return [] }
        guard let names else { throw .invalidArgument("options", list.field, list.missing) }
        var copies: [Text] = []
        for index in 0..<count {
            guard let name = names[index], RequestChecks.isHeaderName(name) else {
                throw .invalidArgument(shim_place("options", list.field, at: index), list.wrong)
            }
            if let copy = transport.own(try copied(name)) { copies.append(copy) }
        }
        return copies
    }

    private mutating func setCallbacks(_ options: boxretry_client_options) {
        dropHandle = { CallHandle.release($0) }
        if let callback = options.on_event {
            let context = options.on_event_context
            onEvent = { event in
                withUnsafePointer(to: event.cEvent) { cEvent in called { callback(context, cEvent) } }
            }
        }
        if let callback = options.on_transfer {
            let context = options.on_transfer_context
            transport.onTransfer = { easy in called { callback(context, easy) } }
        }
    }
}

extension EngineEvent {
    fileprivate var cEvent: boxretry_event {
        let decision = record?.decision?.cDecision
        return boxretry_event(
            struct_size: MemoryLayout<boxretry_event>.size, kind: kind.rawValue, attempt_number: attemptNumber,
            exception_number: record?.exceptionNumber ?? 0, status: status,
            cause: cause.rawValue, error: ending?.cError ?? 0, action: decision?.action ?? 0,
            reason: decision?.reason ?? -1, delay: decision?.delay ?? delay, delay_source: decision?.delay_source ?? 0,
            reserved: 0, at_ms: Double(at) / 1e6, method: call.currentMethod,
            url: call.currentURL, user_pointer: call.userPointer)
    }
}

func copied(_ text: UnsafePointer<CChar>?) throws(Failure) -> UnsafeMutablePointer<CChar> {
    guard let copy = shim_copy_string(text) else { throw .outOfMemory }
    return copy
}

/// The path of a file that libcurl reads for each connection, made absolute, except empty paths and PKCS#11 URIs.
private func copiedPath(
    _ path: UnsafePointer<CChar>?, _ field: StaticString
) throws(Failure) -> UnsafeMutablePointer<CChar>? {
    guard let path, path.pointee != 0 else { return try copiedIfAny(path) }
    var text = ByteCursor(cString: path)
    guard !text.take("pkcs11:") else { return try copied(path) }
    return try absolutePath(path, shim_place("options", field))
}

private func copiedIfAny(_ text: UnsafePointer<CChar>?) throws(Failure) -> UnsafeMutablePointer<CChar>? {
    text == nil ? nil : try copied(text)
}
