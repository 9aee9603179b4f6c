import CShims
import RetryCore

/// A request just before it is sent: its headers may still be changed, for this one sending.
public final class Sending {
    public let method: UnsafePointer<CChar>
    public let url: UnsafePointer<CChar>
    public let attemptNumber: Int32
    public let userPointer: UnsafeMutableRawPointer?
    public let headers: OwnedHeaders
    /// Set by the hook: there is to be no Authorization, the access token's neither.
    public var hasNoAuthorization = false
    /// Set by the hook: nothing is to be sent.
    public var hasFailed = false

    init(to target: Target, attemptNumber: Int32, userPointer: UnsafeMutableRawPointer?, headers: OwnedHeaders) {
        method = UnsafePointer(target.method)
        url = target.shownURL
        self.attemptNumber = attemptNumber
        self.userPointer = userPointer
        self.headers = headers
    }
}
