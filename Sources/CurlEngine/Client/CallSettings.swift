import RetryCore

/// How a call is made: the request's settings, where it has them, else the client's, else the defaults.
public struct CallSettings {
    /// Nanoseconds (M1); `Int64.max` means none.
    public var idleTimeout: Int64 = 60_000_000_000
    /// Nanoseconds (M2); `Int64.max` means none.
    public var resourceTimeout: Int64 = 21_600_000_000_000
    /// Milliseconds, over all attempts (B11); `Int64.max` means none.
    public var deadline = Int64.max
    public var maxTotalAttempts = RetryLoop.defaultMaxTotalAttempts
    /// Bytes of a 2xx response that are kept in memory.
    public var bodyLimit = 256 << 20
    /// Bytes of any other response (B15).
    public var errorBodyLimit = 1 << 20
    public var maxHeaderLines = 1_000
    /// Below the 300 KiB at which libcurl gives up by itself, as if the connection had failed.
    public var maxHeaderBytes = 256 << 10

    public init() {}
}
