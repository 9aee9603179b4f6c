/// How a transport reports the end of a sending, independent of a library. `AttemptMachine` decides what it means for
/// the attempt (B2).
public enum TransportEnd: Equatable {
    /// The exchange is over, without an error visible to the transport.
    case done
    /// A function of the engine told the transport to stop. The attempt knows why.
    case aborted
    case failed(NetworkExceptionCause)
    /// The connection was lost before the response was complete. `mayBeDead`: it had been used before, so it may have
    /// been closed before the request reached the server (B13).
    case lost(mayBeDead: Bool)
    /// Writing to the connection failed. `hasSentAll`: the entire request had been sent before.
    case writeFailed(hasSentAll: Bool, mayBeDead: Bool)
    /// The connection was dead, and the transport could not rewind the body to send it on another one (B13).
    case deadConnection
    /// A proxy refused to connect to the host, with this status in its answer to CONNECT; 0: it refused in another way.
    case refusedByProxy(status: Int32)
    /// A timeout of the attempt has expired.
    case timedOut(NetworkExceptionCause)
    /// A line of the head, or of the trailers, is longer than the transport accepts.
    case lineTooLong
    case local(LocalFailure)
}

/// How and when an attempt ended, and the transport's own error number (0: success, or the engine ended it).
public struct AttemptEnd: Equatable {
    public let end: TransportEnd
    public let code: Int32
    /// Monotonic time in nanoseconds.
    public let time: Int64

    public init(_ end: TransportEnd, code: Int32, at time: Int64) {
        self.end = end
        self.code = code
        self.time = time
    }
}
