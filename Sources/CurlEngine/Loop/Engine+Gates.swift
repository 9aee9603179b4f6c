import RetryCore

/// The origin gate (C3): an answer that says when to come back holds all attempts to its origin, which wait in the
/// StartQueue. All of it runs on the loop.
extension Engine: GateLoop {
    /// An origin whose gate would be one more than this many has none.
    private static let maximumGates = 16_384
    /// A gate that has held no attempt for this time is dropped.
    private static let gateLife: Int64 = 60_000_000_000

    /// The head of a final response has come. False: out of memory.
    func tellGate(of call: Call, _ transfer: Transfer) -> Bool {
        guard let index = starting.hosts.knownIndex(for: transfer.target.parsedURL) else { return true }
        let gate = starting.hosts[index].gate
        let taken = call.takeGatePass()
        let pass = taken.map { $0.gate === gate ? $0.pass : .withoutGate } ?? .withoutGate
        var retryAfter = RetryAfter.absent
        var unitRandom = 0.0
        let status = call.attempt.exchange.status
        if status == 429 || status == 503 {
            guard transfer.keepHead() else { return false }
            unitRandom = gate?.unitRandom ?? HostGate.drawUnit()
            retryAfter = call.strategy.readSharedRetryAfter(
                call.receivedHead.list, clock: clock, unitRandom: unitRandom)
        }
        let answer = OriginGate.Answer(status: status, retryAfter: retryAfter)
        if let gate {
            act(on: gate.value.answered(answer, pass, now: Instant(nanoseconds: now)), gate, call, status)
        } else if let moment = OriginGate.moment(of: answer, now: Instant(nanoseconds: now)) {
            close(index, until: moment, unitRandom, call, status)
        }
        return true
    }

    /// A host that has no gate gets one.
    private func close(_ index: Int, until moment: Int64, _ unitRandom: Double, _ call: Call, _ status: Int32) {
        guard starting.gates < Self.maximumGates else { return }
        let unlimited = Int32(clamping: min(settings.transport.maxTransfers, settings.maxTransfersForOneHost))
        let gate = HostGate(
            self, host: index, OriginGate(closedUntil: moment, unlimited: unlimited), unitRandom: unitRandom, now: now)
        starting.add(gate)
        act(on: .closed(until: moment), gate, call, status)
    }

    private func act(on action: OriginGate.Action, _ gate: HostGate, _ call: Call, _ status: Int32) {
        switch action {
        case .none: return
        case .admit: starting.requeue(gate.host)
        case .closed(let until):
            starting.requeue(gate.host)
            timers.set(gate, due: until)
            let held = starting.hosts[gate.host].queue.countHeld()
            role.withLock { role in
                role.state.stats.gatesClosed += 1
                role.state.stats.held += held
            }
            emit(.gateClosed, call, status, delay: Double(until - now) / 1e9)
        case .extended(let until):
            timers.set(gate, due: until)
        case .opened:
            drop(gate)
            role.withLock { $0.state.stats.gatesOpened += 1 }
            emit(.gateOpened, call, status, delay: 0)
        }
        hasMoreToDo = true
    }

    private func emit(_ kind: EngineEvent.Kind, _ call: Call, _ status: Int32, delay: Double) {
        guard let onEvent = settings.onEvent else { return }
        onEvent(
            EngineEvent(
                kind: kind, call: call, at: now - call.startedAt, attemptNumber: call.attemptNumber, gateStatus: status,
                delay: delay))
        readClock()  // Foreign code may have taken its time.
    }

    func hasWaiting(at gate: HostGate) -> Bool { !starting.hosts[gate.host].queue.isEmpty }

    func fired(_ gate: HostGate) {
        if gate.timeHasCome(now: now) {
            starting.requeue(gate.host)
            hasMoreToDo = true
        } else if gate.value.places > 0, now - gate.limitedAt >= Self.gateLife {
            return drop(gate)
        }
        timers.set(gate, due: saturated(now, Self.gateLife))
    }

    private func drop(_ gate: HostGate) {
        timers.remove(gate)
        starting.remove(gate)
    }
}

/// The gates' part of the queue.
extension StartQueue {
    mutating func add(_ gate: HostGate) {
        hosts[gate.host].gate = gate
        gates += 1
        requeue(gate.host)
    }

    mutating func remove(_ gate: HostGate) {
        hosts[gate.host].gate = nil
        gates -= 1
        requeue(gate.host)
        forgetIfUnused(gate.host)
    }

    /// Whether a call that waits here waits for a gate.
    func isHeld(_ call: Call, now: Int64) -> Bool {
        guard gates > 0, let index = hosts.knownIndex(for: call.target.parsedURL), let gate = hosts[index].gate else {
            return false
        }
        return hosts[index].queue.count > gate.value.places(at: now)
    }
}

extension Call {
    /// The pass of the attempt under way, once.
    func takeGatePass() -> GatePass? {
        defer { gatePass = nil }
        return gatePass
    }

    /// It was redirected, or is sent again, and waits for its turn: the attempt's resource time keeps running (M2).
    var isQueuedWithinAttempt: Bool { isQueued && attempt.hasBegun && attempt.state == .queued }
}

/// Attempts that run out of time while they wait for their turn (M2).
extension Engine {
    func isOutOfTimeInQueue(_ call: Call) -> Bool { call.isQueuedWithinAttempt && resourceTimeLeft(call) <= 0 }

    /// Ends the attempt without sending anything more.
    func timedOutInQueue(_ call: Call) {
        starting.remove(call)
        call.isQueued = false
        let transfer = Transfer(call: call, plan: planOfNothing(call), loop: self, origins: .passUnretained(origins))
        transfer.isDetached = true
        call.transfer = transfer
        _ = call.attempt.startSending(transfer.plan.request, at: now)
        sendingEnded(call, .timedOut(.timeoutResource), code: 0)
    }
}
