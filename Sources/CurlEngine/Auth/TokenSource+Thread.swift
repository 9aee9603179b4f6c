import CShims
import RetryCore

/// The source's thread, which looks at its timer, and calls back.
extension TokenSource {
    /// False if there is no thread to do it.
    func post(_ waiter: TokenWaiter, _ result: TokenResult) -> Bool {
        monitor.withLock { held in
            guard startThread(held) else { return false }
            held.state.outbox.append((waiter, result))
            held.wakeAll()
            return true
        }
    }

    /// False if no thread can be started: then a provider call does not time out.
    func startThread(_ held: borrowing Monitor<State>.Held) -> Bool {
        if held.state.hasThread { return true }
        let context = Unmanaged.passRetained(self)
        held.state.hasThread = shim_thread_start(
            { context in
                guard let context else { return }
                Unmanaged<TokenSource>.fromOpaque(context).takeRetainedValue().runThread()
            }, nil, context.toOpaque())
        if !held.state.hasThread { context.release() }
        return held.state.hasThread
    }

    private func runThread() {
        monitor.withLock { held in
            while true {
                if !held.state.outbox.isEmpty {
                    let batch = held.state.outbox
                    held.state.outbox = []
                    held.unlocked { finish(batch) }
                } else if let due = held.state.machine.nextTimer {
                    if clock.monotonic.nanoseconds < due.nanoseconds {
                        wait(held, until: due)
                    } else {
                        held.unlocked { update { state, moment in state.machine.timePassed(at: moment) } }
                    }
                } else {
                    break
                }
            }
            held.state.hasThread = false
            updateClock(held)
        }
    }

    /// Lets go of the waiters, too: what they keep may call back when it ends.
    private func finish(_ batch: consuming [(TokenWaiter, TokenResult)]) {
        for (waiter, result) in batch { waiter.finish(result) }
    }

    /// Until that time has come, or something happens.
    private func wait(_ held: borrowing Monitor<State>.Held, until due: Instant) {
        switch clock {
        case .system: _ = held.wait(until: due.nanoseconds)
        case .manual(let clock):
            guard let clockUser else { return }
            held.state.alarmDue = due.nanoseconds
            let hasToWait = clock.wait(clockUser, until: due.nanoseconds, clockActivity(held), isEvent: false) {
                [self] in monitor.withLock { $0.wakeAll() }
            }
            if hasToWait {
                _ = held.wait()
                clock.resume(clockUser)
            }
            held.state.alarmDue = .min
        }
    }
}
