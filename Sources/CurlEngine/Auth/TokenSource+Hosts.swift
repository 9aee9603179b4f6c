import RetryCore

/// Loops without a thread, which do for the source what its threads do otherwise.
extension TokenSource {
    /// The loop that the provider's requests run on.
    var loop: (any ProviderLoop)? { provider.loop }

    /// False if a thread is to make this call of the provider.
    func leaveToHosts(_ call: UInt64) -> Bool {
        monitor.withLock { held in
            guard held.state.isHosted else { return false }
            held.state.hostedCall = call
            var next = held.state.guests
            while let guest = next {
                guest.host.wakeForGuests()
                next = guest.next
            }
            return true
        }
    }

    private func takeHostedCall() -> UInt64? {
        monitor.withLock { held in
            defer { held.state.hostedCall = nil }
            return held.state.hostedCall
        }
    }

    /// What a host does on its loop: calls the provider, and checks the timer. Returns when the next work is due, or
    /// nil.
    func help(_ guest: TokenGuest) -> Int64? {
        if let call = takeHostedCall() { provider.provide(TokenRequest(source: self, call: call, isHosted: true)) }
        update { state, moment in state.machine.timePassed(at: moment) }
        let isBusy = loop?.turnAsGuest() == true
        return monitor.withLock { held in
            if held.state.hostedCall != nil { return 0 }
            guard held.state.machine.isFetching || isBusy else {
                held.state.remove(guest)
                return nil
            }
            return held.state.isHosted ? held.state.machine.nextTimer?.nanoseconds ?? .max : .max
        }
    }

    /// That loop is closed.
    func leave(_ guest: TokenGuest) {
        monitor.withLock { $0.state.remove(guest) }
        finishAlone()
    }

    /// The response to a request in progress may have a new refresh token, even if no waiter is left.
    func finishAlone() {
        if monitor.withLock({ $0.state.isClosed && $0.state.guests == nil }) { loop?.resumeWithThread() }
    }

    /// Somebody waits who drives no loop.
    func resumeWithThreads() {
        let wasHosted = monitor.withLock { held in
            defer { held.state.isHosted = false }
            return held.state.isHosted
        }
        guard wasHosted else { return }
        if let call = takeHostedCall() { callProvider(TokenRequest(source: self, call: call), call) }
        loop?.resumeWithThread()
        update { _, _ in [] }  // Starts the thread that looks at the time.
    }
}

extension TokenSource.State {
    mutating func add(_ guest: TokenGuest) {
        guard !guest.needsHost else { return }
        guest.needsHost = true
        guest.next = guests
        guests = guest
    }

    mutating func remove(_ guest: TokenGuest) {
        guest.needsHost = false
        if guests === guest {
            guests = guest.next
        } else {
            var other = guests
            while let previous = other {
                other = previous.next
                if other === guest { previous.next = guest.next }
            }
        }
        guest.next = nil
    }
}
