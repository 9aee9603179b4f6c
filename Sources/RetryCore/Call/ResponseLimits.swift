/// The maximum size of a response, in bytes unless noted otherwise.
public struct ResponseLimits {
    /// Number of header lines, including trailers.
    public var headerLines = 1_000
    /// Below the 300 KiB at which libcurl gives up with an error like that of a failed connection.
    public var headerBytes = 256 << 10
    /// Of a 2xx response in memory.
    public var body = 256 << 20
    /// Of any other response, whose body is truncated to this size (B15).
    public var errorBody = 1 << 20
    /// Of a 2xx response written to a sink.
    public var sink = Int.max

    public init() {}
}

/// The limit that a response exceeds if it is too large.
public enum ResponseLimit {
    case headerLines
    case headerBytes
    case body
    /// The transport's own limit for a header line.
    case transport
}
