import RetryCore

/// Something that happened to a call; for those who watch. Never has a secret in it.
public struct EngineEvent {
    public var kind: Kind
    public unowned(unsafe) var call: Call
    /// Nanoseconds since the call began.
    public var at: Int64
    /// The attempt that it is about, from 1.
    public var attemptNumber: Int32
    /// What has become of the attempt, where it has ended.
    public var record: AttemptRecord?
    /// How the call ended, where it has.
    public var ending: CallMachine.Ending?

    public enum Kind: Int32 {
        case attemptBegan = 0
        case attemptEnded = 1
        case reconnect = 2
        case retryScheduled = 3
        case callEnded = 4
        case redirected = 5
        case tokenWaitBegan = 6
        case tokenWaitEnded = 7
    }
}
