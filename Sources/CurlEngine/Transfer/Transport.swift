import RetryCore

/// Carries attempts to their servers. The engine drives one; libcurl is one, and tests have another.
///
/// All but `wake` belongs to the holder of the loop. While it waits, it calls the transfers' `receive…` functions.
protocol Transport: AnyObject {
    /// Begins an attempt. Nil: it is under way; else how it ended at once.
    func begin(_ transfer: Transfer) -> LocalFailure?

    /// Goes on with an attempt that a callback has paused, and looks whether it has ended in any case.
    func resume(_ transfer: Transfer)

    /// Drops an attempt, whether or not it has ended.
    func end(_ transfer: Transfer)

    /// Lets happen what needs no waiting for: attempts that have just begun are sent.
    func runDue()

    /// Waits until something happens, but at most so many nanoseconds, tells the engine that it `woke`, and lets it happen.
    /// How much has happened.
    func wait(nanoseconds: Int64) -> Int

    /// The next attempt that has ended by itself.
    func takeEnded() -> EndedTransfer?

    /// Ends a `wait` that another thread is in, or the next one.
    func wake()
}

struct EndedTransfer {
    unowned(unsafe) let transfer: Transfer
    let end: TransportEnd
    /// The transport's own; 0 if all was well.
    let code: Int32
}
