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

/// What a token source knows of a loop that helps it to get a token. Guarded by the source's lock.
final class TokenGuest {
    let host: any TokenHost
    /// The source has something to do, or will have.
    var needsHost = false
    /// The next one of the same source.
    var next: TokenGuest?

    init(host: any TokenHost) {
        self.host = host
    }
}
