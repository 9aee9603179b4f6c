import CShims
import RetryCore

/// What a client's options say about its engine. Its texts are owned by `transport`.
public struct EngineSettings {
    public typealias Text = TransportSettings.Text

    public var transport = TransportSettings()
    /// Names of headers that go to no other place than the request was for (T13).
    public var secretHeaders: [Text] = []
    /// The codes in a 401's body that make for a replay with a new token (R1).
    public var replayCodes: [Text] = []
    public var maxTransfersForOneHost = Int.max
    /// Names that are looked up at once.
    public var maxLookups = 64
    /// Bounds the retries of all calls together, and of others that share it (C1); nil: no budget.
    public var budget: SharedRetryBudget?
    /// An answer that says when to come back holds all attempts to its origin (C3).
    public var sharesRetryAfter = false
    /// The program drives the loop: no thread is started for it.
    public var isDriven = false
    /// Runs on the loop, and must not block.
    public var onEvent: ((EngineEvent) -> Void)?
    /// Releases the C handle of a call that no thread will take.
    public var dropHandle: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

    public init() {}

    func isSecret(_ name: UnsafePointer<CChar>) -> Bool {
        for secret in secretHeaders where RequestChecks.isSameHeader(name, secret) { return true }
        return false
    }
}
