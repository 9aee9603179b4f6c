import RetryCore

/// Carries attempts to their servers. The engine drives one; libcurl is one, and tests have another.
///
/// Any thread may use `wake`, `makeForm` and `descriptor`; the rest belongs to the holder of the loop. While it waits, it
/// calls the transfers' `receive…` functions.
protocol Transport: AnyObject {
    /// Begins a transfer on a carrier of the transport's choosing. Nil: it is under way; else why it is not.
    func begin(_ transfer: Transfer) -> LocalFailure?

    /// A form that this transport can send. Nil: no memory, or a setting that the transport does not take.
    func makeForm() -> MultipartSource?

    /// Lets happen what needs no waiting for: attempts that have just begun are sent.
    func runDue()

    /// Waits for events for at most `nanoseconds`, tells the engine that the wait ended, and handles them.
    /// Returns the number of events.
    func wait(nanoseconds: Int64) -> Int

    /// The next attempt that has ended by itself.
    func takeEnded() -> EndedTransfer?

    /// Ends a `wait` that another thread is in, or the next one.
    func wake()

    /// A descriptor that is readable while `wait` would not have to wait.
    var descriptor: Int32 { get }

    /// No thread waits for now: the descriptor becomes readable after `nanoseconds` at the latest.
    func setAlarm(nanoseconds: Int64)

    /// Whether a `wait` ends when that descriptor, of a guest of this loop, is readable.
    func watch(guest descriptor: Int32, _ isWatched: Bool)
}

/// What a transport lets happen in one wait, at most.
enum TransportWait {
    static let mostEvents = 64
}

/// Why a transport cannot be set up.
public enum TransportSetupFailure: Error {
    case outOfMemory
    /// No descriptors, or libcurl does not work here.
    case exhausted
}

struct EndedTransfer {
    unowned(unsafe) let transfer: Transfer
    let end: TransportEnd
    /// The transport's own; 0 if all was well.
    let code: Int32
}
