/// One request and its response, as far as it has come: what an attempt knows of one sending.
public struct Exchange {
    /// What is sent, as far as it matters to the response.
    public struct Request {
        /// A body goes along.
        public var hasBody = false
        public var isHead = false
        /// The body of a 2xx response goes to the caller's sink.
        public var hasSink = false
        /// The body of another response goes there, too, if it is the last one of the call.
        public var sinkTakesErrors = false
        public var followsRedirects = false
        /// A 401 may be answered by a new access token.
        public var renewsToken = false
        /// The rest of a file is asked for, of which a part has come before.
        public var asksForRest = false
        /// Several requests may share the connection.
        public var mayMultiplex = false
        /// HTTP/2 is spoken if the server chooses it.
        public var negotiatesHTTP2 = false

        public init() {}
    }

    /// Where the body of the response goes (B15).
    public enum Destination {
        case memory
        case sink
        /// Nobody wants it, since the strategy retries.
        case nowhere
    }

    /// What ends the sending, whatever the transport says of it. The transport is told to stop.
    enum Ruling: Equatable {
        case local(LocalFailure)
        /// The connection was unusable, and another one is to be used.
        case notSent
        /// The response is taken as it is: all that is wanted of it has come.
        case response
        /// The response cannot be read, or is not what was asked for.
        case malformed
        case vetoed
    }

    public let request: Request
    public let startedAt: Int64
    /// When something last moved (M1).
    public internal(set) var lastActivity: Int64
    /// How often the transport has asked to send the request, on a connection that may be used.
    public internal(set) var sendings = 0
    public internal(set) var agreed = ConnectionProtocol.unknown
    /// Other sendings may share its connection, so that what moves there is not this one's.
    public internal(set) var isMultiplexed = false
    /// Before a response the server has said that it serves this origin over HTTP/1.1 only.
    var isHTTP1Needed = false
    public internal(set) var isPaused = false

    /// Of the last status line; 0 before there is one.
    public internal(set) var status: Int32 = 0
    /// 10, 11, 20; 0: it did not say.
    public internal(set) var httpVersion: Int32 = 0
    /// The empty line that ends the head has not come.
    var isHeadOpen = true
    public internal(set) var headerLines = 0
    var headerBytes = 0
    /// What the header lines say about the body so far.
    public internal(set) var framing = ResponseFraming()
    /// The final response has begun while the request was still being sent.
    public internal(set) var isAnsweredEarly = false
    public internal(set) var destination = Destination.memory
    /// Bytes of the body that were taken, as they came.
    public internal(set) var bytesTaken: Int64 = 0
    /// Only the beginning of the body was kept.
    public internal(set) var isBodyCutOff = false
    /// Which limit a response that is too large exceeds.
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

    /// The transport is to stop. What has failed on this machine counts before anything else, then what came first.
    mutating func rule(_ ruling: Ruling) {
        if case .local = self.ruling { return }
        if case .local = ruling { self.ruling = ruling }
        if self.ruling == nil { self.ruling = ruling }
    }

    /// The head of the final response has come, whole.
    public var isHeadWhole: Bool { status >= 200 && !isHeadOpen }

    /// The response may have a body, whatever its header lines say (RFC 9112, 6.3).
    public var mayHaveBody: Bool { !request.isHead && status != 204 && status != 304 }
}
