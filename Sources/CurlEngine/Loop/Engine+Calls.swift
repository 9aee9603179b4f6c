import CShims
import RetryCore

/// What happens to the calls, step by step. All of it runs on the loop.
extension Engine {
    func run(_ action: CallMachine.Action, _ call: Call) {
        switch action {
        case .none: break
        case .getToken: getToken(call)
        case .attempt(let fresh):
            if call.target !== call.request.target { call.target = call.request.target }
            if call.attempt.state == .ended { call.attempt = AttemptMachine(limits: call.settings.limits) }
            enqueue(call, fresh: fresh)
        case .decide: decide(call)
        case .wait(let seconds, let needsToken):
            drop(&call.transfer, of: call)
            if needsToken { getToken(call) }
            guard call.machine.state == .waiting else { return }  // There is no other token.
            emit(.retryScheduled, call, call.records.last)
            timers.set(call, due: Instant(nanoseconds: now).advanced(bySeconds: seconds).nanoseconds)
        case .awaitToken: arm(call)
        case .end(let ending): finish(call, ending)
        }
    }

    func enqueue(_ call: Call, fresh: Bool) {
        drop(&call.transfer, of: call)
        call.isFresh = fresh
        call.isQueued = true
        if call.target.parsedURL.has_tls || settings.transport.proxy != nil { usesTLS = true }
        let mayShare = call.settings.httpVersion.mayMultiplex(hasTLS: call.target.parsedURL.has_tls)
        starting.append(
            call, settings,
            probes: mayShare && origins.protocols.versions(of: call.target.parsedURL, call.settings.httpVersion) == nil
        )
        call.isCountedAsHeld = settings.sharesRetryAfter && starting.isHeld(call, now: now)
        if call.isCountedAsHeld { role.withLock { $0.state.stats.held += 1 } }
        arm(call)
    }

    /// Resumes a body that a callback has paused.
    func resumeBody(of call: Call) {
        guard let transfer = call.transfer, !transfer.isDetached, call.attempt.resumed() else { return }
        transfer.touch()
        arm(call)
        transfer.carrier?.resume()
        hasMoreToDo = true
    }

    /// The record is made only if somebody hears of it.
    @inline(__always)
    func emit(
        _ kind: EngineEvent.Kind, _ call: Call, _ record: @autoclosure () -> AttemptRecord? = nil,
        _ ending: CallMachine.Ending? = nil
    ) {
        if settings.onEvent != nil { report(kind, call, record(), ending) }
    }

    @inline(never)
    private func report(
        _ kind: EngineEvent.Kind, _ call: Call, _ record: AttemptRecord?, _ ending: CallMachine.Ending?
    ) {
        guard let onEvent = settings.onEvent else { return }
        let isRunning = kind == .attemptBegan || kind == .reconnect || kind == .redirected
        onEvent(
            EngineEvent(
                kind: kind, call: call, at: now - call.startedAt,
                attemptNumber: call.attemptNumber - (isRunning ? 0 : 1), record: record, ending: ending))
    }

    public func timerFired(_ call: Call, now: Int64) {
        if call.hasDeadline, clock.boottime.nanoseconds >= call.deadline.nanoseconds {
            return run(call.machine.deadlinePassed(), call)
        }
        switch call.machine.state {
        case .waiting:
            // With a rejected token, there is no next attempt before there is another token (B8).
            if call.records.last?.decision?.action != .refreshTokenAndRetry {
                call.attempt = AttemptMachine(limits: call.settings.limits)
                call.attempt.open(at: self.now, boottime: boottime)
            }
            run(call.machine.waitOver(), call)
        case .attempting:
            guard let transfer = call.transfer, !transfer.isDetached else {
                return isOutOfTimeInQueue(call) ? timedOutInQueue(call) : arm(call)
            }
            if call.request.hasBody { transfer.lookAtKernel() }
            let timeout = call.nextTimeout
            guard timeout.left <= 0 else {
                if call.attempt.mayHaveEnded { transfer.carrier?.resume() }
                return arm(call)
            }
            sendingEnded(call, .timedOut(timeout.cause), code: 0)
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
            if !call.attempt.isHeld { due = min(due, idleDue(call)) }
            if transfer.isConnecting {
                due = min(due, saturated(call.attempt.exchange.startedAt, call.settings.connectTimeout))
            }
        } else if call.isQueuedWithinAttempt {
            due = saturated(now, resourceTimeLeft(call))
        }
        if call.hasDeadline {
            let left = max(call.deadline.nanoseconds - clock.boottime.nanoseconds, 0)
            due = min(due, saturated(now, left))
        }
        if due == .max { timers.remove(call) } else { timers.set(call, due: due) }
    }

    /// When to look whether the attempt has been idle for too long (M1). It rests while the transfer is held.
    private func idleDue(_ call: Call) -> Int64 {
        let timeout = call.settings.idleTimeout
        let due = timeout == .max ? .max : saturated(call.attempt.exchange.lastActivity, timeout)
        if call.attempt.mayHaveEnded, virtualTime == nil { return min(due, now + Self.timeBetweenLooks) }
        guard due < .max else { return .max }
        // What the kernel drains is only seen by looking.
        return call.request.hasBody ? min(due, now + max(timeout / 8, 1_000_000)) : due
    }

    /// Nanoseconds of the attempt's resource time (M2); `Int64.max` if it has none.
    func resourceTimeLeft(_ call: Call) -> Int64 {
        guard call.settings.resourceTimeout != .max else { return .max }
        return call.settings.resourceTimeout - (boottime - call.attempt.startedBoot)
    }

    private func finish(_ call: Call, _ wanted: CallMachine.Ending) {
        if !call.attempt.hasBegun, call.isQueued, starting.isHeld(call, now: now) { call.attempt.end() }  // C3
        if call.attempt.isOpen { recordUnfinished(call) }
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
        call.activeIndex = -1
        // The decision about the last attempt is not the reason why a call was canceled, or ran out of time.
        let isDecided = ending != .cancelled && ending != .deadline
        if ending == .response, call.transfer?.decision?.action == .succeed { budget?.giveBack() }
        emit(.callEnded, call, isDecided ? call.records.last : nil, ending)
        let result = call.makeResult(ending, proxies)
        drop(&call.transfer, of: call)
        call.cancelSwitch?.remove(call)
        let waiter = role.withLock { role in
            role.state.isPolling = false
            call.shared(role) { $0.end(result) }
            role.state.stats.ended += 1
            switch call.delivery {
            case .none: break
            case .queue(let queue):
                if !queue.put(call), call.isUnowned { settings.dropHandle?(call.handle) }
            case .callback(let body): role.unlocked { body(call) }
            }
            call.lentHandle = nil
            role.state.unfinished -= 1
            call.owner?.shared(role) { $0.end() }
            if settings.isDriven { role.wakeAll() }
            return call.shared(role) { $0.waiterToSignal }
        }
        waiter?.signal()
    }

    /// The bodies are done with. A sink whose body is whole keeps it, and one that has a part of an earlier response keeps
    /// nothing; if it cannot, that is how the call ends.
    private func closeBodies(_ call: Call, _ ending: CallMachine.Ending) -> CallMachine.Ending {
        var ending = ending
        if let transfer = call.transfer, !transfer.isDetached { detach(transfer, of: call) }
        if let sink = call.sink {
            if ending == .response, !(call.isBodyInSink ? sink.finish() : sink.discard()) {
                ending = .local(.sink)
            }
            sink.close()
        }
        call.request.source?.close()
        return ending
    }
}
