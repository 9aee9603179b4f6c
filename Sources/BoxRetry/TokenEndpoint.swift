import CBoxRetry
import CShims
import CurlEngine
import RetryCore

extension boxretry_token_endpoint_options: SizedStruct {
    static var defaults: boxretry_token_endpoint_options {
        let settings = TokenSettings()
        return boxretry_token_endpoint_options(
            struct_size: MemoryLayout<boxretry_token_endpoint_options>.size, url: nil, fields: nil, field_count: 0,
            headers: nil, header_count: 0, refresh_token: nil, context: nil, on_refresh_token: nil, context_free: nil,
            policy: nil, refresh_leeway: settings.refreshLeeway, provider_timeout_ms: 10_000, fetch_timeout_ms: .max,
            refresh_ahead_window: settings.refreshAheadWindow, serve_stale: settings.servesStale ? 1 : 0,
            allow_insecure: 0, clock: nil, timeouts: nil, user_agent: nil, ca_file: nil, proxy: nil,
            proxy_mode: Int32(BOXRETRY_PROXY_ENVIRONMENT), reserved: 0, tls_verify: 0,
            reserved_2: 0, ca_path: nil, default_expires_in: 0, initial_token: nil, initial_expires_in: 0)
    }

    static var firstSize: Int { 176 }
}

/// The caller's context. It is freed with the endpoint that uses it.
private final class EndpointContext {
    private let context: UnsafeMutableRawPointer?
    private let onRefreshToken: (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> Void)?
    /// Nil until the endpoint owns the context.
    var contextFree: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

    init(_ options: boxretry_token_endpoint_options) {
        context = options.context
        onRefreshToken = options.on_refresh_token
    }

    deinit {
        guard let contextFree else { return }
        called { contextFree(context) }
    }

    func hand(_ refreshToken: SecretBytes) {
        guard let onRefreshToken else { return }
        called { onRefreshToken(context, refreshToken.start) }
    }
}

@_cdecl("boxretry_token_source_new_endpoint") @implementation
public func boxretry_token_source_new_endpoint(
    _ options: UnsafePointer<boxretry_token_endpoint_options>!, _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    answer { () throws(Failure) in
        let options = try boxretry_token_endpoint_options.read(options, "options")
        let tokenSettings = try TokenSettings(
            policy: options.policy, leeway: options.refresh_leeway, providerTimeout: options.provider_timeout_ms,
            fetchTimeout: options.fetch_timeout_ms, aheadWindow: options.refresh_ahead_window,
            servesStale: options.serve_stale)
        guard options.reserved == 0 else { throw .invalidArgument("options", "reserved", "must be 0") }
        guard options.reserved_2 == 0 else { throw .invalidArgument("options", "reserved_2", "must be 0") }
        let clock = try TokenClock(behind: options.clock)
        let out = try required(out, "out")
        let context = EndpointContext(options)
        let endpoint = try TokenEndpoint.checked(options, context, clock)
        let initial = try TokenSource.InitialToken.checked(options.initial_token, options.initial_expires_in)
        let source = TokenSource.make(provider: endpoint, settings: tokenSettings, clock: clock, initial: initial) {
            TokenHandle($0)
        }
        guard let source else { throw .outOfMemory }
        context.contextFree = options.context_free
        TokenSourceHandle(source).give(to: out)
    }
}

extension TokenEndpoint {
    fileprivate static func checked(
        _ options: boxretry_token_endpoint_options, _ context: EndpointContext, _ clock: TokenClock
    ) throws(Failure) -> TokenEndpoint {
        let (url, parsedURL) = try checkedURL(options.url, "options")
        let headers = try HeaderList(reading: options.headers, options.header_count, "options")
        try headers.check { shim_place("options", "headers", at: $0) }
        var settings = Settings()
        settings.form = try form(options)
        guard options.default_expires_in >= 0, options.default_expires_in < .infinity else {
            throw .invalidArgument("options", "default_expires_in", "must be 0 or more, and finite")
        }
        settings.defaultLife = options.default_expires_in
        if let refreshToken = options.refresh_token {
            settings.refreshToken = try SecretBytes.copy(of: refreshToken).orOutOfMemory()
        }
        settings.onRefreshToken = { context.hand($0) }
        try settings.call.set(timeouts: options.timeouts)
        settings.call.deadline = options.provider_timeout_ms
        settings.engine = try EngineSettings.transport(options)
        switch settings.engine.transport.carriage(to: parsedURL, allowsInsecure: options.allow_insecure != 0) {
        case .token(let isDirect): settings.call.hasSecretBody = isDirect
        case .refused, .noToken:
            throw .invalidArgument(
                "options", "url",
                "would send the secrets over plain http to another machine or a proxy; set allow_insecure to allow this"
            )
        }
        do throws(Engine.SetupFailure) {
            return try make(url: url, headers: headers, parsedURL: parsedURL, settings: settings, clock: clock)
        } catch {
            throw .setup(error)
        }
    }

    private static func form(_ options: boxretry_token_endpoint_options) throws(Failure) -> SecretForm {
        var form = SecretForm()
        guard options.field_count != 0 else { return form }
        guard options.field_count > 0, options.field_count <= HeaderList.maximumCount else {
            throw .invalidArgument("options", "field_count", "must be at most 65536")
        }
        guard let fields = options.fields else {
            throw .invalidArgument("options", "fields", "is NULL, but field_count is not 0")
        }
        for index in 0..<options.field_count {
            guard let name = fields[index].name, let value = fields[index].value else {
                throw .invalidArgument(shim_place("options", "fields", at: index), "has a name or a value that is NULL")
            }
            guard form.append(name, value) else { throw .outOfMemory }
        }
        return form
    }
}

extension Optional {
    fileprivate func orOutOfMemory() throws(Failure) -> Wrapped {
        guard let self else { throw .outOfMemory }
        return self
    }
}

extension EngineSettings {
    /// The transport settings in an endpoint's options.
    fileprivate static func transport(_ options: boxretry_token_endpoint_options) throws(Failure) -> EngineSettings {
        var client = boxretry_client_options.defaults
        client.user_agent = options.user_agent
        client.ca_file = options.ca_file
        client.ca_path = options.ca_path
        client.tls_verify = options.tls_verify
        client.proxy = options.proxy
        client.proxy_mode = options.proxy_mode
        return try checked(client)
    }
}

@_cdecl("boxretry_token_endpoint_options_init") @implementation
public func boxretry_token_endpoint_options_init(
    _ options: UnsafeMutablePointer<boxretry_token_endpoint_options>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in
        try boxretry_token_endpoint_options.initialize(options, "options", structSize: struct_size)
    }
}
