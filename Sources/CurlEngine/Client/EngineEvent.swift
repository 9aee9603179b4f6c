import RetryCore

/// Something that happened to a call; for those who watch. Never has a secret in it.
public struct EngineEvent {
    public var kind: Kind
    public unowned(unsafe) var call: Call
    /// Nanoseconds since the call began.
    public var at: Int64
    /// The attempt that it is about, from 1.
    public var attemptNumber: Int32
    /// The outcome of the attempt, if it has ended.
    public var record: AttemptRecord?
    /// How the call ended, where it has.
    public var ending: CallMachine.Ending?
    /// The status of the answer that closes or opens a gate, and for how many seconds that closes it; 0: neither.
    var gateStatus: Int32 = 0
    public var delay = 0.0

    /// The status of the attempt, the redirect, or the answer that is about a gate; 0: there is none (yet).
    public var status: Int32 {
        if kind == .redirected { return call.redirects.last?.status ?? 0 }
        return record?.status ?? gateStatus
    }

    /// Why the attempt has no response, or why the request is sent again on a new connection.
    public var cause: NetworkExceptionCause {
        if kind == .reconnect { return call.reconnects.last?.cause ?? .none }
        return record?.cause ?? .none
    }

    public enum Kind: Int32 {
        case attemptBegan = 0
        case attemptEnded = 1
        case reconnect = 2
        case retryScheduled = 3
        case callEnded = 4
        case redirected = 5
        case tokenWaitBegan = 6
        case tokenWaitEnded = 7
        case gateClosed = 8
        case gateOpened = 9
    }
}
