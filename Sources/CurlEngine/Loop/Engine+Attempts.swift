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
        if call.openAttempt != .begun {
            openAttempt(call, .begun)
            locked { stats.attempts += 1 }
        }
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

    /// From now on the attempt is in the record, however the call ends (B10).
    func openAttempt(_ call: Call, _ state: Call.OpenAttempt) {
        call.openAttempt = state
        call.attemptStartedAt = now
        call.attemptStartedBoot = boottime
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
        let isAgain = call.wasNotSent
        call.wasNotSent = false
        arm(call)
        if !isAgain { tell(.attemptBegan, call) }
        if transfer.target.hasBody, let source = call.request.source, !source.rewind() {
            return attemptEnded(call, .local(.source), code: 0)
        }
        if let failure = transport?.begin(transfer) { attemptEnded(call, .local(failure), code: 0) }
    }

    func attemptEnded(_ call: Call, _ result: CallMachine.AttemptResult, code: Int32, at time: Int64? = nil) {
        guard let transfer = call.transfer else { return }
        detach(transfer)
        if transfer.headDecision.isPending {
            transfer.headDecision = .pending(end: AttemptEnd(result: result, code: code, time: time ?? now))
            return arm(call)
        }
        transfer.tellLastProgress()
        call.request.source?.rest()
        var result = call.keepHead(transfer) ? result : .local(.outOfMemory)
        if case .vetoed(let isSafe) = result {
            result = isSafe && mayReconnect(call) ? .reconnect : .exception(.receive)
            if result == .reconnect {
                call.retryLoop.countReconnect()
                recordReconnect(call, code == Int32(CURLE_SEND_ERROR.rawValue) ? .send : .receive)
            }
        }
        if result == .refused {
            call.wasRefused = true
            recordReconnect(call, .protocol)
        }
        if result == .response {
            switch followed(call, transfer) {
            case .ended(let ended): result = ended
            case .notReplayable:
                transfer.decision = call.retryLoop.countRejection(isReplayable: false)
                return endUnfollowed(call, transfer, at: time ?? now)
            }
        }
        if result == .response, isExpiry(call, transfer) {
            dropToken(call)
            call.auth?.hasReplayed = true
            let decision = call.retryLoop.countRejection(isReplayable: call.bodyCanBeSentAgain)
            transfer.decision = decision
            guard decision.isRetry else { return endUnfollowed(call, transfer, at: time ?? now) }
            result = .replay
        }
        if result == .part, !mayContinue(call, transfer) { result = .exception(.receive) }
        note(call, transfer, result, code: code, at: time ?? now)
        perform(call.machine.attemptEnded(result), call)
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
        call.reconnectsInAttempt += 1
        call.reconnects.append(
            ReconnectRecord(attemptNumber: call.attemptNumber, cause: cause, at: now - call.startedAt))
        locked { stats.reconnects += 1 }
        tell(.reconnect, call)
    }

    /// The response wants the request sent again, at once, but it may not be: the caller gets the response (R3, B14).
    private func endUnfollowed(_ call: Call, _ transfer: Transfer, at time: Int64) {
        note(call, transfer, .response, code: 0, at: time)
        guard case .decide = call.machine.attemptEnded(.response) else { return }
        decided(call, transfer)
    }

    private enum Followed {
        case ended(CallMachine.AttemptResult)
        /// A redirect that wants the body sent again, which cannot be.
        case notReplayable
    }

    /// What a response is to the call: its answer, or a redirect that is followed. Then the call's target is changed.
    private func followed(_ call: Call, _ transfer: Transfer) -> Followed {
        guard Redirect.isRedirect(transfer.status), call.settings.maxRedirects > 0 else { return .ended(.response) }
        guard let location = call.receivedHead.list.firstValue(of: "Location") else { return .ended(.response) }
        let target: Target
        switch call.target.followed(status: transfer.status, location: location, from: call.request.target) {
        case .to(let followed): target = followed
        case .nowhere: return .ended(.response)
        case .outOfMemory: return .ended(.local(.outOfMemory))
        }
        guard !target.hasBody || call.bodyCanBeSentAgain else { return .notReplayable }
        guard call.redirectsInAttempt < call.settings.maxRedirects else { return .ended(.local(.tooManyRedirects)) }
        call.redirectsInAttempt += 1
        call.redirects.append(
            RedirectRecord(attemptNumber: call.attemptNumber, status: transfer.status, target: target))
        call.target = target
        return .ended(.redirect)
    }

    /// Writes down how an attempt ended, and makes the outcome that the strategy sees.
    private func note(
        _ call: Call, _ transfer: Transfer, _ result: CallMachine.AttemptResult, code: Int32, at time: Int64
    ) {
        var cause = NetworkExceptionCause.none
        var isWhole = false
        switch result {
        case .redirect: return tell(.redirected, call)
        case .reconnect, .refused: return
        case .notSent: return call.wasNotSent = true
        case .vetoed: cause = .receive
        case .exception(let reason): cause = reason
        case .response, .replay, .part: isWhole = true
        case .local: break
        }
        call.keepReceived(transfer, isWhole: isWhole)
        call.openAttempt = .none
        if cause != .none {
            call.exceptions += 1
            call.exceptionReason = transfer.exceptionReason
            if transfer.sendings == 0 { doubtful.note(transfer.target.place) }
        }
        var record = record(of: call, at: time)
        if cause == .none {
            record.status = transfer.status
        } else {
            record.cause = cause
            record.exceptionNumber = call.exceptions
        }
        record.curlCode = code
        call.records.append(record)
        if cause != .none || result == .part, transfer.place == .sink, let sink = call.sink {
            call.download?.ended(at: sink.length)
        }
        makeOutcome(call, transfer, headers: transfer.received?.headers ?? .empty, cause: cause)
        call.reconnectsInAttempt = 0
        call.wasRefused = false
        call.redirectsInAttempt = 0
        guard result == .replay || result == .part else { return }
        call.records[call.records.count - 1].decision = transfer.decision
        tell(.attemptEnded, call, call.records.last)
    }

    /// The attempt's outcome, for the strategy to see. A response that broke off has headers, too.
    func makeOutcome(_ call: Call, _ transfer: Transfer, headers: HeaderList, cause: NetworkExceptionCause) {
        var outcome = cause == .none ? Outcome(status: transfer.status) : Outcome(exception: cause)
        outcome.headers = headers
        outcome.url = transfer.target.shownURL
        if let received = transfer.received {
            outcome.body = received.body.baseAddress
            outcome.bodyLength = received.body.count
            outcome.bodyState = received.status == 0 || received.isBodyCutOff ? .partial : .complete
        } else if cause == .none {
            outcome.bodyState = .pending
        }
        outcome.requestSent = call.requestSent
        outcome.isRequestUnsafe = call.request.isUnsafe
        outcome.request = UnsafeRawPointer(call.request.description)
        outcome.isBodyReplayable = call.bodyCanBeSentAgain
        outcome.authAvailable = call.mayRenewToken(of: transfer)
        outcome.isProxyUnauthorized = cause != .none && transfer.report.proxy_status == 407
        if cause != .none, let sink = call.sink { outcome.isSinkRestartable = !sink.hasBegun || sink.canRestart }
        transfer.outcome = outcome
    }

    /// Writes down an attempt that the end of its call broke off: the server may have acted on it (B10).
    func noteUnfinished(_ call: Call) {
        if let transfer = call.transfer { detach(transfer) }
        call.openAttempt = .none
        call.records.append(record(of: call, at: now))
    }

    /// What is known of an attempt, however it ended. Without a transfer, it waited for its turn or its token.
    private func record(of call: Call, at time: Int64) -> AttemptRecord {
        AttemptRecord(
            status: 0, cause: .none, decision: nil, startedAt: call.attemptStartedAt - call.startedAt,
            endedAt: time - call.startedAt, reconnects: call.reconnectsInAttempt, curlCode: 0,
            number: call.attemptNumber, exceptionNumber: 0, redirects: call.redirectsInAttempt,
            requestSent: call.requestSent, resumedFrom: call.transfer?.resumedFrom ?? 0,
            report: call.transfer?.report ?? .none)
    }

    /// The transfer's look-up is over, or it found a connection that there was.
    func opened(_ transfer: Transfer) {
        starting.opened(transfer.target)
    }

    /// Takes the transfer out of the transport.
    func detach(_ transfer: Transfer) {
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
