import CShims
import RetryCore

/// Questions to the strategy, and what the engine does with the answers. All of it runs on the loop.
extension Engine {
    /// Asks the strategy about an attempt that has ended; on the pool, if foreign code will answer.
    func decide(_ call: Call) {
        guard let transfer = call.transfer else { return }
        if let answer = transfer.headAnswer, !transfer.outcome.isNetworkException {
            return decided(call, transfer, answer.value)
        }
        guard call.strategy.callsBack else {
            decideAtOnce(call, transfer)
            return decided(call, transfer)
        }
        if !ask(StrategyQuestion(call, transfer)) { run(call.machine.failed(.exhausted), call) }
    }

    /// The same on the loop, and in place: the call acts on the answer directly.
    @_optimize(speed)
    private func decideAtOnce(_ call: Call, _ transfer: Transfer) {
        do throws(StrategyFailure) {
            var decision = try call.retryLoop.next(transfer.outcome, clock: clock)
            if decision.isRetry, budget?.take() == false {
                decision.stop(.retryBudgetSpent, after: transfer.outcome)
            }
            transfer.decision = decision
        } catch {
            transfer.strategyFailure = error
        }
    }

    /// Asks the strategy about a response whose head has come. Runs inside libcurl. False: stop.
    func askAtHead(_ call: Call, _ transfer: Transfer) -> Bool {
        guard transfer.keepHead() else { return transfer.refuse(.outOfMemory) }
        makeOutcome(call, transfer, headers: call.receivedHead.list, cause: .none)
        guard call.strategy.callsBack else {
            let answer = charged(StrategyAnswer(of: call.retryLoop, about: transfer.outcome, clock: clock), transfer)
            transfer.headAnswer = Transfer.HeadAnswer(answer)
            _ = call.attempt.decided(retries: answer.decision?.isRetry != false)
            return answer.decision?.isRetry != false || deliver(call, transfer)
        }
        return ask(StrategyQuestion(call, transfer)) || transfer.refuse(.exhausted)
    }

    /// Asks a custom strategy, on the pool or, without a thread, on the loop. False if no thread can be started.
    private func ask(_ question: StrategyQuestion) -> Bool {
        guard settings.isDriven else {
            return pool.run { [self] in
                // While it waited for a thread, the call may have ended.
                guard role.withLock({ role in !question.call.shared(role) { $0.isDone } }) else { return }
                question.ask()
                post(.decided(question), about: question.call)
            }
        }
        post(.ask(question), about: question.call)
        return true
    }

    /// The answer has arrived. It is about one attempt, and has no effect once the call has continued without it.
    func answered(_ question: StrategyQuestion) {
        let (call, transfer) = (question.call, question.transfer)
        guard call.transfer === transfer, let answer = question.answer.map({ charged($0, transfer) }) else { return }
        guard call.attempt.isWaitingForDecision else { return decided(call, transfer, answer) }
        guard let decision = answer.decision else {
            transfer.strategyFailure = answer.failure
            call.keepReceived(transfer, isWhole: true)
            return run(call.machine.callbackFailed(), call)
        }
        transfer.headAnswer = Transfer.HeadAnswer(answer)
        guard case .go(let destination, let end) = call.attempt.decided(retries: decision.isRetry) else { return }
        if destination == .sink, !deliver(call, transfer) { return sendingEnded(call, .aborted, code: 0) }
        if let end { return sendingEnded(call, end) }
        resumeBody(of: call)
    }

    /// The body of a response goes to the call's sink. False: stop.
    private func deliver(_ call: Call, _ transfer: Transfer) -> Bool {
        guard let sink = call.sink else { return false }
        return transfer.deliver(to: sink)
    }

    /// Charges a retry to the budget. Changes the answer if the budget is empty (C1).
    private func charged(_ answer: StrategyAnswer, _ transfer: Transfer) -> StrategyAnswer {
        guard answer.decision?.isRetry == true, budget?.take() == false else { return answer }
        var answer = answer
        answer.decision?.stop(.retryBudgetSpent, after: transfer.outcome)
        return answer
    }

    private func decided(_ call: Call, _ transfer: Transfer, _ answer: StrategyAnswer) {
        call.retryLoop = answer.loop
        transfer.decision = answer.decision
        transfer.strategyFailure = answer.failure
        decided(call, transfer)
    }

    /// Acts on the decision about an attempt that has ended.
    func decided(_ call: Call, _ transfer: Transfer) {
        guard call.machine.state == .deciding else { return }
        if !call.records.isEmpty { call.records[call.records.count - 1].decision = transfer.decision }
        if transfer.decision?.rejectsToken == true { dropToken(call) }
        emit(.attemptEnded, call, call.records.last)
        run(call.machine.decided(transfer.decision), call)
    }
}
