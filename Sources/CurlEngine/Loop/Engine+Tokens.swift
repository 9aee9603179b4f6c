import CShims
import RetryCore

extension Call {
    /// The transfer was sent with the call's token, and the source can renew it (B8). A fixed token cannot be renewed.
    func mayRenewToken(of transfer: Transfer) -> Bool {
        transfer.plan.usesToken && auth?.source.isRenewable == true
    }
}

/// How a call gets its token, and what happens when the server rejects it.
extension Engine {
    func getToken(_ call: Call) {
        guard let auth = call.auth else { return }
        drop(&call.transfer, of: call)
        // A fixed token that was rejected stays the only one.
        if auth.rejected != nil, !auth.source.isRenewable { return tokenEnded(call, .failure(.notRenewable)) }
        let guest = guest(for: auth.source)
        let waiter = TokenWaiter(
            source: auth.source, cancelSwitch: nil, guest: guest?.guest,
            delivery: .atOnce { [self] result in post(.token(call, result), about: call) })
        let result = auth.source.token(for: waiter)
        if let guest { keep(guest) }
        if let result { return tokenEnded(call, result) }
        auth.waiter = waiter
        emit(.tokenWaitBegan, call)
        arm(call)
    }

    /// The call has its token, or will get none.
    func tokenEnded(_ call: Call, _ result: TokenResult) {
        guard call.machine.awaitsToken, let auth = call.auth else { return }
        if auth.waiter != nil { emit(.tokenWaitEnded, call) }
        auth.waiter = nil
        switch result {
        case .success(let token):
            if let rejected = auth.rejected, rejected.secret.equals(token.secret.bytes) {
                auth.failure = .rejectedAgain
                return run(call.machine.tokenFailed(), call)
            }
            auth.token = token
            run(call.machine.tokenReceived(), call)
        case .failure(let failure):
            auth.failure = failure
            run(call.machine.tokenFailed(), call)
        }
    }

    /// The call is over.
    func leaveToken(_ call: Call) {
        guard let auth = call.auth else { return }
        if let waiter = auth.waiter {
            auth.source.cancel(waiter)
            emit(.tokenWaitEnded, call)
        }
        auth.waiter = nil
        auth.token = nil
        auth.rejected = nil
    }

    /// The token of this attempt was rejected (T8), if it was sent with one.
    func dropToken(_ call: Call) {
        guard call.transfer?.plan.usesToken == true, let auth = call.auth, let token = auth.token else { return }
        auth.rejected = token
        auth.source.invalidate(generation: token.generation)
    }

    /// Whether the response says that the token has expired (R1), to whom it was sent.
    func isExpiry(_ call: Call, _ transfer: Transfer) -> Bool {
        guard call.attempt.exchange.status == 401, call.mayRenewToken(of: transfer), call.auth?.hasReplayed == false,
            !call.attempt.exchange.isBodyCutOff, !settings.replayCodes.isEmpty
        else { return false }
        let body = UnsafeRawBufferPointer(start: transfer.body.data, count: transfer.body.count)
        return TokenRejection.isExpiry(body, codes: settings.replayCodes)
    }
}
