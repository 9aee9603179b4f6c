/// How a transport says that a sending has ended, in the words of no library. What that means for the attempt (B2) is
/// `AttemptMachine`'s to say.
public enum TransportEnd: Equatable {
    /// The exchange is over, and nothing went wrong that the transport can see.
    case done
    /// One of the engine's functions told the transport to stop. The attempt knows why.
    case aborted
    case failed(NetworkExceptionCause)
    /// The connection was lost before the response was whole. `mayBeDead`: it had been used before, so that it may have
    /// been closed before the request reached the server (B13).
    case lost(mayBeDead: Bool)
    /// Writing to the connection failed. `hasSentAll`: the whole request was on its way before that.
    case writeFailed(hasSentAll: Bool, mayBeDead: Bool)
    /// The connection was dead, and the transport could not rewind the body to send it on another one (B13).
    case deadConnection
    /// A proxy refused to connect to the host, with this status of its answer to CONNECT; 0: in another way.
    case refusedByProxy(status: Int32)
    /// One of the attempt's times is over.
    case timedOut(NetworkExceptionCause)
    /// A line of the head is longer than the transport takes.
    case lineTooLong
    case local(LocalFailure)
}

/// How an attempt ended, when, and the transport's own number for it (0: all went well, or the engine ended it).
public struct AttemptEnd: Equatable {
    public let end: TransportEnd
    public let code: Int32
    /// Nanoseconds of the monotonic clock.
    public let time: Int64

    public init(_ end: TransportEnd, code: Int32, at time: Int64) {
        self.end = end
        self.code = code
        self.time = time
    }
}
