import CShims
import RetryCore

/// The engine of a client: one loop, which drives libcurl and all timers.
///
/// The loop is a role, not a thread. Its holder runs `turn()`: a thread that blocks for a call, if the role is free,
/// otherwise the engine's own thread. All state belongs to the holder, except what is marked as guarded.
public final class Engine {
    /// The number of attempts that begin in a turn, if there is no work for others, or if that work is slow.
    private static let startsWhenIdle = 4
    private static let startsWhenSlow = 64
    /// No more of them begin after that time, or after that which the others took.
    private static let longestStart: Int64 = 1_000_000

    /// Guards what stands below it; never held around a callback.
    let lock: OpaquePointer
    var commands: [Command] = []
    private var commandsInHand: [Command] = []
    var hasDriver = false
    /// The engine's own thread has been started, and waits for the role, or holds it.
    var hasThread = false
    var ownThreadDrives = false
    /// The own thread leaves the role free until then, and looks again.
    var isThreadSleeping = false
    var gracePeriodEnd: Int64 = 0
    /// Threads that block anyway, and want the role from the own thread: one at most.
    var waitingDrivers = 0
    var isClosing = false
    var unfinished = 0
    var closeWaiters: [Waiter] = []
    /// A program polls the descriptor, or the loop that this one is a guest of.
    var isWatched = false
    /// A client has been closed whose calls have not ended, and no thread will come to end them.
    var endsCalls = false
    /// Clients that share this engine, and are not closed.
    var owners = 0
    var stats = Stats()

    let time: LoopClock
    /// Counted on the loop, and read by any thread.
    private var attempts: Int64 = 0
    private var retries: Int64 = 0
    let proxies: ProxyNames
    public let settings: EngineSettings
    /// Nil while it is being made, and once the engine is closed. Who takes it away holds the role and the lock.
    var transport: (any Transport)?
    /// The driver waits, or has waited, and has to be woken to look at the commands. Guarded by the lock. Between its wait
    /// and the next lock it may be woken for nothing.
    var isPolling = false
    /// A wait was woken, and the driver has not looked yet whether that was what it waits for.
    var isWakePending = false
    /// Something happened in this turn that somebody waits for, or that gives others their turn: no time to sleep.
    var hasMoreToDo = false
    /// Some request has gone, or goes, to an https URL.
    var usesTLS = false
    var timers = TimerQueue()
    let origins = KnownOrigins()
    let budget: SharedRetryBudget?
    var active: [Call] = []
    var starting = StartQueue()
    /// How many attempts may begin in this turn, and within what time.
    private(set) var mayStart = (count: Engine.startsWhenIdle, time: Engine.longestStart)
    /// What happened in the turn before took its time.
    var isTurnLong: Bool { mayStart.time > Self.longestStart }
    /// Wakes the loop when attempts need not wait any longer for another one's connection.
    let release = TimerEntry()
    let pool: WorkerPool
    /// Token sources that get a token on this loop, since it is driven by the program.
    var guests: HostedSource?
    /// When one of them has something to do.
    let guestTimer = TimerEntry()

    public struct Stats {
        public var calls: Int64 = 0
        public var ended: Int64 = 0
        public var attempts: Int64 = 0
        public var retries: Int64 = 0
        public var reconnects: Int64 = 0
        /// Times that a gate closed, and that one opened (C3).
        public var gatesClosed: Int64 = 0
        public var gatesOpened: Int64 = 0
        /// Attempts that waited for a gate.
        public var held: Int64 = 0
    }

    enum Command {
        case start(Call)
        case cancel(Call)
        case decided(StrategyQuestion)
        case resume(Call)
        case token(Call, TokenResult)
        /// Nil: of all clients.
        case cancelAll(CallOwner?)
        /// Ask the strategy here, for there is no thread for it.
        case ask(StrategyQuestion)
        /// A guest has something to do.
        case helpGuests
    }

    public typealias SetupFailure = TransportSetupFailure

    /// Takes the settings over, also if it fails.
    public static func make(settings: EngineSettings, clock: TokenClock) throws(SetupFailure) -> Engine {
        let engine = try make(settings, clock.loopClock)
        let transport = CurlTransport(settings: settings.transport, time: engine.time, origins: engine.origins)
        try transport.setUp()
        engine.transport = transport
        return engine
    }

    /// With another transport than libcurl; for tests.
    static func make(
        settings: EngineSettings, clock: TokenClock, transport: any Transport
    ) throws(SetupFailure) -> Engine {
        let engine = try make(settings, clock.loopClock)
        engine.transport = transport
        return engine
    }

    /// The same with a clock that the transport moves: the engine takes it for the system's clock.
    static func make(
        settings: EngineSettings, clock: any Clock, transport: any Transport
    ) throws(SetupFailure) -> Engine {
        let engine = try make(settings, LoopClock(movedByTransport: clock))
        engine.transport = transport
        return engine
    }

    private static func make(_ settings: EngineSettings, _ time: LoopClock) throws(SetupFailure) -> Engine {
        guard let pool = WorkerPool.make(), let lock = shim_monitor_new(0) else {
            settings.free()
            throw .outOfMemory
        }
        return Engine(settings, time, lock, pool)
    }

    private init(_ settings: EngineSettings, _ time: LoopClock, _ lock: OpaquePointer, _ pool: WorkerPool) {
        self.lock = lock
        self.pool = pool
        self.settings = settings
        self.time = time
        proxies = ProxyNames(given: settings.transport.proxy)
        budget = settings.budget
    }

    deinit {
        transport = nil
        shim_monitor_free(lock)
        settings.free()
    }

    public enum HandleFailure: Error {
        case closed
        case outOfMemory
    }

    /// A form for this engine's transport to send.
    public func makeForm() throws(HandleFailure) -> MultipartSource {
        guard let transport = locked({ transport }) else { throw .closed }
        guard let form = transport.makeForm() else { throw .outOfMemory }
        return form
    }

    // MARK: - From any thread

    public enum Start {
        case begun
        /// The engine takes no calls any more.
        case closed
        /// No thread can be started to run it.
        case exhausted
    }

    /// Begins a call, whose end comes as its delivery says. `isHosted`: another loop drives this one meanwhile.
    public func submit(_ call: Call, isHosted: Bool = false) -> Start {
        begin(call, needsThread: !isHosted)
    }

    /// Starts a call, and waits for its end; drives the loop meanwhile, if no other thread does.
    public func perform(_ call: Call) -> Start {
        let start = begin(call, needsThread: false)
        if start == .begun { _ = wait(for: call, until: .max, mayTakeRole: false) }
        return start
    }

    /// Begins a call, and waits for its end until that time, of CLOCK_MONOTONIC. No thread is needed before that.
    public func submit(_ call: Call, waitingUntil limit: Int64) -> Start {
        let start = begin(call, needsThread: false)
        if start == .begun { _ = wait(for: call, until: limit) }
        return start
    }

    /// Waits for the end of a call that was submitted. False if that time, of CLOCK_MONOTONIC, came first, or `wake()`.
    public func wait(for call: Call, until limit: Int64) -> Bool {
        wait(for: call, until: limit, mayTakeRole: true)
    }

    /// Ends the wait for a call that is running, or else the next one.
    public func wake(_ call: Call) {
        shim_monitor_lock(lock)
        call.isWoken = true
        isWakePending = true
        // The next wait needs a waiter that was not signaled.
        let waiter = call.waiter
        call.waiter = nil
        wakeDriver()
        if settings.isDriven { shim_monitor_wake_all(lock) }
        shim_monitor_unlock(lock)
        waiter?.signal()
    }

    public func cancel(_ call: Call) {
        let isBegun = locked {
            if !call.isBegun { call.isCancelledBeforeStart = true }
            return call.isBegun
        }
        if isBegun { post(.cancel(call), about: call) }
    }

    /// Resumes a body that a callback has paused.
    public func resume(_ call: Call) {
        let isNew = locked {
            guard call.isBegun, !call.isResumePosted else { return false }
            call.isResumePosted = true
            return true
        }
        if isNew { post(.resume(call), about: call) }
    }

    /// Ends all calls, and lets the threads go. What is still to be done is done by them.
    public func close() {
        shim_monitor_lock(lock)
        isClosing = true
        commands.append(.cancelAll(nil))
        if unfinished > 0 {
            startThread()
            endsCalls = true
        }
        wakeDriver()
        if !hasDriver { dropTransportIfClosed() }
        endCallsIfDriven()
        leaveClockIfIdle()
        shim_monitor_wake_all(lock)
        shim_monitor_unlock(lock)
        pool.close()
    }

    /// After `close()`: waits until all calls have ended, and no thread is inside libcurl for this engine (W8). False if that
    /// time, of CLOCK_MONOTONIC, came first.
    public func waitUntilClosed(until limit: Int64) -> Bool {
        if shim_exit_has_begun() { return waitAtExit(until: limit, .allEnds) }
        let waiter = Waiter.make()
        shim_monitor_lock(lock)
        let isClosed: Bool
        if let waiter {
            isClosed = isClosedForGood
            if !isClosed { closeWaiters.append(waiter) }
        } else {
            isClosed = look(until: limit, .closed)
        }
        shim_monitor_unlock(lock)
        return isClosed || waiter?.wait(until: limit) == true
    }

    /// The program has abandoned this call: cancels it, and keeps it out of its queue.
    public func abandon(_ call: Call) {
        if case .queue(let queue) = call.delivery { queue.abandon(call) }
        let (unread, isDone) = locked {
            defer { call.result = nil }
            return (call.result, call.isDone)
        }
        _ = unread  // Goes without the lock.
        if !isDone { cancel(call) }
    }

    public var currentStats: Stats {
        var stats = locked { self.stats }
        stats.attempts = shim_counted(&attempts)
        stats.retries = shim_counted(&retries)
        return stats
    }

    /// The call's result, if the call has ended. Only the first caller gets it.
    public func takeResult(of call: Call) -> CallResult? {
        locked {
            defer { call.result = nil }
            return call.result
        }
    }

    func locked<Result>(_ body: () -> Result) -> Result {
        shim_monitor_lock(lock)
        defer { shim_monitor_unlock(lock) }
        return body()
    }

    private func begin(_ call: Call, needsThread: Bool) -> Start {
        // Before it begins: a switch that was triggered already lets nothing be sent.
        if call.cancelSwitch?.add(call) == false { cancel(call) }
        // Somebody may come to wait for the call, and drive the loop meanwhile.
        var mayBeWaitedFor = true
        switch call.delivery {
        case .none: break
        case .queue(let queue): mayBeWaitedFor = queue.expect(self)
        case .callback: mayBeWaitedFor = false
        }
        let start = enqueue(call, needsThread: needsThread, mayBeWaitedFor: mayBeWaitedFor)
        guard case .queue(let queue) = call.delivery else {
            if start != .begun { call.cancelSwitch?.remove(call) }
            return start
        }
        if start != .begun {
            call.cancelSwitch?.remove(call)
            queue.expectNoMore()
        } else if settings.isDriven {
            queue.wakeTakers()
        }
        return start
    }

    private func enqueue(_ call: Call, needsThread: Bool, mayBeWaitedFor: Bool) -> Start {
        shim_monitor_lock(lock)
        defer { shim_monitor_unlock(lock) }
        guard !isClosing, !shim_exit_has_begun() else { return .closed }
        guard !needsThread || settings.isDriven || startThread() else { return .exhausted }
        guard call.owner?.begin() != false else { return .closed }
        call.isBegun = true
        unfinished += 1
        stats.calls += 1
        commands.append(.start(call))
        if needsThread || hasThread, !hasDriver {
            if !mayBeWaitedFor { gracePeriodEnd = 0 }  // No other thread will take the role.
            if !mayBeWaitedFor || !isThreadSleeping { shim_monitor_wake_all(lock) }
        }
        wakeDriver()
        return .begun
    }

    /// Drops a command about a call that has ended: it may be that no thread runs the loop again.
    func post(_ command: Command, about call: Call) {
        shim_monitor_lock(lock)
        if !call.isDone {
            commands.append(command)
            wakeDriver()
        }
        shim_monitor_unlock(lock)
    }

    /// With the lock held: the thread that polls will look at the commands.
    func wakeDriver() {
        virtualTime?.workArrived()
        guard isPolling else { return }
        isPolling = false
        transport?.wake()
    }

    // MARK: - One turn of the loop

    /// Waits for something to happen, but not beyond `limit`, and lets it happen.
    func turn(until limit: Int64) {
        guard let transport, prepare(transport) else { return }
        readClock()
        let happened = transport.wait(nanoseconds: hasMoreToDo ? 0 : timeToWait(until: limit))
        waited(happened)
        takeEnded(transport)
        readClock()
        mayStart = startsNext(after: happened)
    }

    /// Does what needs no wait. False if there is more of it.
    func prepare(_ transport: any Transport) -> Bool {
        virtualTime?.resume()
        readClock()
        noticeSleep()
        hasMoreToDo = false
        runCommands()
        runTimers(transport)
        if guests != nil { helpGuests(transport) }
        startWaiting(transport)
        transport.runDue()
        takeEnded(transport)
        return mayWait()
    }

    /// While others have something to be done, fewer begin than end: where a server is faster than this loop, more of them at
    /// once would bring nothing, and each would cost more. But where turns are long, as with slow callbacks, there are few.
    private func startsNext(after happened: Int) -> (count: Int, time: Int64) {
        let took = now - time.waitEndedAt
        if took > Self.longestStart, took / Int64(max(happened, 1)) > Self.longestStart / 4 {
            return (Self.startsWhenSlow, took)
        }
        return (happened == 0 ? Self.startsWhenIdle : max(happened / 2, 1), Self.longestStart)
    }

    private func takeEnded(_ transport: any Transport) {
        while let ended = transport.takeEnded() {
            sendingEnded(ended.transfer.call, ended.end, code: ended.code)
        }
    }

    /// After the machine has slept, what runs on CLOCK_BOOTTIME is due earlier than its timer says (M6).
    private func noticeSleep() {
        let ahead = virtualTime?.clock.boottimeAhead ?? clock.boottime.nanoseconds - now
        guard ahead - time.boottimeAhead > 1_000_000 else { return }
        time.boottimeAhead = ahead
        for call in active where !call.isWaitingOnly { timers.set(call, due: now) }
    }

    // What the loop's clock has, in short.
    var now: Int64 { time.now }
    var boottime: Int64 { time.boottime }
    var clock: any Clock { time.clock }
    var virtualTime: VirtualTime? { time.virtualTime }

    func readClock() { time.read() }

    /// From now on, a thread that posts a command wakes the driver. False if a command is waiting already.
    private func mayWait() -> Bool {
        locked {
            isPolling = commands.isEmpty && !isWakePending && !(ownThreadDrives && waitingDrivers > 0)
            if isPolling, !hasMoreToDo { rest() }
            return isPolling
        }
    }

    func countAttempt(isRetry: Bool) {
        shim_count_up(&attempts)
        if isRetry { shim_count_up(&retries) }
    }

    func runCommands() {
        // The two take turns, so that neither is allocated again.
        locked {
            isPolling = false
            swap(&commands, &commandsInHand)
        }
        defer { commandsInHand.clear() }
        for index in commandsInHand.indices {  // An iterator would keep the array, and have it copied.
            switch commandsInHand[index] {
            case .start(let call):
                call.leaveClock()
                call.activeIndex = active.count
                active.append(call)
                run(call.isCancelledBeforeStart ? call.machine.cancel() : call.machine.start(), call)
            case .cancel(let call): run(call.machine.cancel(), call)
            case .decided(let question): answered(question)
            case .resume(let call):
                locked { call.isResumePosted = false }
                if call.transfer != nil, call.attempt.exchange.isPaused { resumeBody(of: call) }
            case .token(let call, let result): tokenEnded(call, result)
            case .cancelAll(let owner): cancelAll(of: owner)
            case .ask(let question):
                question.ask()
                answered(question)
            case .helpGuests: break
            }
        }
    }

    /// Nil: of all clients.
    private func cancelAll(of owner: CallOwner?) {
        // From the end: the last call takes the place of one that ends.
        for index in active.indices.reversed() where index < active.count {
            let call = active[index]
            if owner == nil || call.owner === owner { run(call.machine.cancel(), call) }
        }
    }

    private func runTimers(_ transport: any Transport) {
        guard let due = timers.nextDue, due <= now else { return }
        // Data that arrived before the timer was due ends the idle time, although this loop reads it only now (M5).
        // Each look reports a limited number of sockets, and perhaps the wake-up event; this number of looks covers all
        // sockets.
        let time = now
        for _ in 0...(active.count / (TransportWait.mostEvents - 1)) {
            let happened = transport.wait(nanoseconds: 0)
            transport.runDue()
            if happened < TransportWait.mostEvents - 1 { break }
        }
        takeEnded(transport)
        while let entry = timers.takeDue(now: time) { entry.fire(now: now) }
    }
}
