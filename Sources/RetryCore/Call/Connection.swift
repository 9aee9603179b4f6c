/// The protocol that both ends agreed on when the connection was made.
public enum ConnectionProtocol {
    case http1
    case http2
    /// The transport does not tell.
    case unknown
}

/// Why a request must not be sent on a connection.
public enum ConnectionProblem {
    /// It carries another request, and does not use HTTP/2 (W1).
    case busy
    /// No transfer is known to have opened it, so its protocol is unknown. (libcurl up to 8.22 offers only connections
    /// that are ready; another version may offer one that is still being made.)
    case unidentified
    /// The peer has closed it, or has sent data without a request (W3).
    case stale
}
