import CShims
import RetryCore

/// What a transport has of one transfer. Only the holder of the loop uses it.
protocol Carrier: AnyObject {
    /// Begins a transfer. Nil: it is under way; else why it is not.
    func begin(_ transfer: Transfer) -> LocalFailure?

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

/// A carrier that keeps a form, so that every attempt sends the same bytes.
protocol FormCarrier: Carrier {
    /// The part's header lines become the carrier's; its data must live as long as the carrier.
    func add(_ part: shim_part) -> MultipartSource.Added

    /// Before each sending. False: a part cannot be read, or is not what it was before.
    func checkParts() -> Bool

    /// The part that could not be read, and why; nil: there is none.
    var partFailure: FailureReason? { get }
}
