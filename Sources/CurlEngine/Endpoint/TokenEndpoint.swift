import CShims
import RetryCore

/// Gets tokens from an HTTP token endpoint (T12): one POST for each, by a separate engine. Neither a redirect nor a 401
/// is followed up, and nothing is retried here: that is the source's to do.
public final class TokenEndpoint: TokenProvider {
    public struct Settings {
        public var form = SecretForm()
        /// Sent with the form, and replaced by what the endpoint gives in its place.
        public var refreshToken: SecretBytes?
        /// The endpoint has given another refresh token.
        public var onRefreshToken: ((SecretBytes) -> Void)?
        /// Seconds that a token lives whose answer does not say it; 0: none.
        public var defaultLife = 0.0
        public var engine = EngineSettings()
        public var call = CallSettings()

        public init() {}
    }

    /// The request, but for its body.
    private let blank: RequestCopy
    private let parsedURL: shim_url
    private let settings: Settings
    private let engine: Engine
    private let strategy: BoxRetryStrategy

    private let refreshToken: Monitor<SecretBytes?>

    /// `url` and `headers` have been checked, and are copied.
    public static func make(
        url: UnsafePointer<CChar>, headers: HeaderList, parsedURL: shim_url, settings: Settings, clock: TokenClock
    ) throws(Engine.SetupFailure) -> TokenEndpoint {
        let blank = withOwnHeaders(headers).flatMap {
            RequestCopy.make(
                method: StaticString("POST").cString, url: url, parsedURL: parsedURL, headers: $0, body: .none,
                isUnsafe: true)
        }
        guard let blank else { throw .outOfMemory }
        var engineSettings = settings.engine
        // One call at a time, and one that is late.
        engineSettings.transport.maxTransfers = 2
        let engine = try Engine.make(settings: engineSettings, clock: clock)
        guard let refreshToken = Monitor(settings.refreshToken) else { throw .outOfMemory }
        return TokenEndpoint(blank, parsedURL, settings, engine, refreshToken)
    }

    private init(
        _ blank: RequestCopy, _ parsedURL: shim_url, _ settings: Settings, _ engine: Engine,
        _ refreshToken: consuming Monitor<SecretBytes?>
    ) {
        self.blank = blank
        self.parsedURL = parsedURL
        self.settings = settings
        self.engine = engine
        self.refreshToken = refreshToken
        var once = BoxRetryOptions()
        once.maxAttempts = 0
        once.maxRetriesOnException = 0
        strategy = BoxRetryStrategy(checked: once)
    }

    /// Nil if there is no memory.
    private static func withOwnHeaders(_ list: HeaderList) -> OwnedHeaders? {
        guard let headers = OwnedHeaders.copy(of: list) else { return nil }
        let own: [(StaticString, StaticString)] = [
            ("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json"),
        ]
        for (name, value) in own where list.firstValue(of: name.cString) == nil {
            guard headers.append(name.cString, value.cString) else { return nil }
        }
        return headers
    }

    deinit {
        engine.close()
    }

    /// Does not wait: the engine has a loop.
    public var mayBlock: Bool { false }

    public var loop: (any ProviderLoop)? { engine }

    public func provide(_ request: TokenRequest) {
        guard let body = makeBody(), let bytes = shim_copy_bytes(body.bytes.baseAddress, body.count) else {
            return fail(request, "there is no memory for the request")
        }
        guard let headers = OwnedHeaders.copy(of: blank.headers),
            let copy = RequestCopy.make(
                method: blank.method, url: blank.url, parsedURL: parsedURL, headers: headers,
                body: .memory(bytes, count: body.count, isCopy: true), isUnsafe: true)
        else {
            shim_wipe(bytes, body.count)
            shim_free(bytes)
            return fail(request, "there is no memory for the request")
        }
        var callSettings = settings.call
        callSettings.maxTotalAttempts = 1
        callSettings.maxRedirects = 0
        callSettings.limits.body = JSONObject.maximumSize
        callSettings.limits.errorBody = JSONObject.maximumSize
        let call = Call(
            engine: engine, request: copy, strategy: strategy, settings: SharedCallSettings(callSettings),
            delivery: .callback { [self] call in
                call.request.wipeBody()
                if let result = engine.takeResult(of: call) { ended(result, request) }
            }, cancelSwitch: nil, userPointer: nil)
        guard engine.submit(call, isHosted: request.isHosted) != .begun else { return }
        copy.wipeBody()
        fail(request, "the request could not be begun")
    }

    private func makeBody() -> SecretBytes? {
        var form = settings.form
        if let refreshToken = refreshToken.withLock({ $0.state }) {
            guard form.append("refresh_token", refreshToken) else { return nil }
        }
        return form.encoded()
    }

    private func ended(_ result: CallResult, _ request: TokenRequest) {
        defer { result.wipeBody() }
        switch result.ending {
        case .response: answered(TokenEndpointAnswer(status: result.status, body: result.body), result, request)
        case .exception(let cause):
            let tlsProblem = cause == .tls ? result.reason?.text : nil
            let text = tlsProblem ?? shim_cause_name(cause.rawValue)
            _ = request.fail(.unavailable(ProviderText(text)), isRetryable: true)
        case .deadline:
            _ = request.fail(.unavailable(ProviderText(StaticString("deadline").cString)), isRetryable: true)
        case .local(.responseTooLarge): fail(request, "the answer is too long")
        case .local, .cancelled, .callbackFailed, .token: fail(request, "the request could not be made")
        }
    }

    private func answered(_ answer: TokenEndpointAnswer, _ result: CallResult, _ request: TokenRequest) {
        switch answer {
        case .failure(let failure, let isRetryable):
            _ = request.fail(failure, isRetryable: isRetryable, leastDelay: leastDelay(result))
        case .token(let token, let life, let refreshToken):
            // Do this first: the old refresh token may be used up, even if no waiter for the new token is left.
            if let refreshToken, !rotate(refreshToken) {
                return fail(request, "there is no memory for the refresh token, which is lost")
            }
            guard let token else {
                _ = request.succeed(UnsafeRawBufferPointer(start: nil, count: 0), life: 0)
                return
            }
            guard let life = life ?? (settings.defaultLife > 0 ? settings.defaultLife : nil) else {
                return request.end(with: .missingExpiration)
            }
            guard let secret = SecretBytes.copy(of: token), request.succeed(secret.bytes, life: life) != .outOfMemory
            else {
                return fail(request, "there is no memory for the token")
            }
        }
    }

    /// What a busy endpoint asks for, in seconds (T7).
    private func leastDelay(_ result: CallResult) -> Double {
        guard result.status == 429 || result.status == 503,
            case .usable(let seconds, _) = RetryAfter.read(result.headerList, further: .none, clock: engine.clock)
        else { return 0 }
        return seconds
    }

    /// False if there is no memory.
    private func rotate(_ string: JSONString) -> Bool {
        guard let new = SecretBytes.copy(of: string) else { return false }
        guard new.count > 0 else { return true }
        let isRotated = refreshToken.withLock { held in
            guard let old = held.state, !old.equals(new.bytes) else { return false }
            held.state = new
            return true
        }
        if isRotated { settings.onRefreshToken?(new) }
        return true
    }

    private func fail(_ request: TokenRequest, _ text: StaticString) {
        _ = request.fail(.failed(ProviderText(text.cString)), isRetryable: false)
    }
}

extension RequestCopy {
    /// The call has ended: nothing reads the body any more, and it contains secrets (T1).
    fileprivate func wipeBody() {
        if case .memory(let bytes, let count, _) = body { shim_wipe(UnsafeMutableRawPointer(mutating: bytes), count) }
    }
}

extension CallResult {
    /// This is the only reference to the result, and it contains a token (T1).
    fileprivate func wipeBody() {
        shim_wipe(UnsafeMutableRawPointer(mutating: body.baseAddress), body.count)
    }
}
