import CShims
import RetryCore

/// The engine of a client: one loop, which drives libcurl and all timers.
///
/// The loop is a role, not a thread. Whoever holds it runs `turn()`: a thread that blocks for a call of its own, if the
/// role is free, else the engine's own thread. Everything but what is said to be guarded belongs to the holder.
public final class Engine {
    private static let maximumStartsInOneTurn = 64

    /// Guards what stands below it; never held around a callback.
    private let lock: OpaquePointer
    private var commands: [Command] = []
    private var hasDriver = false
    /// The engine's own thread has been started, and waits for the role, or holds it.
    private var hasThread = false
    private var isThreadWanted = false
    private var isClosing = false
    private var unfinished = 0
    private var closeWaiters: [Waiter] = []
    private var stats = Stats()

    /// The time at the beginning of this turn, in nanoseconds of CLOCK_MONOTONIC.
    private(set) var now: Int64 = 0
    let clock: any Clock
    let settings: EngineSettings
    /// Nil only while it is being made.
    private var transport: (any Transport)?
    /// The driver waits, and has to be woken to look at the commands. Guarded by the lock.
    private var isPolling = false
    /// Something happened in this turn that somebody waits for, or that gives others their turn: no time to sleep.
    private var hasMoreToDo = false
    private var timers = TimerQueue()
    private var active: [Call] = []
    private var starting = StartQueue()
    private let pool: WorkerPool

    public struct Stats {
        public var calls: Int64 = 0
        public var ended: Int64 = 0
        public var attempts: Int64 = 0
        public var retries: Int64 = 0
        public var reconnects: Int64 = 0
        public var connections: Int64 = 0
    }

    private enum Command {
        case start(Call)
        case cancel(Call)
        case decided(Call)
        case cancelAll
    }

    public enum SetupFailure: Error {
        case outOfMemory
        /// No descriptors, or libcurl does not work here.
        case exhausted
    }

    public convenience init(settings: EngineSettings, clock: any Clock) throws(SetupFailure) {
        try self.init(settings, clock)
        transport = try CurlTransport(settings: settings, engine: self)
    }

    /// With another transport than libcurl; for tests.
    convenience init(settings: EngineSettings, clock: any Clock, transport: any Transport) throws(SetupFailure) {
        try self.init(settings, clock)
        self.transport = transport
    }

    private init(_ settings: EngineSettings, _ clock: any Clock) throws(SetupFailure) {
        guard let lock = shim_monitor_new(), let pool = WorkerPool() else { throw .outOfMemory }
        self.lock = lock
        self.pool = pool
        self.settings = settings
        self.clock = clock
    }

    deinit {
        transport = nil
        shim_monitor_free(lock)
        shim_free(settings.userAgent)
        shim_free(settings.proxy)
        shim_free(settings.caFile)
    }

    // MARK: - From any thread

    public enum Start {
        case begun
        /// The engine takes no calls any more.
        case closed
        /// No thread can be had to run it.
        case exhausted
    }

    /// Begins a call, whose end comes as its delivery says.
    public func submit(_ call: Call) -> Start {
        begin(call, needsThread: true)
    }

    /// Begins a call, and waits for its end; drives the loop meanwhile, if nobody else does.
    public func perform(_ call: Call) -> Start {
        let start = begin(call, needsThread: false)
        if start == .begun { _ = wait(for: call, until: .max, mayDrive: true) }
        return start
    }

    /// Waits for the end of a call that was submitted. False if that time, of CLOCK_MONOTONIC, came first.
    public func wait(for call: Call, until limit: Int64) -> Bool {
        wait(for: call, until: limit, mayDrive: false)
    }

    public func cancel(_ call: Call) {
        let isBegun = locked {
            if !call.isBegun { call.isCancelledEarly = true }
            return call.isBegun
        }
        if isBegun { post(.cancel(call), about: call) }
    }

    /// Ends all calls, and lets the threads go. What is still to be done is done by them.
    public func close() {
        shim_monitor_lock(lock)
        isClosing = true
        commands.append(.cancelAll)
        if unfinished > 0 { startThread() }
        wakeDriver()
        shim_monitor_wake_all(lock)
        shim_monitor_unlock(lock)
        pool.close()
    }

    /// Waits until all calls have ended. False if that time, of CLOCK_MONOTONIC, came first, or memory was short.
    public func waitUntilIdle(until limit: Int64) -> Bool {
        guard let waiter = Waiter() else { return false }
        shim_monitor_lock(lock)
        let isIdle = unfinished == 0
        if !isIdle { closeWaiters.append(waiter) }
        shim_monitor_unlock(lock)
        return isIdle || waiter.wait(until: limit)
    }

    /// Nobody will ask for this call any more: it is cancelled, and comes to no queue.
    public func abandon(_ call: Call) {
        let unread: CallResult? = locked {
            call.isAbandoned = true
            defer { call.result = nil }
            return call.result
        }
        _ = unread  // Goes without the lock.
        if case .queue(let queue) = call.delivery { queue.tidy() }
        cancel(call)
    }

    func isAbandoned(_ call: Call) -> Bool {
        locked { call.isAbandoned }
    }

    public var currentStats: Stats {
        locked { stats }
    }

    public func isDone(_ call: Call) -> Bool {
        locked { call.isDone }
    }

    /// The call's result, once: whoever asks first gets it, if the call has ended.
    public func takeResult(of call: Call) -> CallResult? {
        locked {
            defer { call.result = nil }
            return call.result
        }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        shim_monitor_lock(lock)
        defer { shim_monitor_unlock(lock) }
        return body()
    }

    private func begin(_ call: Call, needsThread: Bool) -> Start {
        // Before it begins: a switch that was triggered already lets nothing be sent.
        call.cancelSwitch?.add(call)
        let start = enqueue(call, needsThread: needsThread)
        if start != .begun { call.cancelSwitch?.remove(call) }
        return start
    }

    private func enqueue(_ call: Call, needsThread: Bool) -> Start {
        shim_monitor_lock(lock)
        defer { shim_monitor_unlock(lock) }
        guard !isClosing else { return .closed }
        guard !needsThread || startThread() else { return .exhausted }
        call.isBegun = true
        unfinished += 1
        stats.calls += 1
        commands.append(.start(call))
        if needsThread { shim_monitor_wake_all(lock) }
        wakeDriver()
        return .begun
    }

    /// A command about a call that has ended is too late: nobody might come to look at it.
    private func post(_ command: Command, about call: Call) {
        shim_monitor_lock(lock)
        if !call.isDone {
            commands.append(command)
            wakeDriver()
        }
        shim_monitor_unlock(lock)
    }

    /// With the lock held: whoever polls will look at the commands.
    private func wakeDriver() {
        guard isPolling else { return }
        isPolling = false
        transport?.wake()
    }

    // MARK: - The role

    /// With the lock held: there is a thread of the engine's own. False if none can be had.
    @discardableResult
    private func startThread() -> Bool {
        if hasThread { return true }
        let context = Unmanaged.passRetained(self)
        guard shim_thread_start({ Engine.runThread($0) }, context.toOpaque()) else {
            context.release()
            return false
        }
        hasThread = true
        return true
    }

    private static func runThread(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        Unmanaged<Engine>.fromOpaque(context).takeRetainedValue().runThread()
    }

    /// The engine's own thread: drives whenever there is something to do and nobody else does it.
    private func runThread() {
        shim_monitor_lock(lock)
        while true {
            if !hasDriver, unfinished > 0 {
                let late = drive { unfinished == 0 }
                shim_monitor_unlock(lock)
                forget(late)
                shim_monitor_lock(lock)
            } else if isClosing, unfinished == 0 {
                break
            } else {
                _ = shim_monitor_wait_until(lock, .max)
            }
        }
        hasThread = false
        shim_monitor_unlock(lock)
    }

    /// With the lock held, before and after: takes the role, and runs the loop until `isOver`, asked with the lock held.
    /// Gives back the commands that came too late, to be forgotten without the lock.
    private func drive(until isOver: () -> Bool) -> [Command] {
        hasDriver = true
        while !isOver() {
            shim_monitor_unlock(lock)
            turn()
            shim_monitor_lock(lock)
        }
        hasDriver = false
        if unfinished > 0 {
            startThread()
            shim_monitor_wake_all(lock)
            return []
        }
        // Whatever is left is about calls that have ended, and would keep them.
        defer { commands = [] }
        return commands
    }

    /// Lets go of commands. What they keep may call back when it ends: no lock may be held.
    private func forget(_ commands: consuming [Command]) {}

    private func wait(for call: Call, until limit: Int64, mayDrive: Bool) -> Bool {
        shim_monitor_lock(lock)
        if call.isDone {
            shim_monitor_unlock(lock)
            return true
        }
        if mayDrive, !hasDriver {
            let signals = shim_sigpipe_block()
            let late = drive { call.isDone }
            shim_monitor_unlock(lock)
            forget(late)
            shim_sigpipe_restore(signals)
            return true
        }
        let waiter = call.waiter ?? Waiter()
        call.waiter = waiter
        if unfinished > 0 { startThread() }
        shim_monitor_wake_all(lock)
        shim_monitor_unlock(lock)
        return waiter?.wait(until: limit) ?? false
    }

    // MARK: - One turn of the loop

    private func turn() {
        readClock()
        hasMoreToDo = false
        runCommands()
        runTimers()
        startWaiting()
        guard mayWait() else { return }
        transport?.wait(nanoseconds: hasMoreToDo ? 0 : max((timers.nextDue ?? .max) - now, 0))
        locked { isPolling = false }
        readClock()
        while let ended = transport?.takeEnded() {
            attemptEnded(ended.transfer.call, ended.result, code: ended.code)
        }
    }

    func readClock() {
        now = clock.monotonic.nanoseconds
    }

    /// From now on, whoever has a command wakes the driver; false if there is one already.
    private func mayWait() -> Bool {
        locked {
            isPolling = commands.isEmpty
            return isPolling
        }
    }

    private func runCommands() {
        let batch = locked {
            defer { commands.removeAll(keepingCapacity: true) }
            return commands
        }
        for command in batch {
            switch command {
            case .start(let call):
                call.activeIndex = active.count
                active.append(call)
                perform(call.isCancelledEarly ? call.machine.cancel() : call.machine.start(), call)
            case .cancel(let call): perform(call.machine.cancel(), call)
            case .decided(let call): decided(call)
            case .cancelAll: while let call = active.last { perform(call.machine.cancel(), call) }
            }
        }
    }

    private func runTimers() {
        while let entry = timers.takeDue(now: now) { entry.fire(now: now) }
    }

    // MARK: - Calls

    private func perform(_ action: CallMachine.Action, _ call: Call) {
        switch action {
        case .none: break
        case .attempt(let fresh):
            drop(&call.transfer)
            call.isFresh = fresh
            call.isQueued = true
            starting.append(call)
            hasMoreToDo = true
            arm(call)
        case .decide: decide(call)
        case .wait(let seconds):
            drop(&call.transfer)
            locked { stats.retries += 1 }
            tell(.retryScheduled, call, call.records.last)
            timers.set(call, due: Instant(nanoseconds: now).advanced(bySeconds: seconds).nanoseconds)
        case .end(let ending): finish(call, ending)
        }
    }

    /// The strategy is asked; on the pool, if foreign code will answer.
    private func decide(_ call: Call) {
        guard let transfer = call.transfer else { return }
        call.outcome.requestSent = transfer.requestSent
        guard call.strategy.callsBack else {
            call.decision = try? call.retryLoop.next(call.outcome, clock: clock)
            return decided(call)
        }
        if !pool.decide(call) { perform(call.machine.failed(.exhausted), call) }
    }

    /// On a thread of the pool. The loop leaves the call alone until it is told.
    func decideOnPool(_ call: Call) {
        call.decision = try? call.retryLoop.next(call.outcome, clock: clock)
        post(.decided(call), about: call)
    }

    private func decided(_ call: Call) {
        guard call.machine.state == .deciding else { return }  // It was cancelled meanwhile.
        if !call.records.isEmpty { call.records[call.records.count - 1].decision = call.decision }
        tell(.attemptEnded, call, call.records.last)
        perform(call.machine.decided(call.decision), call)
    }

    private func tell(
        _ kind: EngineEvent.Kind, _ call: Call, _ record: AttemptRecord? = nil, _ ending: CallMachine.Ending? = nil
    ) {
        guard let onEvent = settings.onEvent else { return }
        let isRunning = kind == .attemptBegan || kind == .reconnect
        onEvent(
            EngineEvent(
                kind: kind, call: call, at: now - call.startedAt,
                attemptNumber: Int32(call.records.count + (isRunning ? 1 : 0)), record: record, ending: ending))
    }

    /// For whoever holds the loop, or before anybody does.
    func schedule(_ entry: TimerEntry, at time: Int64) {
        timers.set(entry, due: time)
    }

    func timerFired(_ call: Call, now: Int64) {
        if call.hasDeadline, clock.boottime.nanoseconds >= call.deadline.nanoseconds {
            return perform(call.machine.deadlinePassed(), call)
        }
        switch call.machine.state {
        case .waiting: perform(call.machine.waitOver(), call)
        case .attempting:
            guard let transfer = call.transfer else { return arm(call) }
            if call.request.bodyLength > 0 { transfer.lookAtKernel() }
            if resourceTimeLeft(call) <= 0 {
                attemptEnded(call, .exception(.timeoutResource), code: 0)
            } else if now >= saturated(transfer.lastActivity, call.settings.idleTimeout) {
                attemptEnded(call, .exception(.timeoutIdle), code: 0)
            } else {
                arm(call)
            }
        case .idle, .deciding, .ended: break
        }
    }

    /// Sets the call's one timer to the next moment at which something may be over. Activity does not move it: it looks
    /// again when it fires.
    private func arm(_ call: Call) {
        var due = Int64.max
        if let transfer = call.transfer {
            due = min(
                saturated(transfer.lastActivity, call.settings.idleTimeout), saturated(now, resourceTimeLeft(call)))
            if call.request.bodyLength > 0, call.settings.idleTimeout != .max {
                // What the kernel drains is only seen by looking.
                due = min(due, now + max(call.settings.idleTimeout / 8, 1_000_000))
            }
        }
        if call.hasDeadline {
            let left = max(call.deadline.nanoseconds - clock.boottime.nanoseconds, 0)
            due = min(due, saturated(now, left))
        }
        if due == .max { timers.remove(call) } else { timers.set(call, due: due) }
    }

    /// Nanoseconds of the attempt's resource time (M2); `Int64.max` if it has none.
    private func resourceTimeLeft(_ call: Call) -> Int64 {
        guard call.settings.resourceTimeout != .max else { return .max }
        return call.settings.resourceTimeout - (clock.boottime.nanoseconds - call.attemptStartedBoot)
    }

    private func saturated(_ time: Int64, _ nanoseconds: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(nanoseconds)
        return overflow ? .max : sum
    }

    private func finish(_ call: Call, _ ending: CallMachine.Ending) {
        if let transfer = call.transfer, !transfer.isDetached { noteUnfinished(call) }
        hasMoreToDo = true
        timers.remove(call)
        if call.isQueued { starting.remove(call) }
        call.isQueued = false
        let last = active.removeLast()
        if last !== call {
            active[call.activeIndex] = last
            last.activeIndex = call.activeIndex
        }
        // What was decided about the last attempt is not why a call was cancelled, or ran out of time.
        let isDecided = ending != .cancelled && ending != .deadline
        tell(.callEnded, call, isDecided ? call.records.last : nil, ending)
        let result = call.makeResult(ending)
        drop(&call.transfer)
        call.cancelSwitch?.remove(call)
        locked {
            call.result = result
            call.isDone = true
        }
        deliver(call)
        shim_monitor_lock(lock)
        unfinished -= 1
        stats.ended += 1
        let waiter = call.waiter
        var closed: [Waiter] = []
        if unfinished == 0 { swap(&closed, &closeWaiters) }
        shim_monitor_unlock(lock)
        waiter?.tell()
        for waiter in closed { waiter.tell() }
    }

    private func deliver(_ call: Call) {
        switch call.delivery {
        case .none: break
        case .queue(let queue):
            if !queue.put(call), call.isUnowned { settings.dropHandle?(call.handle) }
        case .callback(let body): body(call)
        }
    }

    // MARK: - Transfers

    /// Begins attempts whose turn it is; not so many that the timers of others would have to wait for long.
    private func startWaiting() {
        for _ in 0..<Self.maximumStartsInOneTurn {
            guard let call = starting.next(settings) else { return }
            call.isQueued = false
            readClock()
            begin(call)
        }
        hasMoreToDo = true
    }

    private func begin(_ call: Call) {
        let transfer = Transfer(call: call, now: now)
        call.transfer = transfer
        if call.reconnects == 0 {
            call.attemptStartedAt = now
            call.attemptStartedBoot = clock.boottime.nanoseconds
        }
        locked { stats.attempts += 1 }
        arm(call)
        tell(.attemptBegan, call)
        if let failure = transport?.begin(transfer) { attemptEnded(call, .local(failure), code: 0) }
    }

    private func attemptEnded(_ call: Call, _ result: CallMachine.AttemptResult, code: Int32) {
        guard let transfer = call.transfer else { return }
        detach(transfer)
        note(call, transfer, result, code: code)
        perform(call.machine.attemptEnded(result), call)
    }

    /// Writes down how an attempt ended, and makes the outcome that the strategy sees.
    private func note(_ call: Call, _ transfer: Transfer, _ result: CallMachine.AttemptResult, code: Int32) {
        var cause = NetworkExceptionCause.none
        switch result {
        case .vetoed(isSafe: true) where call.machine.mayReconnect:
            call.reconnects += 1
            locked { stats.reconnects += 1 }
            return tell(.reconnect, call)
        case .vetoed: cause = .receive
        case .exception(let reason): cause = reason
        case .response, .local: break
        }
        if cause != .none { call.exceptions += 1 }
        call.keep(transfer)
        call.records.append(
            AttemptRecord(
                status: cause == .none ? transfer.status : 0, cause: cause, decision: nil,
                startedAt: call.attemptStartedAt - call.startedAt, endedAt: now - call.startedAt,
                reconnects: call.reconnects, curlCode: code, number: Int32(call.records.count + 1),
                exceptionNumber: cause == .none ? 0 : call.exceptions))
        call.reconnects = 0
        call.outcome =
            cause == .none
            ? Outcome(status: transfer.status, headers: call.received.head.list) : Outcome(exception: cause)
        call.outcome.isRequestUnsafe = call.request.isUnsafe
        call.outcome.request = UnsafeRawPointer(call.request.description)
    }

    /// Writes down an attempt that the end of its call broke off: the server may have seen it (B13).
    private func noteUnfinished(_ call: Call) {
        call.records.append(
            AttemptRecord(
                status: 0, cause: .none, decision: nil, startedAt: call.attemptStartedAt - call.startedAt,
                endedAt: now - call.startedAt, reconnects: call.reconnects, curlCode: 0,
                number: Int32(call.records.count + 1), exceptionNumber: 0))
    }

    /// The transfer's look-up is over, or it found a connection that there was.
    func opened(_ transfer: Transfer) {
        starting.opened(transfer.call)
    }

    /// Takes the transfer out of the transport.
    private func detach(_ transfer: Transfer) {
        guard !transfer.isDetached else { return }
        transfer.isDetached = true
        transfer.open()
        starting.ended()
        hasMoreToDo = true
        transport?.end(transfer)
    }

    private func drop(_ transfer: inout Transfer?) {
        if let dropped = transfer { detach(dropped) }
        transfer = nil
    }
}
