import CShims
import RetryCore

/// What happens to the calls, step by step. All of it runs on the loop, but for `decideOnPool`.
extension Engine {
    func perform(_ action: CallMachine.Action, _ call: Call) {
        switch action {
        case .none: break
        case .attempt(let fresh):
            drop(&call.transfer)
            call.isFresh = fresh
            call.isQueued = true
            starting.append(call)
            hasMoreToDo = true
            arm(call)
        case .decide: decide(call)
        case .wait(let seconds):
            drop(&call.transfer)
            locked { stats.retries += 1 }
            tell(.retryScheduled, call, call.records.last)
            timers.set(call, due: Instant(nanoseconds: now).advanced(bySeconds: seconds).nanoseconds)
        case .end(let ending): finish(call, ending)
        }
    }

    /// The strategy is asked; on the pool, if foreign code will answer.
    private func decide(_ call: Call) {
        guard let transfer = call.transfer else { return }
        call.outcome.requestSent = transfer.requestSent
        guard call.strategy.callsBack else {
            call.decision = try? call.retryLoop.next(call.outcome, clock: clock)
            return decided(call)
        }
        if !pool.decide(call) { perform(call.machine.failed(.exhausted), call) }
    }

    /// On a thread of the pool. The loop leaves the call alone until it is told.
    func decideOnPool(_ call: Call) {
        call.decision = try? call.retryLoop.next(call.outcome, clock: clock)
        post(.decided(call), about: call)
    }

    func decided(_ call: Call) {
        guard call.machine.state == .deciding else { return }  // It was cancelled meanwhile.
        if !call.records.isEmpty { call.records[call.records.count - 1].decision = call.decision }
        tell(.attemptEnded, call, call.records.last)
        perform(call.machine.decided(call.decision), call)
    }

    private func tell(
        _ kind: EngineEvent.Kind, _ call: Call, _ record: AttemptRecord? = nil, _ ending: CallMachine.Ending? = nil
    ) {
        guard let onEvent = settings.onEvent else { return }
        let isRunning = kind == .attemptBegan || kind == .reconnect
        onEvent(
            EngineEvent(
                kind: kind, call: call, at: now - call.startedAt,
                attemptNumber: Int32(call.records.count + (isRunning ? 1 : 0)), record: record, ending: ending))
    }

    /// For whoever holds the loop, or before anybody does.
    func schedule(_ entry: TimerEntry, at time: Int64) {
        timers.set(entry, due: time)
    }

    func timerFired(_ call: Call, now: Int64) {
        if call.hasDeadline, clock.boottime.nanoseconds >= call.deadline.nanoseconds {
            return perform(call.machine.deadlinePassed(), call)
        }
        switch call.machine.state {
        case .waiting: perform(call.machine.waitOver(), call)
        case .attempting:
            guard let transfer = call.transfer else { return arm(call) }
            if call.request.bodyLength > 0 { transfer.lookAtKernel() }
            if resourceTimeLeft(call) <= 0 {
                attemptEnded(call, .exception(.timeoutResource), code: 0)
            } else if now >= saturated(transfer.lastActivity, call.settings.idleTimeout) {
                attemptEnded(call, .exception(.timeoutIdle), code: 0)
            } else {
                arm(call)
            }
        case .idle, .deciding, .ended: break
        }
    }

    /// Sets the call's one timer to the next moment at which something may be over. Activity does not move it: it looks
    /// again when it fires.
    private func arm(_ call: Call) {
        var due = Int64.max
        if let transfer = call.transfer {
            due = min(
                saturated(transfer.lastActivity, call.settings.idleTimeout), saturated(now, resourceTimeLeft(call)))
            if call.request.bodyLength > 0, call.settings.idleTimeout != .max {
                // What the kernel drains is only seen by looking.
                due = min(due, now + max(call.settings.idleTimeout / 8, 1_000_000))
            }
        }
        if call.hasDeadline {
            let left = max(call.deadline.nanoseconds - clock.boottime.nanoseconds, 0)
            due = min(due, saturated(now, left))
        }
        if due == .max { timers.remove(call) } else { timers.set(call, due: due) }
    }

    /// Nanoseconds of the attempt's resource time (M2); `Int64.max` if it has none.
    private func resourceTimeLeft(_ call: Call) -> Int64 {
        guard call.settings.resourceTimeout != .max else { return .max }
        return call.settings.resourceTimeout - (clock.boottime.nanoseconds - call.attemptStartedBoot)
    }

    private func saturated(_ time: Int64, _ nanoseconds: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(nanoseconds)
        return overflow ? .max : sum
    }

    private func finish(_ call: Call, _ ending: CallMachine.Ending) {
        if let transfer = call.transfer, !transfer.isDetached { noteUnfinished(call) }
        hasMoreToDo = true
        timers.remove(call)
        if call.isQueued { starting.remove(call) }
        call.isQueued = false
        let last = active.removeLast()
        if last !== call {
            active[call.activeIndex] = last
            last.activeIndex = call.activeIndex
        }
        // What was decided about the last attempt is not why a call was cancelled, or ran out of time.
        let isDecided = ending != .cancelled && ending != .deadline
        tell(.callEnded, call, isDecided ? call.records.last : nil, ending)
        let result = call.makeResult(ending)
        drop(&call.transfer)
        call.cancelSwitch?.remove(call)
        locked {
            call.result = result
            call.isDone = true
        }
        deliver(call)
        shim_monitor_lock(lock)
        unfinished -= 1
        stats.ended += 1
        let waiter = call.waiter
        var closed: [Waiter] = []
        if unfinished == 0 { swap(&closed, &closeWaiters) }
        shim_monitor_unlock(lock)
        waiter?.tell()
        for waiter in closed { waiter.tell() }
    }

    private func deliver(_ call: Call) {
        switch call.delivery {
        case .none: break
        case .queue(let queue):
            if !queue.put(call), call.isUnowned { settings.dropHandle?(call.handle) }
        case .callback(let body): body(call)
        }
    }

    // MARK: - Transfers

    /// Begins attempts whose turn it is; not so many that the timers of others would have to wait for long.
    func startWaiting() {
        for _ in 0..<Self.maximumStartsInOneTurn {
            guard let call = starting.next(settings) else { return }
            call.isQueued = false
            readClock()
            begin(call)
        }
        hasMoreToDo = true
    }

    private func begin(_ call: Call) {
        let transfer = Transfer(call: call, now: now)
        call.transfer = transfer
        if call.reconnects == 0 {
            call.attemptStartedAt = now
            call.attemptStartedBoot = clock.boottime.nanoseconds
        }
        locked { stats.attempts += 1 }
        arm(call)
        tell(.attemptBegan, call)
        if let failure = transport?.begin(transfer) { attemptEnded(call, .local(failure), code: 0) }
    }

    func attemptEnded(_ call: Call, _ result: CallMachine.AttemptResult, code: Int32) {
        guard let transfer = call.transfer else { return }
        detach(transfer)
        note(call, transfer, result, code: code)
        perform(call.machine.attemptEnded(result), call)
    }

    /// Writes down how an attempt ended, and makes the outcome that the strategy sees.
    private func note(_ call: Call, _ transfer: Transfer, _ result: CallMachine.AttemptResult, code: Int32) {
        var cause = NetworkExceptionCause.none
        switch result {
        case .vetoed(isSafe: true) where call.machine.mayReconnect:
            call.reconnects += 1
            locked { stats.reconnects += 1 }
            return tell(.reconnect, call)
        case .vetoed: cause = .receive
        case .exception(let reason): cause = reason
        case .response, .local: break
        }
        if cause != .none { call.exceptions += 1 }
        call.keep(transfer)
        call.records.append(
            AttemptRecord(
                status: cause == .none ? transfer.status : 0, cause: cause, decision: nil,
                startedAt: call.attemptStartedAt - call.startedAt, endedAt: now - call.startedAt,
                reconnects: call.reconnects, curlCode: code, number: Int32(call.records.count + 1),
                exceptionNumber: cause == .none ? 0 : call.exceptions))
        call.reconnects = 0
        call.outcome =
            cause == .none
            ? Outcome(status: transfer.status, headers: call.received.head.list) : Outcome(exception: cause)
        call.outcome.isRequestUnsafe = call.request.isUnsafe
        call.outcome.request = UnsafeRawPointer(call.request.description)
    }

    /// Writes down an attempt that the end of its call broke off: the server may have seen it (B13).
    private func noteUnfinished(_ call: Call) {
        call.records.append(
            AttemptRecord(
                status: 0, cause: .none, decision: nil, startedAt: call.attemptStartedAt - call.startedAt,
                endedAt: now - call.startedAt, reconnects: call.reconnects, curlCode: 0,
                number: Int32(call.records.count + 1), exceptionNumber: 0))
    }

    /// The transfer's look-up is over, or it found a connection that there was.
    func opened(_ transfer: Transfer) {
        starting.opened(transfer.call)
    }

    /// Takes the transfer out of the transport.
    private func detach(_ transfer: Transfer) {
        guard !transfer.isDetached else { return }
        transfer.isDetached = true
        transfer.open()
        starting.ended()
        hasMoreToDo = true
        transport?.end(transfer)
    }

    private func drop(_ transfer: inout Transfer?) {
        if let dropped = transfer { detach(dropped) }
        transfer = nil
    }
}
