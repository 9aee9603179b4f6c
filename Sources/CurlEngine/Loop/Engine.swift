import CShims
import RetryCore

/// The engine of a client: one loop, which drives libcurl and all timers.
///
/// The loop is a role, not a thread. Its holder runs `turn()`: a thread that blocks for a call, if the role is free,
/// otherwise the engine's own thread. All state belongs to the holder, except what the lock guards, the `LoopRole`.
public final class Engine: CallLoop {
    /// The number of attempts that begin in a turn, if there is no work for others, or if that work is slow.
    private static let startsWhenIdle = 4
    private static let startsWhenSlow = 64
    /// No more of them begin after that time, or after that which the others took.
    private static let longestStart: Int64 = 1_000_000

    let role: Monitor<LoopRole>

    // Only the holder of the role touches what follows and is not constant.

    /// Commands that have been taken.
    private var commandsInHand: [LoopCommand] = []
    let time: LoopClock
    /// Counted on the loop, and read by any thread.
    private var attempts: Int64 = 0
    private var retries: Int64 = 0
    let proxies: ProxyNames
    public let settings: EngineSettings
    /// Nil once the engine is closed.
    var transport: (any Transport)?
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

    public typealias Stats = EngineStats
    public typealias SetupFailure = TransportSetupFailure

    public static func make(settings: EngineSettings, clock: TokenClock) throws(SetupFailure) -> Engine {
        let engine = try make(settings, clock.loopClock)
        let transport = CurlTransport(settings: settings.transport, time: engine.time, origins: engine.origins)
        try transport.setUp()
        engine.use(transport)
        return engine
    }

    /// With another transport than libcurl; for tests.
    static func make(
        settings: EngineSettings, clock: TokenClock, transport: any Transport
    ) throws(SetupFailure) -> Engine {
        let engine = try make(settings, clock.loopClock)
        engine.use(transport)
        return engine
    }

    /// The same with a clock that the transport moves: the engine takes it for the system's clock.
    static func make(
        settings: EngineSettings, clock: any Clock, transport: any Transport
    ) throws(SetupFailure) -> Engine {
        let engine = try make(settings, LoopClock(movedByTransport: clock))
        engine.use(transport)
        return engine
    }

    private static func make(_ settings: EngineSettings, _ time: LoopClock) throws(SetupFailure) -> Engine {
        guard let pool = WorkerPool.make(), let role = Monitor(LoopRole()) else { throw .outOfMemory }
        return Engine(settings, time, role, pool)
    }

    private init(
        _ settings: EngineSettings, _ time: LoopClock, _ role: consuming Monitor<LoopRole>, _ pool: WorkerPool
    ) {
        self.role = role
        self.pool = pool
        self.settings = settings
        self.time = time
        proxies = ProxyNames(given: settings.transport.proxy)
        budget = settings.budget
    }

    deinit {
        use(nil)
    }

    func use(_ transport: (any Transport)?) {
        var other = transport
        role.withLock { swap(&$0.state.transport, &other) }  // The old one goes without the lock.
        self.transport = transport
    }

    public enum HandleFailure: Error {
        case closed
        case outOfMemory
    }

    /// A form for this engine's transport to send.
    public func makeForm() throws(HandleFailure) -> MultipartSource {
        guard let transport = role.withLock({ $0.state.transport }) else { throw .closed }
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
        begin(call) { role, mayBeWaitedFor in
            enqueue(role, call, for: isHosted ? .host : .thread, mayBeWaitedFor: mayBeWaitedFor)
        }
    }

    /// Begins a call without a delivery, and waits for its end; drives the loop meanwhile, if no other thread does. The
    /// result is nil if the call has not begun.
    public func perform(_ call: Call) -> (start: Start, result: CallResult?) {
        var result: CallResult?
        let start = begin(call) { role, _ in
            let start = enqueue(role, call, for: .caller)
            if start == .begun {
                // `wake()` ends other waits.
                repeat {
                    wait(role, for: call, until: .max, mayTakeRole: false)
                } while !call.shared(role) { $0.stopWaiting() }
                result = call.shared(role) { $0.takeResult() }
            }
            return start
        }
        return (start, result)
    }

    /// Begins a call, and waits for its end until that time, of CLOCK_MONOTONIC. No thread is needed before that.
    public func submit(_ call: Call, waitingUntil limit: Int64) -> Start {
        let start = begin(call) { role, _ in enqueue(role, call, for: .caller) }
        if start == .begun { _ = wait(for: call, until: limit) }
        return start
    }

    public func wait(for call: Call, until limit: Int64) -> Bool {
        role.withLock { role in
            wait(role, for: call, until: limit, mayTakeRole: true)
            return call.shared(role) { $0.stopWaiting() }
        }
    }

    public func wake(_ call: Call) {
        let waiter = role.withLock { role in
            role.state.isWakePending = true
            wakeDriver(role)
            if settings.isDriven { role.wakeAll() }
            return call.shared(role) { $0.wake() }
        }
        waiter?.signal()
    }

    public func cancel(_ call: Call) {
        role.withLock { role in
            if call.shared(role, { $0.cancel() }) { post(role, .cancel(call), about: call) }
        }
    }

    public func resume(_ call: Call) {
        role.withLock { role in
            if call.shared(role, { $0.resume() }) { post(role, .resume(call), about: call) }
        }
    }

    /// Ends all calls, and lets the threads go. What is still to be done is done by them.
    public func close() {
        role.withLock { role in
            role.state.isClosing = true
            role.state.cancelAll()
            if role.state.unfinished > 0 {
                startThread(role)
                role.state.endsCalls = true
            }
            wakeDriver(role)
            if !role.state.hasDriver { dropTransportIfClosed(role) }
            endCallsIfDriven(role)
            leaveClockIfIdle(role)
            role.wakeAll()
        }
        pool.close()
    }

    /// After `close()`: waits until all calls have ended, and no thread is inside libcurl for this engine (W8). False if that
    /// time, of CLOCK_MONOTONIC, came first.
    public func waitUntilClosed(until limit: Int64) -> Bool {
        if shim_exit_has_begun() { return waitAtExit(until: limit, .allEnds) }
        let waiter = Waiter.make()
        let isClosed = role.withLock { role in
            guard let waiter else { return look(role, until: limit, .closed) }
            if role.state.isClosedForGood { return true }
            role.state.closeWaiters.append(waiter)
            return false
        }
        return isClosed || waiter?.wait(until: limit) == true
    }

    public func abandon(_ call: Call) {
        if case .queue(let queue) = call.delivery { queue.abandon(call) }
        let (unread, isDone) = role.withLock { role in call.shared(role) { ($0.takeResult(), $0.isDone) } }
        _ = unread  // Goes without the lock.
        if !isDone { cancel(call) }
    }

    public var currentStats: Stats {
        var stats = role.withLock { $0.state.stats }
        stats.attempts = shim_counted(&attempts)
        stats.retries = shim_counted(&retries)
        return stats
    }

    public func takeResult(of call: Call) -> CallResult? {
        role.withLock { role in call.shared(role) { $0.takeResult() } }
    }

    @inline(__always)
    private func begin(_ call: Call, _ enqueue: (borrowing LoopRole.Held, _ mayBeWaitedFor: Bool) -> Start) -> Start {
        // Before it begins: a switch that was triggered already lets nothing be sent.
        if call.cancelSwitch?.add(call) == false { cancel(call) }
        // Somebody may come to wait for the call, and drive the loop meanwhile.
        var mayBeWaitedFor = true
        switch call.delivery {
        case .none: break
        case .queue(let queue): mayBeWaitedFor = queue.expect(self)
        case .callback: mayBeWaitedFor = false
        }
        let start = role.withLock { enqueue($0, mayBeWaitedFor) }
        if start != .begun { call.cancelSwitch?.remove(call) }
        guard case .queue(let queue) = call.delivery else { return start }
        if start != .begun {
            queue.expectNoMore()
        } else if settings.isDriven {
            queue.wakeTakers()
        }
        return start
    }

    /// Who is to drive the loop for a call that begins, unless somebody drives it anyway.
    private enum WantedDriver {
        /// It is about to wait for the call.
        case caller
        /// Another loop.
        case host
        case thread
    }

    private func enqueue(
        _ role: borrowing LoopRole.Held, _ call: Call, for driver: WantedDriver, mayBeWaitedFor: Bool = true
    ) -> Start {
        guard !role.state.isClosing, !shim_exit_has_begun() else { return .closed }
        guard driver != .thread || settings.isDriven || startThread(role) else { return .exhausted }
        guard call.owner?.shared(role, { $0.begin() }) != false else { return .closed }
        role.state.unfinished += 1
        role.state.stats.calls += 1
        role.state.commands.append(.start(call, isCancelled: call.shared(role) { $0.begin() }))
        if driver != .caller, driver == .thread || role.state.hasThread, !role.state.hasDriver {
            if !mayBeWaitedFor { role.state.gracePeriodEnd = 0 }  // No other thread will take the role.
            if !mayBeWaitedFor || !role.state.isThreadSleeping { role.wakeAll() }
        }
        wakeDriver(role)
        return .begun
    }

    /// Drops a command about a call that has ended: it may be that no thread runs the loop again.
    func post(_ command: LoopCommand, about call: Call) {
        role.withLock { post($0, command, about: call) }
    }

    private func post(_ role: borrowing LoopRole.Held, _ command: LoopCommand, about call: Call) {
        guard !call.shared(role, { $0.isDone }) else { return }
        role.state.commands.append(command)
        wakeDriver(role)
    }

    /// The thread that polls will look at the commands.
    func wakeDriver(_ role: borrowing LoopRole.Held) {
        virtualTime?.workArrived()
        guard role.state.isPolling else { return }
        role.state.isPolling = false
        role.state.transport?.wake()
    }

    // MARK: - One turn of the loop

    /// Runs the commands that have been taken, waits for something to happen, but not beyond `limit`, and lets it happen.
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
        var isClockRead = false
        while let ended = transport.takeEnded() {
            // libcurl may have run many transfers since the clock was read, and a delay begins when its attempt ends (M5).
            if !isClockRead { readClock() }
            isClockRead = true
            if let call = call(ended.transfer.call) { sendingEnded(call, ended.end, code: ended.code) }
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
        role.withLock { role in
            let mayWait =
                role.state.commands.isEmpty && !role.state.isWakePending
                && !(role.state.ownThreadDrives && role.state.waitingDrivers > 0)
            role.state.isPolling = mayWait
            if mayWait, !hasMoreToDo { rest() }
            return mayWait
        }
    }

    func countAttempt(isRetry: Bool) {
        shim_count_up(&attempts)
        if isRetry { shim_count_up(&retries) }
    }

    /// Commands that come from now on are for the next turn.
    func takeCommands(_ role: borrowing LoopRole.Held) {
        role.state.isPolling = false
        // The two take turns, so that neither is allocated again.
        swap(&role.state.commands, &commandsInHand)
    }

    func runCommands() {
        defer { commandsInHand.clear() }
        for index in commandsInHand.indices {  // An iterator would keep the array, and have it copied.
            switch commandsInHand[index] {
            case .start(let call, let isCancelled):
                call.leaveClock()
                call.activeIndex = active.count
                active.append(call)
                run(isCancelled ? call.machine.cancel() : call.machine.start(), call)
            case .cancel(let call): run(call.machine.cancel(), call)
            case .decided(let question): answered(question)
            case .resume(let call):
                role.withLock { role in call.shared(role) { $0.resumed() } }
                if call.transfer != nil, call.attempt.exchange.isPaused { resumeBody(of: call) }
            case .token(let call, let result): tokenEnded(call, result)
            case .cancelAll(let owner): cancelAll(of: owner)
            case .ask(let question):
                guard question.call.transfer === question.transfer else { continue }  // The call has ended.
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
