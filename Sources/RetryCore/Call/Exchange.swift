/// One request and its response so far: the state of one sending.
public struct Exchange {
    /// The properties of the request that affect the response.
    public struct Request {
        /// The request has a body.
        public var hasBody = false
        public var isHead = false
        /// The body of a 2xx response goes to the caller's sink.
        public var hasSink = false
        /// The body of another response also goes there if it is the last one of the call.
        public var sinkTakesErrors = false
        /// After a 401, a new access token is requested.
        public var renewsToken = false
        /// The request asks for the rest of a partially downloaded file.
        public var asksForRest = false
        /// Several requests may share the connection.
        public var mayMultiplex = false
        /// HTTP/2 is used if the server chooses it.
        public var negotiatesHTTP2 = false

        public init() {}
    }

    /// The destination of the response's body (B15).
    public enum Destination {
        case memory
        case sink
        /// Discarded, because the strategy retries.
        case nowhere
    }

    /// Overrides the end reported by the transport, which is stopped.
    enum Ruling: Equatable {
        case local(LocalFailure)
        /// The connection was unusable, and another one must be used.
        case notSent
        /// The response is accepted as it is: everything needed has arrived.
        case response
        /// The response cannot be parsed, or does not match the request.
        case malformed
        case vetoed
    }

    public let request: Request
    public let startedAt: Int64
    /// The time of the last progress (M1).
    public internal(set) var lastActivity: Int64
    /// How often the transport has asked to send the request on a usable connection.
    public internal(set) var sendings = 0
    public internal(set) var agreed = ConnectionProtocol.unknown
    /// Other sendings may share its connection, so activity on the connection may not belong to this one.
    public internal(set) var isMultiplexed = false
    /// Before a response, the server has reported that it serves this origin only over HTTP/1.1.
    var isHTTP1Needed = false
    public internal(set) var isPaused = false

    /// Of the last status line; 0 before there is one.
    public internal(set) var status: Int32 = 0
    /// 10, 11, 20; 0: not in the status line.
    public internal(set) var httpVersion: Int32 = 0
    /// The empty line that ends the head has not arrived.
    var isHeadOpen = true
    public internal(set) var headerLines = 0
    var headerBytes = 0
    /// The framing of the body according to the header lines so far.
    public internal(set) var framing = ResponseFraming()
    /// The final response has begun while the request was still being sent.
    public internal(set) var hasEarlyResponse = false
    public internal(set) var destination = Destination.memory
    /// Accepted bytes of the body, before decoding.
    public internal(set) var bytesTaken: Int64 = 0
    /// Only the beginning of the body was kept.
    public internal(set) var isBodyCutOff = false
    /// The limit that a response exceeds if it is too large.
    public internal(set) var limit = ResponseLimit.transport
    private(set) var ruling: Ruling?

    init() {
        self.init(Request(), at: 0)
    }

    init(_ request: Request, at now: Int64) {
        self.request = request
        startedAt = now
        lastActivity = now
    }

    /// The transport must stop. A local failure has priority, then the first ruling.
    mutating func rule(_ ruling: Ruling) {
        if case .local = self.ruling { return }
        if case .local = ruling { self.ruling = ruling }
        if self.ruling == nil { self.ruling = ruling }
    }

    /// The head of the final response is complete.
    public var isHeadWhole: Bool { status >= 200 && !isHeadOpen }

    /// Whether the response may have a body, regardless of its header lines (RFC 9112, 6.3).
    public var mayHaveBody: Bool { !request.isHead && status != 204 && status != 304 }
}
