/// The access tokens of one call. Only the holder of the loop touches it.
final class CallAuth {
    let source: TokenSource
    /// What the next attempt is sent with.
    var token: AccessToken?
    /// What the last attempt was rejected with; the next one must be another.
    var rejected: AccessToken?
    var hasReplayed = false
    /// While the call waits for a token.
    var waiter: TokenWaiter?
    /// Why there is none.
    var failure: TokenWaitFailure?

    init(_ source: TokenSource) {
        self.source = source
    }
}
