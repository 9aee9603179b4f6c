/// A token source that gets a token with the help of this loop.
final class HostedSource {
    let source: TokenSource
    /// The source's part of it.
    let guest: TokenGuest
    /// The next one of the loop.
    var next: HostedSource?
    /// It is among the loop's guests.
    var isKept = false
    /// Of the loop that the provider has; -1: none.
    var descriptor: Int32 = -1

    init(_ source: TokenSource, host: any TokenHost) {
        self.source = source
        guest = TokenGuest(host: host)
    }
}
