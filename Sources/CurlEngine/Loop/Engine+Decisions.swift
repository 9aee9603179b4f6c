import CShims
import RetryCore

/// What is asked of the strategy, and what becomes of its answers. On the loop, but for `decideOnPool`.
extension Engine {
    /// The strategy is asked; on the pool, if foreign code will answer.
    func decide(_ call: Call) {
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

    func decided(_ call: Call) {
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
}
