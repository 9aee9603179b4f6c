/// A loop without a thread, which does for token sources what threads do otherwise.
protocol TokenHost: AnyObject {
    /// A guest has something to do. Any thread; the source's lock is held.
    func wakeForGuests()
}

/// The loop that a provider's requests run on, which the host of its source drives.
public protocol ProviderLoop: AnyObject {
    /// A descriptor that is readable while `turnAsGuest` has something to do; -1: there is none.
    func watched() -> Int32

    /// One turn without a wait, unless it has a thread. False if there is nothing to do.
    func turnAsGuest() -> Bool

    /// A thread waits that does not drive: the loop continues with a thread.
    func resumeWithThread()
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
