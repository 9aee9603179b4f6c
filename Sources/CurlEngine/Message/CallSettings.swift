import CShims
import RetryCore

/// How a call is made: the request's settings, where it has them, else the client's, else the defaults.
public struct CallSettings {
    /// Nanoseconds (M1); `Int64.max` means none.
    public var idleTimeout: Int64 = 60_000_000_000
    /// Nanoseconds (M2); `Int64.max` means none.
    public var resourceTimeout: Int64 = 21_600_000_000_000
    /// Nanoseconds until the request can be sent (W5); `Int64.max` means none.
    public var connectTimeout = Int64.max
    /// Milliseconds, over all attempts (B11); `Int64.max` means none.
    public var deadline = Int64.max
    /// Nil: as the strategy has it (B14).
    public var maxTotalAttempts: Int32?
    /// A request whose connection was dead may be sent again at once, within its attempt (B13).
    public var mayReconnect = true
    public var limits = ResponseLimits()
    /// Within one attempt; 0: none is followed.
    public var maxRedirects: Int32 = 20
    public var httpVersion = HTTPVersion.http2
    /// Ask for compressed responses, and unpack them.
    public var isCompressed = false
    /// The access token may go by plain http (T13).
    public var allowsInsecureToken = false
    /// The body has secrets that are meant for this machine alone: past the environment's proxies, which would read them
    /// (T12).
    public var hasSecretBody = false
    /// Runs on the loop before each sending.
    public var beforeAttempt: ((Sending) -> Void)?
    /// Runs on the loop while bodies move. The first argument is the attempt's number, from 1; the last one is what a
    /// resumed download had before.
    public var onProgress: ((Int32, shim_progress, Int64) -> Void)?

    public init() {}

    var timeouts: AttemptTimeouts {
        AttemptTimeouts(idle: idleTimeout, resource: resourceTimeout, connect: connectTimeout)
    }
}

/// Settings that many calls share. Never changes.
public final class SharedCallSettings {
    public let value: CallSettings

    public init(_ value: CallSettings) {
        self.value = value
    }
}
