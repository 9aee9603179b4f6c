/// The state of an engine that its lock guards. Who holds that lock may touch what its calls share.
protocol EngineLock {}

/// What a call shares with the threads that wait for it, cancel it and resume it. `Call.shared` is the only way to it.
struct CallShared {
    /// It is with the loop; or a cancel came before that.
    private var isBegun = false
    private var isCancelled = false
    /// A command to resume it is under way.
    private var isResumePosted = false
    private var result: CallResult?
    private(set) var isDone = false
    /// The thread that waits for it while another one drives.
    private var waiter: Waiter?
    /// The wait for it that is running, or the next one, is over.
    private var isWoken = false

    var isWaitOver: Bool { isDone || isWoken }

    // MARK: - For its callers

    /// True: it has been canceled already.
    mutating func begin() -> Bool {
        isBegun = true
        return isCancelled
    }

    /// True: the loop has to cancel it.
    mutating func cancel() -> Bool {
        if !isBegun { isCancelled = true }
        return isBegun
    }

    /// True: the loop has to resume it.
    mutating func resume() -> Bool {
        guard isBegun, !isResumePosted else { return false }
        isResumePosted = true
        return true
    }

    /// Nil if there is no memory for one.
    mutating func waiterForEnd() -> Waiter? {
        waiter = waiter ?? Waiter.make()
        return waiter
    }

    /// Ends the wait for it. The waiter is to be signaled without the lock; the next wait needs another one.
    mutating func wake() -> Waiter? {
        isWoken = true
        defer { waiter = nil }
        return waiter
    }

    /// A wait for it is over. True: the call has ended.
    mutating func stopWaiting() -> Bool {
        isWoken = false
        return isDone
    }

    /// Only the first caller gets it.
    mutating func takeResult() -> CallResult? {
        defer { result = nil }
        return result
    }

    // MARK: - For the loop

    mutating func resumed() { isResumePosted = false }

    mutating func end(_ result: CallResult) {
        self.result = result
        isDone = true
    }

    /// The call has ended: who is to be signaled, without the lock.
    var waiterToSignal: Waiter? { waiter }
}
