import CShims
import RetryCore

/// How an attempt begins and ends, and what is written down of it. All of it runs on the loop.
extension Engine {
    /// Begins attempts whose turn it is; not for so long that the timers of others would be late.
    func startWaiting(_ transport: any Transport) {
        let limit = saturated(now, mayStart.time)
        for _ in 0..<mayStart.count where now < limit {
            guard let call = starting.next(settings, now: now) else {
                if let due = starting.nextRelease { timers.set(release, due: due) }
                return
            }
            call.isQueued = false
            readClock()
            begin(call)
            // The sooner it is under way the better; but it may as well be others' turn, and theirs may be long.
            guard !isTurnLong else { continue }
            transport.runDue()
            if let transfer = call.transfer, transfer.sendings > 0 { transfer.wasSent() }
        }
        if !starting.isEmpty { hasMoreToDo = true }
    }

    private func begin(_ call: Call) {
        if call.attempt.begin(at: now, boottime: boottime) {
            countAttempt(isRetry: !call.records.isEmpty)
        }
        do throws(PlanFailure) {
            startSending(call, try plan(call))
        } catch {
            giveUpTurn(call)
            switch error {
            case .outOfMemory: run(call.machine.failed(.outOfMemory), call)
            case .hook: run(call.machine.callbackFailed(), call)
            }
        }
    }

    private func giveUpTurn(_ call: Call) {
        starting.opened(call.target)
        starting.ended(call.target, isCounted: call.isCountedByHost, pass: call.takeGatePass())
        hasMoreToDo = true
    }

    private func startSending(_ call: Call, _ plan: consuming AttemptPlan) {
        let isNew = call.attempt.startSending(plan.request, at: now)
        let transfer = Transfer(call: call, plan: plan, loop: self, origins: .passUnretained(origins))
        call.transfer = transfer
        arm(call)
        if isNew { emit(.attemptBegan, call) }
        if transfer.target.hasBody, let source = call.request.source, !source.rewind() {
            return sendingEnded(call, .local(.source), code: 0)
        }
        if let failure = transport?.begin(transfer) {
            sendingEnded(call, .local(failure), code: 0)
        }
    }

    // MARK: - How a sending ends

    func sendingEnded(_ call: Call, _ end: TransportEnd, code: Int32) {
        sendingEnded(call, AttemptEnd(end, code: code, at: now))
    }

    func sendingEnded(_ call: Call, _ end: AttemptEnd) {
        guard let transfer = call.transfer else { return }
        detach(transfer, of: call)
        let action = call.attempt.transportEnded(end, transfer.context)
        guard action != .none else { return arm(call) }
        transfer.reportLastProgress()
        call.request.source?.rest()
        guard transfer.keepHead() else { return attemptEnded(call, transfer, .local(.outOfMemory), end) }
        run(action, call, transfer, end)
    }

    private func run(
        _ action: AttemptMachine.EndAction, _ call: Call, _ transfer: Transfer, _ end: AttemptEnd
    ) {
        switch action {
        case .none: break
        case .sendAgain(let why):
            switch why {
            case .notSent: break
            case .refused: recordReconnect(call, .protocol)
            case .reconnect: call.retryLoop.countReconnect()
            }
            sendAgain(call, fresh: true)
        case .askToReconnect(let cause):
            let next = call.attempt.reconnectAllowed(mayReconnect(call))
            if next == .sendAgain(.reconnect) { recordReconnect(call, cause) }
            run(next, call, transfer, end)
        case .response: responded(call, transfer, end)
        case .end(let result): attemptEnded(call, transfer, result, end)
        }
    }

    private func sendAgain(_ call: Call, fresh: Bool) {
        call.attempt.queueAgain()
        enqueue(call, fresh: fresh)
    }

    /// A whole response is the call's answer, or a redirect that is followed, or says that the access token has expired.
    private func responded(_ call: Call, _ transfer: Transfer, _ end: AttemptEnd) {
        switch followed(call) {
        case .redirected:
            emit(.redirected, call)
            return sendAgain(call, fresh: false)
        case .notReplayable:
            transfer.decision = call.retryLoop.countRejection(isReplayable: false)
            return endUnfollowed(call, transfer, end)
        case .failed(let failure): return attemptEnded(call, transfer, .local(failure), end)
        case .nowhere: break
        }
        guard isExpiry(call, transfer) else { return attemptEnded(call, transfer, .response, end) }
        dropToken(call)
        call.auth?.hasReplayed = true
        let decision = call.retryLoop.countRejection(isReplayable: call.bodyCanBeSentAgain)
        transfer.decision = decision
        guard decision.isRetry else { return endUnfollowed(call, transfer, end) }
        attemptEnded(call, transfer, .replay, end)
    }

    private func attemptEnded(
        _ call: Call, _ transfer: Transfer, _ result: CallMachine.AttemptResult, _ end: AttemptEnd
    ) {
        var result = result
        if result == .part, !mayContinue(call, transfer) { result = .exception(.receive) }
        recordAttempt(call, transfer, result, end)
        run(call.machine.attemptEnded(result), call)
    }

    /// Whether the rest of a download whose server sends it in parts may be asked for (W7). False: the body broke off.
    private func mayContinue(_ call: Call, _ transfer: Transfer) -> Bool {
        var loop = call.retryLoop
        guard let decision = loop.countPart(), budget?.take() != false else { return false }
        call.retryLoop = loop
        transfer.decision = decision
        return true
    }

    /// Whether the request is sent again at once, on a new connection (B13). That is charged to the budget (C1).
    private func mayReconnect(_ call: Call) -> Bool {
        call.settings.mayReconnect && call.retryLoop.mayReconnect && budget?.take() != false
    }

    private func recordReconnect(_ call: Call, _ cause: NetworkExceptionCause) {
        call.reconnects.append(
            ReconnectRecord(attemptNumber: call.attemptNumber, cause: cause, at: now - call.startedAt))
        role.withLock { $0.state.stats.reconnects += 1 }
        emit(.reconnect, call)
    }

    /// The response wants the request sent again, at once, but it may not be: the caller gets the response (R3, B14).
    private func endUnfollowed(_ call: Call, _ transfer: Transfer, _ end: AttemptEnd) {
        recordAttempt(call, transfer, .response, end)
        guard case .decide = call.machine.attemptEnded(.response) else { return }
        decided(call, transfer)
    }

    /// Writes down how an attempt ended, and makes the outcome that the strategy sees.
    @_optimize(speed)
    private func recordAttempt(
        _ call: Call, _ transfer: Transfer, _ result: CallMachine.AttemptResult, _ end: AttemptEnd
    ) {
        var cause = NetworkExceptionCause.none
        var isWhole = false
        switch result {
        case .exception(let reason): cause = reason
        case .response, .replay, .part: isWhole = true
        case .local: break
        }
        call.keepReceived(transfer, isWhole: isWhole)
        call.attempt.end()
        if cause != .none {
            call.exceptions += 1
            call.exceptionReason = FailureReason(
                of: cause, end.end, transfer.report, isFramed: !call.attempt.exchange.framing.isMalformed)
            if transfer.sendings == 0 { origins.doubtful.record(transfer.target.parsedURL) }
        }
        var record = record(of: call, at: end.time)
        if cause == .none {
            record.status = call.attempt.exchange.status
        } else {
            record.cause = cause
            record.exceptionNumber = call.exceptions
        }
        record.curlCode = end.code
        call.records.append(record)
        if cause != .none || result == .part, call.isBodyInSink, let sink = call.sink {
            call.download?.ended(at: sink.length)
        }
        makeOutcome(call, transfer, headers: transfer.received?.headers ?? .empty, cause: cause)
        guard result == .replay || result == .part else { return }
        call.records[call.records.count - 1].decision = transfer.decision
        emit(.attemptEnded, call, call.records.last)
    }

    /// The attempt's outcome, for the strategy to see. A response that broke off has headers, too.
    @_optimize(speed)
    func makeOutcome(_ call: Call, _ transfer: Transfer, headers: HeaderList, cause: NetworkExceptionCause) {
        var outcome = cause == .none ? Outcome(status: call.attempt.exchange.status) : Outcome(exception: cause)
        outcome.headers = headers
        outcome.url = transfer.target.shownURL
        if let received = transfer.received {
            outcome.body = received.body.baseAddress
            outcome.bodyLength = received.body.count
            outcome.bodyState = received.status == 0 || received.isBodyCutOff ? .partial : .complete
        } else if cause == .none {
            outcome.bodyState = .pending
        }
        outcome.requestSent = call.attempt.requestSent
        outcome.isRequestUnsafe = call.request.isUnsafe
        outcome.request = UnsafeRawPointer(call.request.description)
        outcome.isBodyReplayable = call.bodyCanBeSentAgain
        outcome.authAvailable = call.mayRenewToken(of: transfer)
        outcome.isProxyUnauthorized = cause != .none && transfer.report.proxy_status == 407
        if cause != .none, let sink = call.sink { outcome.isSinkRestartable = !sink.hasBegun || sink.canRestart }
        transfer.outcome = outcome
    }

    /// Writes down an attempt that the end of its call broke off: the server may have acted on it (B10).
    func recordUnfinished(_ call: Call) {
        if let transfer = call.transfer { detach(transfer, of: call) }
        call.records.append(record(of: call, at: now))
        call.attempt.end()
    }

    /// What is known of an attempt, however it ended. Without a transfer, it waited for its turn or its token.
    @_optimize(speed)
    private func record(of call: Call, at time: Int64) -> AttemptRecord {
        AttemptRecord(
            status: 0, cause: .none, decision: nil, startedAt: call.attempt.startedAt - call.startedAt,
            endedAt: time - call.startedAt, reconnects: call.attempt.reconnects, curlCode: 0,
            number: call.attemptNumber, exceptionNumber: 0, redirects: call.attempt.redirects,
            requestSent: call.attempt.requestSent, resumedFrom: call.transfer?.resumedFrom ?? 0,
            report: call.transfer?.report ?? .none)
    }

    /// Takes the transfer out of the transport.
    func detach(_ transfer: Transfer, of call: Call) {
        guard !transfer.isDetached else { return }
        transfer.isDetached = true
        transfer.open()
        starting.ended(transfer.target, isCounted: call.isCountedByHost, pass: call.takeGatePass())
        hasMoreToDo = true
        transfer.carrier?.end()
    }

    func drop(_ transfer: inout Transfer?, of call: Call) {
        if let dropped = transfer { detach(dropped, of: call) }
        transfer = nil
    }
}
