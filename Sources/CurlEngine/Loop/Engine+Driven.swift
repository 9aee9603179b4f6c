import CShims
import RetryCore

/// The engine of a driven client. It has no thread: the program drives it, in `perform` and in the functions that wait, as
/// other engines too, and in `drive`. While no thread drives it, it is parked: its descriptor becomes readable when there
/// is work to do.
extension Engine {
    /// A descriptor that is readable while `drive` has something to do. -1: the engine has a thread, or is closed.
    public var descriptor: Int32 { settings.isDriven ? watched() : -1 }

    public func watched() -> Int32 {
        role.withLock { role in
            guard let transport = role.state.transport else { return -1 }
            if !role.state.isWatched { transport.wake() }  // The descriptor does not show yet whether there is work.
            role.state.isWatched = true
            return transport.descriptor
        }
    }

    /// Waits until that time for something to do, and does it; only one thread at a time. False if the engine is closed.
    public func drive(until limit: Int64) -> Bool {
        role.withLock { role in
            while role.state.hasDriver {
                guard role.wait(until: limit) else { return true }
            }
            guard !role.state.isClosing || role.state.unfinished > 0 else { return false }
            drive(role, until: limit, .turn)
            return true
        }
    }

    /// The calls of a client that is closed end here, unless somebody drives. Who does that comes here, too.
    func endCallsIfDriven(_ role: borrowing LoopRole.Held) {
        guard role.state.endsCalls, settings.isDriven, !role.state.hasDriver else { return }
        role.state.endsCalls = false
        drive(role, until: 0, .turn)
    }

    /// The driver leaves. It does the work that is due now, since the next driver may not come for a long time.
    func park() {
        guard let transport else { return }
        let isIdle = role.withLock { role in
            guard role.state.unfinished == 0, role.state.commands.isEmpty, guests == nil else {
                takeCommands(role)
                return false
            }
            role.state.isPolling = role.state.isWatched
            return true
        }
        let rests = isIdle || prepare(transport) && !hasMoreToDo
        let isSeen = role.withLock { role in
            if !role.state.isWatched { role.state.isPolling = false }
            return role.state.isWatched
        }
        guard isSeen else { return }
        if rests { transport.setAlarm(nanoseconds: isIdle ? .max : timeToWait(until: .max)) } else { transport.wake() }
    }
}

extension Engine: TokenHost {
    /// This engine's timers can do for the source what its thread does.
    public func canHost(_ source: TokenSource) -> Bool {
        !settings.isDriven || !source.isRenewable || source.clock.manual === virtualTime?.clock
    }

    func wakeForGuests() {
        role.withLock { role in
            guard !role.state.isClosing || role.state.unfinished > 0 else { return }
            role.state.commands.append(.helpGuests)
            wakeDriver(role)
        }
    }

    /// The source as a guest of this loop, if it needs one.
    func guest(for source: TokenSource) -> HostedSource? {
        guard settings.isDriven else { return nil }
        var guest = guests
        while let known = guest {
            if known.source === source { return known }
            guest = known.next
        }
        return HostedSource(source, host: self)
    }

    /// The source has been asked for a token.
    func keep(_ guest: HostedSource) {
        guard guest.guest.needsHost, !guest.isKept else { return }
        guest.isKept = true
        guest.next = guests
        guests = guest
        if let loop = guest.source.loop { guest.descriptor = loop.watched() }
        if guest.descriptor >= 0 { transport?.watch(guest: guest.descriptor, true) }
        hasMoreToDo = true
    }

    func helpGuests(_ transport: any Transport) {
        var due = Int64.max
        var guest = guests
        guests = nil
        while let helped = guest {
            guest = helped.next
            helped.next = nil
            if let next = helped.source.help(helped.guest) {
                due = min(due, next)
                helped.next = guests
                guests = helped
            } else {
                helped.isKept = false
                if helped.descriptor >= 0 { transport.watch(guest: helped.descriptor, false) }
            }
        }
        if due <= now { hasMoreToDo = true }
        if due == .max { timers.remove(guestTimer) } else { timers.set(guestTimer, due: due) }
    }

    /// The engine is closed: what its guests have not done waits for the next one that needs a token.
    func forgetGuests() {
        while let guest = guests {
            guests = guest.next
            guest.source.leave(guest.guest)
        }
        timers.remove(guestTimer)
    }

}

extension Engine: ProviderLoop {
    public func turnAsGuest() -> Bool {
        role.withLock { role in
            if role.state.unfinished > 0, !role.state.hasDriver, !role.state.hasThread {
                drive(role, until: 0, .turn)
            }
            return role.state.unfinished > 0
        }
    }

    public func resumeWithThread() {
        role.withLock { role in
            if role.state.unfinished > 0, startThread(role) { role.wakeAll() }
        }
    }
}
