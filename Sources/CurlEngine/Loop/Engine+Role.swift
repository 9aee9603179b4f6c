import CShims
import RetryCore

/// Who drives the loop.
///
/// A thread that blocks anyway drives the loop meanwhile: handing a request to another thread, and being woken by it,
/// costs more than the request. A thread that waits for a call or a queue also takes the role over from the engine's
/// own thread. When its wait ends, it is likely to come back soon, so the engine's own thread leaves the role free for
/// a moment.
extension Engine {
    /// Nanoseconds for which the own thread leaves the role free, and up to which it looks less often while others keep
    /// coming back.
    private static let gracePeriod: Int64 = 1_000_000
    private static let longestSleep: Int64 = 4_000_000

    /// With the lock held: makes sure that the engine has its own thread. False if it cannot be started.
    @discardableResult
    func startThread() -> Bool {
        if hasThread { return true }
        guard !settings.isDriven else { return false }
        let context = Unmanaged.passRetained(self)
        guard shim_thread_start({ Engine.runThread($0) }, { Engine.threadEnded($0) }, context.toOpaque()) else {
            context.release()
            return false
        }
        hasThread = true
        return true
    }

    private static func runThread(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        Unmanaged<Engine>.fromOpaque(context).takeUnretainedValue().runThread()
    }

    private static func threadEnded(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        // Released by hand: Swift might do it before the lock is released, which goes with the engine.
        let engine = Unmanaged<Engine>.fromOpaque(context)
        engine._withUnsafeGuaranteedRef { $0.threadEnded() }
        engine.release()
    }

    private func threadEnded() {
        shim_monitor_lock(lock)
        hasThread = false
        signalIfClosed()
        shim_monitor_unlock(lock)
    }

    /// The engine's own thread: drives when there is work to do and no other thread drives.
    private func runThread() {
        var sleepTime = Self.gracePeriod
        shim_monitor_lock(lock)
        while true {
            if !isClosing, gracePeriodEnd > shim_monotonic_nanoseconds() {
                // To be woken for each call, only to see that somebody else drives it, would cost as much as the call.
                isThreadSleeping = true
                _ = shim_monitor_wait_until(lock, shim_monotonic_nanoseconds() + sleepTime)
                isThreadSleeping = false
                sleepTime = min(2 * sleepTime, Self.longestSleep)
                continue
            }
            sleepTime = Self.gracePeriod
            if unfinished > 0, !hasDriver, waitingDrivers == 0 {
                ownThreadDrives = true
                drive(until: .max, .waitingDriver)
                ownThreadDrives = false
                shim_monitor_wake_all(lock)
            } else if isClosing, unfinished == 0 {
                break
            } else {
                _ = shim_monitor_wait_until(lock, .max)
            }
        }
        shim_monitor_unlock(lock)
    }

    /// What a thread waits for, or drives the loop for.
    enum Goal {
        /// One turn has been made.
        case turn
        /// The call has ended, or its waiter is woken.
        case end(of: Call)
        /// An ended call has come there.
        case arrival(CompletionQueue)
        /// Another thread wants the role.
        case waitingDriver
        /// All calls of a client have ended.
        case ends(CallOwner)
        /// All calls have ended.
        case allEnds
        case closed
    }

    /// With the lock held.
    private func isReached(_ goal: Goal) -> Bool {
        switch goal {
        case .turn: true
        case .end(let call): call.isWaitOver
        case .arrival(let queue): queue.hasCalls
        case .waitingDriver: waitingDrivers > 0
        case .ends(let owner): owner.unfinished == 0
        case .allEnds: unfinished == 0
        case .closed: isClosedForGood
        }
    }

    /// With the lock held, before and after: takes the role, and runs the loop until the goal is reached, or nothing is left
    /// to do, or until that time; but for `turn`, which is always made.
    func drive(until limit: Int64, _ goal: Goal) {
        assert(!hasDriver)
        hasDriver = true
        let isDriven = settings.isDriven || isWatched
        shim_monitor_unlock(lock)
        // A thread that was canceled in here would keep the role.
        shim_thread_disable_cancel()
        if shim_libcurl_enter() {
            turn(until: limit, goal)
            if isDriven { park() }
            shim_monitor_lock(lock)
            dropTransportIfClosed()
            shim_libcurl_leave()
        } else {
            endWithoutTransport()
            shim_monitor_lock(lock)
        }
        shim_thread_restore_cancel()
        hasDriver = false
        if !isDriven { isPolling = false }
        if unfinished == 0, !commands.isEmpty, guests == nil {
            // The remaining commands are about calls that have ended, and would keep them alive.
            let late = commands
            commands = []
            shim_monitor_unlock(lock)
            forget(late)
            shim_monitor_lock(lock)
        }
        leaveClockIfIdle()
        signalIfClosed()
        if isDriven { shim_monitor_wake_all(lock) }
        endCallsIfDriven()
    }

    private func turn(until limit: Int64, _ goal: Goal) {
        // Without TLS, libcurl tells each send that it wants no SIGPIPE.
        var signals: shim_sigpipe?
        var isOver = false
        if case .turn = goal {} else { isOver = hasEnough(goal, until: limit) }
        while !isOver {
            if shim_exit_has_begun() { closeAtExit() }
            if usesTLS, signals == nil { signals = shim_sigpipe_block() }
            turn(until: limit)
            isOver = hasEnough(goal, until: limit)
        }
        if let signals { shim_sigpipe_restore(signals) }
    }

    private func hasEnough(_ goal: Goal, until limit: Int64) -> Bool {
        let isOver = locked {
            isWakePending = false
            return unfinished == 0 || isReached(goal)
        }
        return isOver || limit < .max && shim_monotonic_nanoseconds() >= limit
    }

    /// Lets go of commands. What they keep may call back when it ends: no lock may be held.
    private func forget(_ commands: consuming [Command]) {}

    /// The same for the transport, which closes its connections.
    private func forget(_ transport: consuming (any Transport)?) {}

    /// With the lock held: nothing is left to do, now and later.
    var isClosedForGood: Bool { isClosing && unfinished == 0 && !hasDriver && !hasThread }

    /// With the lock held.
    func signalIfClosed() {
        guard isClosedForGood else { return }
        for waiter in closeWaiters { waiter.signal() }
        closeWaiters = []
    }

    /// With the lock held, before and after, and with the role, unless it is free: a closed engine has no use for libcurl. To
    /// drop it here, and not with the last reference, is what keeps that from happening on any thread at any time.
    func dropTransportIfClosed() {
        guard isClosing, unfinished == 0, transport != nil else { return }
        let hadDriver = hasDriver
        hasDriver = true
        let dropped = transport
        transport = nil
        shim_monitor_unlock(lock)
        forgetGuests()
        forget(dropped)
        shim_monitor_lock(lock)
        hasDriver = hadDriver
    }

    // MARK: - The end of the process (W8)

    /// The process exits while this thread is still allowed to use libcurl: all calls end, as if the client had been closed.
    private func closeAtExit() {
        locked {
            guard !isClosing else { return }
            isClosing = true
            commands.append(.cancelAll(nil))
        }
    }

    /// While the process exits, the library's threads stay where they are, outside of libcurl: this thread ends the calls
    /// that are left. False if a callback of one of them does not return within two seconds, or by that time.
    func waitAtExit(until limit: Int64, _ goal: Goal) -> Bool {
        shim_monitor_lock(lock)
        defer { shim_monitor_unlock(lock) }
        return look(until: min(limit, shim_monotonic_nanoseconds() + 2_000_000_000), goal)
    }

    /// The process exits, and libcurl must not be used any more: all calls end, and what libcurl has of them stays with it.
    private func endWithoutTransport() {
        closeAtExit()
        locked {
            transport = nil  // Its `deinit` sees for itself that it must not free anything.
        }
        // What ends a transfer would need the transport, and libcurl.
        for call in active { call.transfer?.carrier = nil }
        readClock()
        runCommands()
    }

    /// With the lock held: another thread has to take the role, now or after the grace period.
    private func leaveRole(afterGracePeriod: Bool) {
        gracePeriodEnd = afterGracePeriod ? shim_monotonic_nanoseconds() + Self.gracePeriod : 0
        guard unfinished > 0 || isClosing else { return }
        if unfinished > 0 { startThread() }
        if !afterGracePeriod || !isThreadSleeping { shim_monitor_wake_all(lock) }
    }

    /// With the lock held: the role is free, if need be since the own thread has given it up. False if it is somebody
    /// else's, or that time has come.
    private func claimRole(until limit: Int64) -> Bool {
        guard hasDriver else { return true }
        guard ownThreadDrives, waitingDrivers == 0 else { return false }
        waitingDrivers += 1
        wakeDriver()
        while hasDriver, ownThreadDrives, shim_monitor_wait_until(lock, limit) {}
        waitingDrivers -= 1
        guard hasDriver else { return true }
        shim_monitor_wake_all(lock)
        return false
    }

    /// Waits for the end of a call, or until it is woken. `mayTakeRole`: the own thread may be driving, and another call is
    /// likely to follow.
    func wait(for call: Call, until limit: Int64, mayTakeRole: Bool) -> Bool {
        shim_monitor_lock(lock)
        if !call.isWaitOver {
            if limit != .max, limit <= shim_monotonic_nanoseconds() {
                // Who only looks must not take the role from the thread that does the work.
                if !hasDriver { leaveRole(afterGracePeriod: false) }
            } else if mayTakeRole ? claimRole(until: limit) : !hasDriver {
                drive(until: limit, .end(of: call))
                // Who reads a body may stay away for long, and other calls do not wait for that.
                leaveRole(afterGracePeriod: mayTakeRole && (call.isDone || unfinished == 1))
            } else {
                waitForDriver(of: call, until: limit)
            }
        }
        call.isWoken = false
        let isDone = call.isDone
        shim_monitor_unlock(lock)
        return isDone
    }

    /// With the lock held, before and after: another thread drives the loop, or has to.
    private func waitForDriver(of call: Call, until limit: Int64) {
        // The role was waited for without the lock.
        if call.isWaitOver { return }
        let waiter = call.waiter ?? Waiter.make()
        call.waiter = waiter
        guard startThread(), let waiter else {
            _ = look(until: limit, .end(of: call))
            return
        }
        if !hasDriver { shim_monitor_wake_all(lock) }
        shim_monitor_unlock(lock)
        _ = waiter.wait(until: limit)
        shim_monitor_lock(lock)
    }

    /// With the lock held, before and after: waits without a waiter, for which there is no memory, or without a thread
    /// to take the role when the present driver leaves. Drives if no other thread does, and otherwise looks every
    /// millisecond, or when the driver of a client without a thread reports a change. False if the limit came before
    /// the goal.
    func look(until limit: Int64, _ goal: Goal) -> Bool {
        while !isReached(goal) {
            let now = shim_monotonic_nanoseconds()
            guard now < limit else { return false }
            if hasDriver || unfinished == 0 {
                _ = shim_monitor_wait_until(lock, settings.isDriven ? limit : min(limit, now + Self.gracePeriod))
            } else {
                drive(until: limit, goal)
                leaveRole(afterGracePeriod: false)
            }
        }
        return true
    }

    /// Drives the loop until `limit`, or until the queue has a call. False if another thread drives it, or if there is
    /// nothing to do. A client without a thread waits for the role instead.
    func drive(for queue: CompletionQueue, until limit: Int64) -> Bool {
        shim_monitor_lock(lock)
        defer { shim_monitor_unlock(lock) }
        if settings.isDriven {
            while unfinished > 0 {
                if queue.hasCalls { return true }
                if !hasDriver {
                    drive(until: limit, .arrival(queue))
                    return true
                }
                guard shim_monitor_wait_until(lock, limit) else { return true }
            }
            return false
        }
        guard unfinished > 0, claimRole(until: limit) else { return false }
        drive(until: limit, .arrival(queue))
        leaveRole(afterGracePeriod: true)
        return true
    }
}
