import RetryCore

/// What the transfers report. All of it runs on the loop, most of it inside libcurl.
extension Engine: TransferLoop {
    /// The call that a transfer is about: it is active as long as it has one that is under way.
    func call(_ carried: CarriedCall) -> Call? {
        guard active.indices.contains(carried.activeIndex) else { return nil }
        let call = active[carried.activeIndex]
        return call === carried ? call : nil
    }

    func opened(_ target: Target) {
        starting.opened(target)
    }

    func connected(_ target: Target) {
        starting.connected(target)
        hasMoreToDo = true
    }

    func headReceived(_ carried: CarriedCall) -> Bool {
        if settings.sharesRetryAfter, let call = call(carried), let transfer = call.transfer {
            guard tellGate(of: call, transfer) else { return false }
        }
        if carried.attempt.exchange.hasEarlyResponse, let call = call(carried) { arm(call) }
        // Nothing more will be sent, so that nothing is waited for.
        if carried.attempt.exchange.status >= 400, carried.attempt.exchange.isPaused, let call = call(carried) {
            resume(call)
        }
        return true
    }

    func askAtHead(_ carried: CarriedCall) -> Bool {
        guard let call = call(carried), let transfer = call.transfer else { return false }
        return askAtHead(call, transfer)
    }
}
