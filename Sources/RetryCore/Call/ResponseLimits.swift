/// How large a response may be, in bytes where nothing else is said.
public struct ResponseLimits {
    /// Header lines, those of trailers too.
    public var headerLines = 1_000
    /// Below the 300 KiB at which libcurl gives up by itself, as if the connection had failed.
    public var headerBytes = 256 << 10
    /// Of a 2xx response, kept in memory.
    public var body = 256 << 20
    /// Of any other response, of which only the beginning is kept (B15).
    public var errorBody = 1 << 20
    /// Of a 2xx response, given to a sink.
    public var sink = Int.max

    public init() {}
}

/// Which limit a response that is too large exceeds.
public enum ResponseLimit {
    case headerLines
    case headerBytes
    case body
    /// The transport's own, of a header line.
    case transport
}
