import CShims
import RetryCore

/// What a transport has of one transfer. Only the holder of the loop uses it.
protocol Carrier: AnyObject {
    /// Resumes a transfer that a callback has paused, and looks whether it has ended in any case.
    func resume()

    /// Drops the transfer, whether or not it has ended, and fills in its report.
    func end()

    /// All of the request is on its way.
    var hasSentAll: Bool { get }

    /// The kernel has delivered bytes to the peer since this was asked last (M1).
    func hasDrained() -> Bool

    /// A status line as the transport has read it.
    func read(_ written: StatusLine) -> StatusLine

    /// From now on, or no longer, the transfer hears of it when the server refuses HTTP/2 for its origin.
    func listenForRefusals(_ listens: Bool)

    /// The response ends when the server ends it, and its Content-Length does not count.
    func ignoreLength()
}
