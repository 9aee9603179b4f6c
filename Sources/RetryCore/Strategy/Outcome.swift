/// How one attempt ended (B2): in a response, or in a network exception.
public struct Outcome {
    /// 0 for a network exception.
    public var status: Int32
    public var cause: NetworkExceptionCause
    /// Only of the final response: headers of redirects and 1xx responses do not count (B7).
    public var headers: HeaderList
    public var authAvailable = false
    public var requestSent = RequestSent.unknown
    /// Sending the request twice may have its effect twice (B12).
    public var isRequestUnsafe = false
    /// The caller's description of the request, for its custom strategy. The core does not use it.
    public var request: UnsafeRawPointer?
    /// False if the body is a stream from which something was read, so it cannot be sent again (R3).
    public var isBodyReplayable = true
    /// False if the caller's sink has a part of an incomplete body, and cannot start again (B15).
    public var isSinkRestartable = true
    /// The body of the response as far as it was read, for a custom strategy (B9). The core does not use it.
    public var body: UnsafeRawPointer?
    public var bodyLength = 0
    public var bodyState = BodyState.none
    /// The URL of the response, or of the attempt, after redirects.
    public var url: UnsafePointer<CChar>?

    /// A proxy rejected the credentials (407 to CONNECT), and would do so again (W6).
    public var isProxyUnauthorized = false

    /// A response.
    public init(status: Int32, headers: HeaderList = .empty) {
        self.status = status
        self.headers = headers
        cause = .none
    }

    /// A network exception.
    public init(exception cause: NetworkExceptionCause) {
        status = 0
        headers = .empty
        self.cause = cause
    }

    /// Both, with all details. Created in one step, because setting fields one by one would also write them to memory
    /// one by one.
    @inline(__always)
    public init(
        status: Int32, cause: NetworkExceptionCause, headers: HeaderList, authAvailable: Bool, requestSent: RequestSent,
        isRequestUnsafe: Bool, request: UnsafeRawPointer?, isBodyReplayable: Bool
    ) {
        self.status = status
        self.cause = cause
        self.headers = headers
        self.authAvailable = authAvailable
        self.requestSent = requestSent
        self.isRequestUnsafe = isRequestUnsafe
        self.request = request
        self.isBodyReplayable = isBodyReplayable
    }

    /// An outcome with a cause is an exception with any status, such as an incomplete body (B2).
    public var isNetworkException: Bool { status == 0 || cause != .none }

    /// What makes a retry impossible, even if the strategy would retry.
    @inline(__always)
    var obstacle: Reason? {
        if !isBodyReplayable { return .notReplayable }
        if isProxyUnauthorized { return .proxyUnauthorized }
        return isSinkRestartable ? nil : .sinkCannotRestart
    }

    /// 2xx and 3xx end a call in success, unless they are retried (B10).
    public var isSuccess: Bool { !isNetworkException && (200..<400).contains(status) }
}

/// Why a network exception happened. The raw values are those of the C interface, here and in the enums below.
public enum NetworkExceptionCause: Int32, CaseIterable {
    case none = 0
    case resolve = 1
    case connect = 2
    case tls = 3
    case send = 4
    case receive = 5
    case `protocol` = 6
    case timeoutIdle = 7
    case timeoutResource = 8
}

/// How much of a response's body is available.
public enum BodyState: Int32 {
    /// There is no response, or its body is unknown.
    case none = 0
    case complete = 1
    /// It is incomplete, or longer than the part that is kept.
    case partial = 2
    /// Not read yet: a sink waits for the decision (B15).
    case pending = 3
}

/// How much of the request was sent.
public enum RequestSent: Int32 {
    case unknown = 0
    case nothing = 1
    case some = 2
}

/// Whether a request may be sent again even if the server may have acted on it (B12).
public enum RequestSafety: Int32 {
    case byMethod = 0
    case safe = 1
    case unsafe = 2

    /// If the method determines it, POST and PATCH are unsafe, unless a key prevents the server from acting twice. The
    /// case of the method is ignored, to be on the safe side.
    public func isUnsafe(method: UnsafePointer<CChar>?, hasKey: Bool = false) -> Bool {
        switch self {
        case .safe: return false
        case .unsafe: return true
        case .byMethod:
            guard let method, !hasKey else { return false }
            return HeaderName("post").matches(method) || HeaderName("patch").matches(method)
        }
    }
}
