import CBoxRetry
import CShims
import CurlEngine
import RetryCore

/// `boxretry_token_source`
final class TokenSourceHandle: Handle, HandleClass {
    static var kind: HandleKind { .tokenSource }

    let source: TokenSource

    init(_ source: TokenSource) {
        self.source = source
        super.init(.tokenSource)
    }
}

/// `boxretry_token`: the source stores these objects, so that returning an available token needs no allocation.
final class TokenHandle: Handle, HandleClass {
    static var kind: HandleKind { .token }

    let token: AccessToken
    /// Keeps the reference counts of two tokens in different cache lines.
    private let padding: [12 of UInt64] = .init(repeating: 0)

    init(_ token: AccessToken) {
        self.token = token
        super.init(.token)
    }

    /// Reads a value from a token; `otherwise` for NULL.
    static func read<Value>(_ pointer: OpaquePointer?, _ otherwise: Value, _ body: (AccessToken) -> Value) -> Value {
        read(pointer, "token", otherwise) { body($0.token) }
    }
}

extension boxretry_token_options: SizedStruct {
    static var defaults: boxretry_token_options {
        let settings = TokenSettings()
        return boxretry_token_options(
            struct_size: MemoryLayout<boxretry_token_options>.size, context: nil, provider: nil, context_free: nil,
            policy: nil, refresh_leeway: settings.refreshLeeway,
            provider_timeout_ms: .max, fetch_timeout_ms: .max,
            refresh_ahead_window: settings.refreshAheadWindow, serve_stale: settings.servesStale ? 1 : 0, reserved: 0,
            clock: nil, initial_token: nil, initial_expires_in: 0)
    }

    static var firstSize: Int { 88 }
}

extension TokenSettings {
    /// Copies and checks the options that all sources have in common.
    init(
        policy: UnsafePointer<boxretry_token_retry_policy>?, leeway: Double, providerTimeout: Int64,
        fetchTimeout: Int64, aheadWindow: Double, servesStale: Int32
    ) throws(Failure) {
        self.init()
        retryPolicy = try TokenRetryPolicy(reading: policy)
        refreshLeeway = leeway
        refreshAheadWindow = aheadWindow
        self.servesStale = servesStale != 0
        self.providerTimeout = try Self.nanoseconds(providerTimeout, "provider_timeout_ms")
        self.fetchTimeout = try Self.nanoseconds(fetchTimeout, "fetch_timeout_ms")
        do throws(InvalidOption) {
            try validate()
        } catch {
            throw .invalidArgument("options", error)
        }
    }

    private static func nanoseconds(_ milliseconds: Int64, _ field: StaticString) throws(Failure) -> Int64 {
        guard milliseconds >= 1 else {
            throw .invalidArgument("options", field, "must be 1 or more", is: milliseconds)
        }
        let (nanoseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : nanoseconds
    }
}

extension TokenSource.InitialToken {
    /// Checks and copies the token in the caller's options; nil: there is none.
    static func checked(
        _ token: UnsafePointer<CChar>?, _ expiresIn: Double
    ) throws(Failure) -> TokenSource.InitialToken? {
        guard let token else { return nil }
        guard let trimmed = TokenText.trimmed(UnsafeRawBufferPointer(start: token, count: shim_length(token))) else {
            throw .invalidArgument("options", "initial_token", "must be 1 to 16384 bytes, each in 0x21 to 0x7E")
        }
        guard expiresIn > 0, expiresIn < .infinity else {
            throw .invalidArgument("options", "initial_expires_in", "must be above 0, and finite")
        }
        guard let copy = SecretBytes.copy(of: trimmed) else { throw .outOfMemory }
        return TokenSource.InitialToken(token: copy, life: expiresIn)
    }
}

extension TokenClock {
    init(behind pointer: OpaquePointer?) throws(Failure) {
        guard let pointer else {
            self = .system(systemClock)
            return
        }
        self = .manual(try ClockHandle.retained(pointer, "options.clock").clock)
    }
}

@_cdecl("boxretry_token_source_new") @implementation
public func boxretry_token_source_new(
    _ options: UnsafePointer<boxretry_token_options>!, _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    answer { () throws(Failure) in
        let options = try boxretry_token_options.read(options, "options")
        guard let callback = options.provider else { throw .invalidArgument("options", "provider", "is NULL") }
        guard options.reserved == 0 else { throw .invalidArgument("options", "reserved", "must be 0") }
        let settings = try TokenSettings(
            policy: options.policy, leeway: options.refresh_leeway, providerTimeout: options.provider_timeout_ms,
            fetchTimeout: options.fetch_timeout_ms, aheadWindow: options.refresh_ahead_window,
            servesStale: options.serve_stale)
        let clock = try TokenClock(behind: options.clock)
        let out = try required(out, "out")
        let provider = CallbackTokenProvider(callback, options.context)
        let initial = try TokenSource.InitialToken.checked(options.initial_token, options.initial_expires_in)
        let source = TokenSource.make(provider: provider, settings: settings, clock: clock, initial: initial) {
            TokenHandle($0)
        }
        guard let source else { throw .outOfMemory }
        provider.contextFree = options.context_free
        TokenSourceHandle(source).give(to: out)
    }
}

@_cdecl("boxretry_token_source_new_fixed") @implementation
public func boxretry_token_source_new_fixed(
    _ token: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    answer { () throws(Failure) in
        let token = try required(token, "token")
        let bytes = UnsafeRawBufferPointer(start: token, count: shim_length(token))
        guard let trimmed = TokenText.trimmed(bytes) else {
            throw .invalidArgument("token", "must be 1 to 16384 bytes, each in 0x21 to 0x7E")
        }
        let out = try required(out, "out")
        guard let secret = SecretBytes.copy(of: trimmed),
            let source = TokenSource.make(fixed: secret, clock: .system(systemClock), makeItem: { TokenHandle($0) })
        else { throw .outOfMemory }
        TokenSourceHandle(source).give(to: out)
    }
}

@_cdecl("boxretry_token_source_get") @implementation
public func boxretry_token_source_get(
    _ source: OpaquePointer!, _ timeout_ms: Int64, _ cancel: OpaquePointer!,
    _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    TokenSourceHandle.with(source, "source") { handle throws(Failure) in
        if timeout_ms != 0 {
            try refuseInCallback()
        } else {
            try refuseInProvider(of: handle.source)
        }
        let out = try required(out, "out")
        if cancel == nil, timeout_ms >= 0, let item = handle.source.itemAtHand {
            out.pointee = OpaquePointer(item.toOpaque())
        } else {
            try get(source, timeout_ms, cancel).give(to: out)
        }
    }
}

@inline(never)
private func get(
    _ pointer: OpaquePointer?, _ timeout_ms: Int64, _ cancel: OpaquePointer?
) throws(Failure) -> TokenHandle {
    // Retained, because another thread may free the source meanwhile. (Swift assumes that a lent handle stays alive,
    // and does not retain it.)
    let source = try TokenSourceHandle.retained(try required(pointer, "source"), "source").source
    let limit = try checkedLimit(timeout_ms)
    let cancelSwitch = try CancelHandle.cancelSwitch(behind: cancel, "cancel")
    if cancelSwitch == nil, let token = source.tokenAtHand() { return TokenHandle(token) }
    switch source.get(until: limit, cancelSwitch: cancelSwitch) {
    case .success(let token): return TokenHandle(token)
    case .failure(let failure): throw .token(failure)
    }
}

/// A provider that calls its own source would wait for itself (T4).
private func refuseInProvider(of source: TokenSource) throws(Failure) {
    guard !shim_is_in_provider_of(Unmanaged.passUnretained(source).toOpaque()) else {
        throw .inCallback("the provider of this source would wait for itself")
    }
}

extension TokenSourceHandle {
    /// The source for a pointer, which may be NULL.
    static func source(behind pointer: OpaquePointer?, _ argument: StaticString) throws(Failure) -> TokenSource? {
        guard let pointer else { return nil }
        return try retained(pointer, argument).source
    }
}

@_cdecl("boxretry_token_source_get_async") @implementation
public func boxretry_token_source_get_async(
    _ source: OpaquePointer!, _ cancel: OpaquePointer!,
    _ on_token: (@convention(c) (UnsafeMutableRawPointer?, boxretry_error, OpaquePointer?) -> Void)!,
    _ context: UnsafeMutableRawPointer!
) -> boxretry_error {
    answer { () throws(Failure) in
        let source = try TokenSourceHandle.retained(try required(source, "source"), "source").source
        try refuseInProvider(of: source)
        let cancelSwitch = try CancelHandle.cancelSwitch(behind: cancel, "cancel")
        let onToken = try required(on_token, "on_token")
        let context = context
        let deliver: (TokenResult) -> Void = { result in
            switch result {
            case .success(let token):
                var pointer: OpaquePointer?
                TokenHandle(token).give(to: &pointer)
                called { onToken(context, boxretry_error(BOXRETRY_OK), pointer) }
            case .failure(let failure): called { onToken(context, Failure.token(failure).error, nil) }
            }
        }
        let waiter = TokenWaiter(source: source, cancelSwitch: cancelSwitch, delivery: .callback(deliver))
        if let result = source.token(for: waiter) { deliver(result) }
    }
}

@_cdecl("boxretry_token_source_invalidate") @implementation
public func boxretry_token_source_invalidate(
    _ source: OpaquePointer!, _ token: UnsafePointer<CChar>!
) -> boxretry_error {
    TokenSourceHandle.with(source, "source") { handle throws(Failure) in
        let token = try required(token, "token")
        handle.source.invalidate(UnsafeRawBufferPointer(start: token, count: shim_length(token)))
    }
}

@_cdecl("boxretry_token_source_invalidate_generation") @implementation
public func boxretry_token_source_invalidate_generation(
    _ source: OpaquePointer!, _ generation: UInt64
) -> boxretry_error {
    TokenSourceHandle.with(source, "source") { handle in handle.source.invalidate(generation: generation) }
}

@_cdecl("boxretry_token_source_clear") @implementation
public func boxretry_token_source_clear(_ source: OpaquePointer!) -> boxretry_error {
    TokenSourceHandle.with(source, "source") { handle in handle.source.clear() }
}

@_cdecl("boxretry_token_source_free") @implementation
public func boxretry_token_source_free(_ source: OpaquePointer!) {
    TokenSourceHandle.take(source) { $0.source.close() }
}

@_cdecl("boxretry_token_bytes") @implementation
public func boxretry_token_bytes(_ token: OpaquePointer!) -> UnsafePointer<CChar>! {
    TokenHandle.read(token, StaticString("").cString) { $0.secret.start }
}

@_cdecl("boxretry_token_length") @implementation
public func boxretry_token_length(_ token: OpaquePointer!) -> Int {
    TokenHandle.read(token, 0) { $0.secret.count }
}

@_cdecl("boxretry_token_generation") @implementation
public func boxretry_token_generation(_ token: OpaquePointer!) -> UInt64 {
    TokenHandle.read(token, 0) { $0.generation }
}

@_cdecl("boxretry_token_expires_in") @implementation
public func boxretry_token_expires_in(_ token: OpaquePointer!) -> Double {
    TokenHandle.read(token, 0) { $0.secondsLeft }
}

@_cdecl("boxretry_token_free") @implementation
public func boxretry_token_free(_ token: OpaquePointer!) {
    TokenHandle.take(token)
}

@_cdecl("boxretry_token_options_init") @implementation
public func boxretry_token_options_init(
    _ options: UnsafeMutablePointer<boxretry_token_options>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in try boxretry_token_options.initialize(options, "options", structSize: struct_size) }
}
