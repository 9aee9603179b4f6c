import CShims
import RetryCore

/// What happens to the calls, step by step. All of it runs on the loop, but for `decideOnPool`.
extension Engine {
    func perform(_ action: CallMachine.Action, _ call: Call) {
        switch action {
        case .none: break
        case .getToken: getToken(call)
        case .attempt(let fresh):
            call.target = call.request.target
            call.redirectsInAttempt = 0
            if !call.records.isEmpty { locked { stats.retries += 1 } }
            enqueue(call, fresh: fresh)
        case .sendAgain(let fresh): enqueue(call, fresh: fresh)
        case .decide: decide(call)
        case .wait(let seconds):
            // If there is no other token, it is what the call ends with (B8).
            if call.decision?.action == .refreshTokenAndRetry, !call.outcome.isNetworkException { call.keepResponse() }
            drop(&call.transfer)
            tell(.retryScheduled, call, call.records.last)
            timers.set(call, due: Instant(nanoseconds: now).advanced(bySeconds: seconds).nanoseconds)
        case .end(let ending): finish(call, ending)
        }
    }

    private func enqueue(_ call: Call, fresh: Bool) {
        drop(&call.transfer)
        call.isFresh = fresh
        call.isQueued = true
        if call.target.place.has_tls || settings.proxy != nil { usesTLS = true }
        let mayShare = call.settings.httpVersion.mayMultiplex(hasTLS: call.target.place.has_tls)
        starting.append(call, settings, probes: mayShare && spoken.isMultiplexed(call.target.place) == nil)
        arm(call)
    }

    // MARK: - Decisions

    /// The strategy is asked; on the pool, if foreign code will answer.
    private func decide(_ call: Call) {
        if let early = call.early, !call.outcome.isNetworkException {
            call.early = nil
            call.decision = early.decision
            return decided(call)
        }
        if let early = call.early {
            // The response whose head was judged has not become one.
            call.retryLoop = early.before
            call.early = nil
        }
        guard call.strategy.callsBack else {
            call.decision = charged(nextDecision(call), call)
            return decided(call)
        }
        if !pool.decide(call) { perform(call.machine.failed(.exhausted), call) }
    }

    /// What becomes of the body of a 2xx response whose head has come.
    enum EarlyAnswer {
        case deliver
        case keep
        case wait
        case fail(LocalFailure)
    }

    /// Asks the strategy about a response whose head has come, since its body has to go somewhere (B15). Runs inside
    /// libcurl.
    func askEarly(_ call: Call, _ transfer: Transfer) -> EarlyAnswer {
        guard call.keepHead(transfer) else { return .fail(.outOfMemory) }
        makeOutcome(call, transfer, cause: .none)
        let before = call.retryLoop
        guard call.strategy.callsBack else {
            let decision = charged(nextDecision(call), call)
            call.early = (decision, before)
            return decision?.isRetry == false ? .deliver : .keep
        }
        call.early = (nil, before)
        call.isAskingEarly = true
        guard pool.decide(call) else {
            call.isAskingEarly = false
            return .fail(.exhausted)
        }
        return .wait
    }

    /// On a thread of the pool. The loop leaves the call alone until it is told.
    func decideOnPool(_ call: Call) {
        call.decision = nextDecision(call)
        post(.decided(call), about: call)
    }

    /// Nil: the strategy's callback failed.
    private func nextDecision(_ call: Call) -> Decision? {
        do throws(StrategyFailure) {
            return try call.retryLoop.next(call.outcome, clock: clock)
        } catch {
            call.strategyFailure = error
            return nil
        }
    }

    /// The pool has an answer.
    func answered(_ call: Call) {
        call.decision = charged(call.decision, call)
        if call.isAskingEarly { decidedEarly(call) } else { decided(call) }
    }

    /// What becomes of a decision when a retry has been taken out of the budget, or there is none left in it (C1).
    private func charged(_ decision: Decision?, _ call: Call) -> Decision? {
        guard var decision, decision.isRetry, budget?.take() == false else { return decision }
        decision.stop(.retryBudgetSpent, after: call.outcome)
        return decision
    }

    private func decided(_ call: Call) {
        guard call.machine.state == .deciding else { return }  // It was cancelled meanwhile.
        if !call.records.isEmpty { call.records[call.records.count - 1].decision = call.decision }
        if call.decision?.rejectsToken == true { dropToken(call) }
        tell(.attemptEnded, call, call.records.last)
        perform(call.machine.decided(call.decision), call)
    }

    private func decidedEarly(_ call: Call) {
        call.isAskingEarly = false
        call.early?.decision = call.decision
        guard let decision = call.decision else { return perform(call.machine.callbackFailed(), call) }
        guard let transfer = call.transfer else { return }
        if decision.isRetry {
            transfer.keepInMemory()
        } else if let sink = call.sink, !transfer.deliver(to: sink) {
            let result = attemptResult(CURLE_WRITE_ERROR, of: transfer)
            return attemptEnded(call, result, code: Int32(CURLE_WRITE_ERROR.rawValue))
        }
        if let end = call.endWhileAsking {
            call.endWhileAsking = nil
            return attemptEnded(call, end.result, code: end.code, at: end.at)
        }
        resume(call)
    }

    /// Goes on with what a callback has paused.
    func resume(_ call: Call) {
        guard let transfer = call.transfer, !transfer.isDetached, transfer.place != .undecided else { return }
        transfer.isPaused = false
        readClock()
        transfer.touch()
        arm(call)
        transport?.resume(transfer)
        hasMoreToDo = true
    }

    func tell(
        _ kind: EngineEvent.Kind, _ call: Call, _ record: AttemptRecord? = nil, _ ending: CallMachine.Ending? = nil
    ) {
        guard let onEvent = settings.onEvent else { return }
        let isRunning = kind == .attemptBegan || kind == .reconnect || kind == .redirected
        onEvent(
            EngineEvent(
                kind: kind, call: call, at: now - call.startedAt,
                attemptNumber: call.attemptNumber - (isRunning ? 0 : 1), record: record, ending: ending))
    }

    func timerFired(_ call: Call, now: Int64) {
        if call.hasDeadline, clock.boottime.nanoseconds >= call.deadline.nanoseconds {
            return perform(call.machine.deadlinePassed(), call)
        }
        switch call.machine.state {
        case .waiting: perform(call.machine.waitOver(), call)
        case .attempting:
            guard let transfer = call.transfer, !transfer.isDetached else { return arm(call) }
            if call.request.hasBody { transfer.lookAtKernel() }
            if resourceTimeLeft(call) <= 0 {
                attemptEnded(call, .exception(.timeoutResource), code: 0)
            } else if !transfer.isHeld, now >= saturated(transfer.lastActivity, call.settings.idleTimeout) {
                attemptEnded(call, .exception(.timeoutIdle), code: 0)
            } else {
                arm(call)
            }
        case .awaitingToken, .deciding: arm(call)
        case .idle, .ended: break
        }
    }

    /// Sets the call's one timer to the next moment at which something may be over. Activity does not move it: it looks
    /// again when it fires.
    func arm(_ call: Call) {
        var due = Int64.max
        if let transfer = call.transfer, !transfer.isDetached {
            due = saturated(now, resourceTimeLeft(call))
            if !transfer.isHeld { due = min(due, idleDue(call, transfer)) }
        }
        if call.hasDeadline {
            let left = max(call.deadline.nanoseconds - clock.boottime.nanoseconds, 0)
            due = min(due, saturated(now, left))
        }
        if due == .max { timers.remove(call) } else { timers.set(call, due: due) }
    }

    /// When to look whether the attempt has been idle for too long (M1). It rests while the transfer is held.
    private func idleDue(_ call: Call, _ transfer: Transfer) -> Int64 {
        let timeout = call.settings.idleTimeout
        guard timeout != .max else { return .max }
        let due = saturated(transfer.lastActivity, timeout)
        // What the kernel drains is only seen by looking.
        return call.request.hasBody ? min(due, now + max(timeout / 8, 1_000_000)) : due
    }

    /// Nanoseconds of the attempt's resource time (M2); `Int64.max` if it has none.
    private func resourceTimeLeft(_ call: Call) -> Int64 {
        guard call.settings.resourceTimeout != .max else { return .max }
        return call.settings.resourceTimeout - (boottime - call.attemptStartedBoot)
    }

    private func saturated(_ time: Int64, _ nanoseconds: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(nanoseconds)
        return overflow ? .max : sum
    }

    private func finish(_ call: Call, _ wanted: CallMachine.Ending) {
        if let transfer = call.transfer, !transfer.isDetached || call.endWhileAsking != nil {
            noteUnfinished(call, transfer)
        }
        leaveToken(call)
        let ending = closeBodies(call, wanted)
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
        if ending == .response, call.decision?.action == .succeed { budget?.giveBack() }
        tell(.callEnded, call, isDecided ? call.records.last : nil, ending)
        let result = call.makeResult(ending)
        drop(&call.transfer)
        call.cancelSwitch?.remove(call)
        locked {
            call.result = result
            call.isDone = true
            stats.ended += 1
        }
        deliver(call)
        shim_monitor_lock(lock)
        unfinished -= 1
        let waiter = call.waiter
        var closed: [Waiter] = []
        if unfinished == 0 { swap(&closed, &closeWaiters) }
        shim_monitor_unlock(lock)
        waiter?.tell()
        for waiter in closed { waiter.tell() }
    }

    /// The bodies are done with. A sink whose body is whole keeps it; if it cannot, that is how the call ends.
    private func closeBodies(_ call: Call, _ ending: CallMachine.Ending) -> CallMachine.Ending {
        var ending = ending
        if let transfer = call.transfer { detach(transfer) }
        if let sink = call.sink {
            if ending == .response, call.transfer?.place == .sink, !sink.finish() { ending = .local(.sink) }
            sink.close()
        }
        call.request.source?.close()
        return ending
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
        for started in 0..<Self.maximumStartsInOneTurn {
            guard let call = starting.next(settings, now: now) else {
                if let due = starting.nextRelease { timers.set(release, due: due) }
                return
            }
            call.isQueued = false
            if started > 0 { readClock() }
            begin(call)
        }
        hasMoreToDo = true
    }

    private func begin(_ call: Call) {
        switch call.headerLines() {
        case .unchanged: begin(call, nil, withToken: true)
        case .changed(let lines, let withToken): begin(call, lines, withToken: withToken)
        case .outOfMemory:
            giveUpTurn(call)
            perform(call.machine.failed(.outOfMemory), call)
        case .failed:
            giveUpTurn(call)
            perform(call.machine.callbackFailed(), call)
        }
    }

    private func giveUpTurn(_ call: Call) {
        starting.opened(call.target)
        starting.ended(call.target, isCounted: call.isCountedByHost)
        hasMoreToDo = true
    }

    private func begin(_ call: Call, _ lines: UnsafeMutablePointer<curl_slist>?, withToken: Bool) {
        let transfer = Transfer(call: call, lines: lines, withToken: withToken, now: now)
        guard transfer.hasAuthorization else {
            giveUpTurn(call)
            return perform(call.machine.failed(.outOfMemory), call)
        }
        call.transfer = transfer
        if call.reconnects == 0, call.redirectsInAttempt == 0 {
            call.attemptStartedAt = now
            call.attemptStartedBoot = boottime
            locked { stats.attempts += 1 }
        }
        arm(call)
        tell(.attemptBegan, call)
        if transfer.target.hasBody, let source = call.request.source, !source.rewind() {
            return attemptEnded(call, .local(.source), code: 0)
        }
        if let failure = transport?.begin(transfer) { attemptEnded(call, .local(failure), code: 0) }
    }

    func attemptEnded(_ call: Call, _ result: CallMachine.AttemptResult, code: Int32, at time: Int64? = nil) {
        guard let transfer = call.transfer else { return }
        detach(transfer)
        if call.isAskingEarly {
            call.endWhileAsking = (result, code, time ?? now)
            return arm(call)
        }
        transfer.tellLastProgress()
        call.request.source?.rest()
        var result = call.keepHead(transfer) ? result : .local(.outOfMemory)
        if result == .response { result = followed(call, transfer) }
        if result == .response, isExpiry(call, transfer) {
            dropToken(call)
            call.auth?.hasReplayed = true
            let decision = call.retryLoop.countRejection(isReplayable: call.bodyCanBeSentAgain)
            call.decision = decision
            guard decision.isRetry else { return refuseReplay(call, transfer, at: time ?? now) }
            result = .replay
        }
        note(call, transfer, result, code: code, at: time ?? now)
        perform(call.machine.attemptEnded(result), call)
    }

    /// The token has expired, but the request may not be sent again: the caller gets the response (R3, B14).
    private func refuseReplay(_ call: Call, _ transfer: Transfer, at time: Int64) {
        note(call, transfer, .response, code: 0, at: time)
        guard case .decide = call.machine.attemptEnded(.response) else { return }
        decided(call)
    }

    /// What a response is to the call: its answer, or a redirect that is followed. Then the call's target is changed.
    private func followed(_ call: Call, _ transfer: Transfer) -> CallMachine.AttemptResult {
        guard Redirect.isRedirect(transfer.status), call.settings.maxRedirects > 0 else { return .response }
        guard let location = call.received.head.list.firstValue(of: "Location") else { return .response }
        let target: Target
        switch call.target.followed(status: transfer.status, location: location, from: call.request.target) {
        case .to(let followed): target = followed
        case .nowhere: return .response
        case .outOfMemory: return .local(.outOfMemory)
        }
        guard !target.hasBody || call.bodyCanBeSentAgain else { return .response }
        guard call.redirectsInAttempt < call.settings.maxRedirects else { return .local(.tooManyRedirects) }
        call.redirectsInAttempt += 1
        call.redirects.append(
            RedirectRecord(attemptNumber: call.attemptNumber, status: transfer.status, target: target))
        call.target = target
        return .redirect
    }

    /// Writes down how an attempt ended, and makes the outcome that the strategy sees.
    private func note(
        _ call: Call, _ transfer: Transfer, _ result: CallMachine.AttemptResult, code: Int32, at time: Int64
    ) {
        var cause = NetworkExceptionCause.none
        switch result {
        case .redirect: return tell(.redirected, call)
        case .vetoed(isSafe: true) where call.machine.mayReconnect:
            call.reconnects += 1
            locked { stats.reconnects += 1 }
            return tell(.reconnect, call)
        case .vetoed: cause = .receive
        case .exception(let reason): cause = reason
        case .response, .replay, .local: break
        }
        call.forgetResponse()
        if cause != .none { call.exceptions += 1 }
        var record = record(of: call, transfer, at: time)
        if cause == .none {
            record.status = transfer.status
        } else {
            record.cause = cause
            record.exceptionNumber = call.exceptions
        }
        record.curlCode = code
        call.records.append(record)
        if cause != .none, transfer.place == .sink, let sink = call.sink { call.download?.brokeOff(at: sink.length) }
        makeOutcome(call, transfer, cause: cause)
        call.reconnects = 0
        guard result == .replay else { return }
        call.records[call.records.count - 1].decision = call.decision
        tell(.attemptEnded, call, call.records.last)
        call.keepResponse()
    }

    /// The attempt's outcome, for the strategy to see.
    private func makeOutcome(_ call: Call, _ transfer: Transfer, cause: NetworkExceptionCause) {
        call.outcome = cause == .none ? Outcome(status: transfer.status) : Outcome(exception: cause)
        // A response that broke off has headers, too.
        if transfer.isHeadWhole { call.outcome.headers = call.received.head.list }
        call.outcome.requestSent = call.requestSent(transfer)
        call.outcome.isRequestUnsafe = call.request.isUnsafe
        call.outcome.request = UnsafeRawPointer(call.request.description)
        call.outcome.isBodyReplayable = call.bodyCanBeSentAgain
        call.outcome.authAvailable = transfer.usesToken
        if cause != .none, let sink = call.sink { call.outcome.isSinkRestartable = !sink.hasBegun || sink.canRestart }
    }

    /// Writes down an attempt that the end of its call broke off: the server may have seen it (B13).
    private func noteUnfinished(_ call: Call, _ transfer: Transfer) {
        detach(transfer)
        call.records.append(record(of: call, transfer, at: now))
    }

    /// What is known of an attempt, however it ended.
    private func record(of call: Call, _ transfer: Transfer, at time: Int64) -> AttemptRecord {
        AttemptRecord(
            status: 0, cause: .none, decision: nil, startedAt: call.attemptStartedAt - call.startedAt,
            endedAt: time - call.startedAt, reconnects: call.reconnects, curlCode: 0,
            number: call.attemptNumber, exceptionNumber: 0, redirects: call.redirectsInAttempt,
            requestSent: call.requestSent(transfer), resumedFrom: transfer.resumedFrom, report: transfer.report)
    }

    /// The transfer's look-up is over, or it found a connection that there was.
    func opened(_ transfer: Transfer) {
        starting.opened(transfer.target)
    }

    /// Takes the transfer out of the transport.
    private func detach(_ transfer: Transfer) {
        guard !transfer.isDetached else { return }
        transfer.isDetached = true
        transfer.open()
        starting.ended(transfer.target, isCounted: transfer.call.isCountedByHost)
        hasMoreToDo = true
        transport?.end(transfer)
    }

    func drop(_ transfer: inout Transfer?) {
        if let dropped = transfer { detach(dropped) }
        transfer = nil
    }
}
