/// A loop without a thread, which does for token sources what threads do otherwise.
protocol TokenHost: AnyObject {
    /// A guest has something to do. Any thread; the source's lock is held.
    func wakeForGuests()
}

/// A token source that gets a token with the help of a loop. Belongs to that loop, but for what is guarded.
final class TokenGuest {
    let source: TokenSource
    let host: any TokenHost
    /// The next guest of the loop.
    var next: TokenGuest?
    /// It is among the loop's guests.
    var isKept = false
    /// The source has something to do, or will have.
    var needsHost = false
    /// The next one of the same source; guarded by the source's lock.
    var nextOfSource: TokenGuest?
    /// Of the loop that the provider has; -1: none.
    var descriptor: Int32 = -1

    init(_ source: TokenSource, host: any TokenHost) {
        self.source = source
        self.host = host
    }
}
