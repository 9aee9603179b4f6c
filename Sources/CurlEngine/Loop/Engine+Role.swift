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

    /// Makes sure that the engine has its own thread. False if it cannot be started.
    @discardableResult
    func startThread(_ role: borrowing LoopRole.Held) -> Bool {
        if role.state.hasThread { return true }
        guard !settings.isDriven else { return false }
        let context = Unmanaged.passRetained(self)
        guard shim_thread_start({ Engine.runThread($0) }, { Engine.threadEnded($0) }, context.toOpaque()) else {
            context.release()
            return false
        }
        role.state.hasThread = true
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
        role.withLock { role in
            role.state.hasThread = false
            signalIfClosed(role)
        }
    }

    /// The engine's own thread: drives when there is work to do and no other thread drives.
    private func runThread() {
        role.withLock { role in
            var sleepTime = Self.gracePeriod
            while true {
                if !role.state.isClosing, role.state.gracePeriodEnd > shim_monotonic_nanoseconds() {
                    // To be woken for each call, only to see that somebody else drives it, would cost as much as the call.
                    role.state.isThreadSleeping = true
                    _ = role.wait(until: shim_monotonic_nanoseconds() + sleepTime)
                    role.state.isThreadSleeping = false
                    sleepTime = min(2 * sleepTime, Self.longestSleep)
                    continue
                }
                sleepTime = Self.gracePeriod
                if role.state.unfinished > 0, !role.state.hasDriver, role.state.waitingDrivers == 0 {
                    role.state.ownThreadDrives = true
                    drive(role, until: .max, .waitingDriver)
                    role.state.ownThreadDrives = false
                    role.wakeAll()
                } else if role.state.isClosing, role.state.unfinished == 0 {
                    break
                } else {
                    _ = role.wait()
                }
            }
        }
    }

    /// What a thread waits for, or drives the loop for.
    enum Goal {
        /// One turn has been made.
        case turn
        /// The call has ended, or its waiter is woken.
        case end(of: Call)
        /// An ended call has come there.
        case arrival(any CallDestination)
        /// Another thread wants the role.
        case waitingDriver
        /// All calls of a client have ended.
        case ends(CallOwner)
        /// All calls have ended.
        case allEnds
        case closed
    }

    private func isReached(_ goal: Goal, _ role: borrowing LoopRole.Held) -> Bool {
        switch goal {
        case .turn: true
        case .end(let call): call.shared(role) { $0.isWaitOver }
        case .arrival(let destination): destination.hasCalls
        case .waitingDriver: role.state.waitingDrivers > 0
        case .ends(let owner): owner.shared(role) { $0.unfinished == 0 }
        case .allEnds: role.state.unfinished == 0
        case .closed: role.state.isClosedForGood
        }
    }

    /// Takes the role, which is free, and runs the loop until the goal is reached, or nothing is left to do, or until that
    /// time; but for `turn`, which is always made.
    func drive(_ role: borrowing LoopRole.Held, until limit: Int64, _ goal: Goal) {
        assert(!role.state.hasDriver)
        role.state.hasDriver = true
        let isDriven = settings.isDriven || role.state.isWatched
        // A thread that was canceled in here would keep the role.
        shim_thread_disable_cancel()
        if runTurns(role, until: limit, goal) {
            if isDriven { role.unlocked { park() } }
            dropTransportIfClosed(role)
            shim_libcurl_leave()
        }
        shim_thread_restore_cancel()
        role.state.hasDriver = false
        if !isDriven { role.state.isPolling = false }
        if role.state.unfinished == 0, !role.state.commands.isEmpty, guests == nil {
            // The remaining commands are about calls that have ended, and would keep them alive.
            let late = role.state.commands
            role.state.commands = []
            role.unlocked { forget(late) }
        }
        leaveClockIfIdle(role)
        signalIfClosed(role)
        if isDriven { role.wakeAll() }
        endCallsIfDriven(role)
    }

    /// With the role. False if this thread is not inside libcurl afterwards: it has nothing to do there, or must not enter
    /// it any more.
    private func runTurns(_ role: borrowing LoopRole.Held, until limit: Int64, _ goal: Goal) -> Bool {
        // Without TLS, libcurl tells each send that it wants no SIGPIPE.
        var signals: shim_sigpipe?
        var isInside = false
        var isOver = false
        if case .turn = goal {} else { isOver = hasEnough(role, goal, until: limit) }
        while !isOver {
            if shim_exit_has_begun() { closeAtExit(role) }
            takeCommands(role)
            role.unlocked {
                isInside = isInside || shim_libcurl_enter()
                guard isInside else { return endWithoutTransport() }
                if usesTLS, signals == nil { signals = shim_sigpipe_block() }
                turn(until: limit)
            }
            isOver = !isInside || hasEnough(role, goal, until: limit)
        }
        if let signals { shim_sigpipe_restore(signals) }
        return isInside
    }

    private func hasEnough(_ role: borrowing LoopRole.Held, _ goal: Goal, until limit: Int64) -> Bool {
        role.state.isWakePending = false
        return role.state.unfinished == 0 || isReached(goal, role)
            || limit < .max && shim_monotonic_nanoseconds() >= limit
    }

    /// Lets go of commands. What they keep may call back when it ends: no lock may be held.
    private func forget(_ commands: consuming [LoopCommand]) {}

    /// The same for the transport, which closes its connections.
    private func forget(_ transport: consuming (any Transport)?) {}

    func signalIfClosed(_ role: borrowing LoopRole.Held) {
        guard role.state.isClosedForGood else { return }
        for waiter in role.state.closeWaiters { waiter.signal() }
        role.state.closeWaiters = []
    }

    /// With the role, unless it is free: a closed engine has no use for libcurl. To drop it here, and not with the last
    /// reference, is what keeps that from happening on any thread at any time.
    func dropTransportIfClosed(_ role: borrowing LoopRole.Held) {
        guard role.state.isClosing, role.state.unfinished == 0, transport != nil else { return }
        let hadDriver = role.state.hasDriver
        role.state.hasDriver = true
        let dropped = transport
        transport = nil
        role.state.transport = nil
        role.unlocked {
            forgetGuests()
            forget(dropped)
        }
        role.state.hasDriver = hadDriver
    }

    // MARK: - The end of the process (W8)

    /// The process exits while this thread is still allowed to use libcurl: all calls end, as if the client had been closed.
    private func closeAtExit(_ role: borrowing LoopRole.Held) {
        guard !role.state.isClosing else { return }
        role.state.isClosing = true
        role.state.cancelAll()
    }

    /// While the process exits, the library's threads stay where they are, outside of libcurl: this thread ends the calls
    /// that are left. False if a callback of one of them does not return within two seconds, or by that time.
    func waitAtExit(until limit: Int64, _ goal: Goal) -> Bool {
        role.withLock { look($0, until: min(limit, shim_monotonic_nanoseconds() + 2_000_000_000), goal) }
    }

    /// The process exits, and libcurl must not be used any more: all calls end, and what libcurl has of them stays with it.
    private func endWithoutTransport() {
        use(nil)  // Its `deinit` sees for itself that it must not free anything.
        // What ends a transfer would need the transport, and libcurl.
        for call in active { call.transfer?.carrier = nil }
        readClock()
        runCommands()
        role.withLock { role in
            closeAtExit(role)
            takeCommands(role)
        }
        runCommands()
    }

    /// Another thread has to take the role, now or after the grace period.
    private func leaveRole(_ role: borrowing LoopRole.Held, afterGracePeriod: Bool) {
        role.state.gracePeriodEnd = afterGracePeriod ? shim_monotonic_nanoseconds() + Self.gracePeriod : 0
        guard role.state.unfinished > 0 || role.state.isClosing else { return }
        if role.state.unfinished > 0 { startThread(role) }
        if !afterGracePeriod || !role.state.isThreadSleeping { role.wakeAll() }
    }

    /// The role is free, if need be since the own thread has given it up. False if it is somebody else's, or that time has
    /// come.
    private func claimRole(_ role: borrowing LoopRole.Held, until limit: Int64) -> Bool {
        guard role.state.hasDriver else { return true }
        guard role.state.ownThreadDrives, role.state.waitingDrivers == 0 else { return false }
        role.state.waitingDrivers += 1
        wakeDriver(role)
        while role.state.hasDriver, role.state.ownThreadDrives, role.wait(until: limit) {}
        role.state.waitingDrivers -= 1
        guard role.state.hasDriver else { return true }
        role.wakeAll()
        return false
    }

    /// Waits for the end of a call, or until it is woken. `mayTakeRole`: the own thread may be driving, and another call is
    /// likely to follow.
    func wait(_ role: borrowing LoopRole.Held, for call: Call, until limit: Int64, mayTakeRole: Bool) {
        if call.shared(role, { $0.isWaitOver }) { return }
        if limit != .max, limit <= shim_monotonic_nanoseconds() {
            // Who only looks must not take the role from the thread that does the work.
            if !role.state.hasDriver { leaveRole(role, afterGracePeriod: false) }
        } else if mayTakeRole ? claimRole(role, until: limit) : !role.state.hasDriver {
            drive(role, until: limit, .end(of: call))
            // Who reads a body may stay away for long, and other calls do not wait for that.
            let isDone = call.shared(role) { $0.isDone }
            leaveRole(role, afterGracePeriod: mayTakeRole && (isDone || role.state.unfinished == 1))
        } else {
            waitForDriver(role, of: call, until: limit)
        }
    }

    /// Another thread drives the loop, or has to.
    private func waitForDriver(_ role: borrowing LoopRole.Held, of call: Call, until limit: Int64) {
        // The role was waited for without the lock.
        if call.shared(role, { $0.isWaitOver }) { return }
        let waiter = call.shared(role) { $0.waiterForEnd() }
        guard startThread(role), let waiter else {
            _ = look(role, until: limit, .end(of: call))
            return
        }
        if !role.state.hasDriver { role.wakeAll() }
        _ = role.unlocked { waiter.wait(until: limit) }
    }

    /// Waits without a waiter, for which there is no memory, or without a thread to take the role when the present driver
    /// leaves. Drives if no other thread does, and otherwise looks every millisecond, or when the driver of a client
    /// without a thread reports a change. False if the limit came before the goal.
    func look(_ role: borrowing LoopRole.Held, until limit: Int64, _ goal: Goal) -> Bool {
        while !isReached(goal, role) {
            let now = shim_monotonic_nanoseconds()
            guard now < limit else { return false }
            if role.state.hasDriver || role.state.unfinished == 0 {
                _ = role.wait(until: settings.isDriven ? limit : min(limit, now + Self.gracePeriod))
            } else {
                drive(role, until: limit, goal)
                leaveRole(role, afterGracePeriod: false)
            }
        }
        return true
    }

    public func drive(for destination: any CallDestination, until limit: Int64) -> Bool {
        role.withLock { role in
            if settings.isDriven { return driveOrWait(role, for: destination, until: limit) }
            guard role.state.unfinished > 0, claimRole(role, until: limit) else { return false }
            drive(role, until: limit, .arrival(destination))
            leaveRole(role, afterGracePeriod: true)
            return true
        }
    }

    private func driveOrWait(
        _ role: borrowing LoopRole.Held, for destination: any CallDestination, until limit: Int64
    ) -> Bool {
        while role.state.unfinished > 0 {
            if destination.hasCalls { return true }
            if !role.state.hasDriver {
                drive(role, until: limit, .arrival(destination))
                return true
            }
            guard role.wait(until: limit) else { return true }
        }
        return false
    }
}
