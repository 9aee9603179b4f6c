/// What the two ends of a connection agreed to speak when they made it.
public enum ConnectionProtocol {
    case http1
    case http2
    /// The transport does not say.
    case unknown
}

/// Why a request must not be sent on a connection.
public enum ConnectionProblem {
    /// It carries another request, and does not speak HTTP/2 (W1).
    case busy
    /// No transfer was seen to open it, so what it carries is unknown. (libcurl 7.88 offers only connections that are
    /// ready; another version may offer one that is still being made.)
    case unidentified
    /// The peer has closed it, or has sent bytes that answer no request (W3).
    case stale
}
