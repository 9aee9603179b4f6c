import CShims
import RetryCore

/// Supplies the shared token, and renews it (T). Any thread.
///
/// The state machine decides; the source adds its lock, its threads and its clock. While a fetch runs, the source has
/// its own thread for timers and callbacks; each call of a provider that may block has another one. The source calls no
/// callback with the lock held.
public final class TokenSource: TokenAsker, TokenSupplier {
    typealias Machine = TokenMachine<SecretBytes, TokenWaiter>

    public let clock: TokenClock
    let provider: any TokenProvider
    /// False for a fixed token: it is never dropped, and there is no other (T12).
    let isRenewable: Bool
    private let cache = TokenCache()
    /// Makes the cached item.
    private let makeItem: (AccessToken) -> AnyObject

    /// What a manual clock knows of this source.
    let clockUser: SharedManualClock.User?
    /// More than one fetch makes by default: a call that times out may still run.
    private static let maximumRunningCalls = 16

    /// The lock also wakes the source's thread.
    let monitor: Monitor<State>

    struct State {
        var machine: Machine
        var hasThread = false
        /// Calls of a provider that may block which have not returned. Each has a thread.
        var runningCalls = 0
        var isClosed = false
        /// Threads that perform actions.
        var runningUpdates = 0
        /// For what the source's thread waits on a manual clock.
        var alarmDue = Int64.min
        /// Loops without a thread do the work of the present fetch, and the source starts no thread for it: such a loop
        /// started it, and has its only waiters.
        var isHosted = false
        var guests: TokenGuest?
        /// A call of the provider that one of them is to make.
        var hostedCall: UInt64?
        /// Waiters whose result the source's thread delivers, in this order.
        var outbox: [(TokenWaiter, TokenResult)] = []

        init(_ machine: Machine) {
            self.machine = machine
        }
    }

    /// A token that is known before the first fetch, and how many seconds remain of its life (T12).
    public struct InitialToken {
        let token: SecretBytes
        let life: Double

        public init(token: SecretBytes, life: Double) {
            self.token = token
            self.life = life
        }
    }

    /// Nil if there is no memory.
    public static func make(
        provider: any TokenProvider, settings: TokenSettings, clock: TokenClock, initial: InitialToken? = nil,
        makeItem: @escaping (AccessToken) -> AnyObject
    ) -> TokenSource? {
        var machine = Machine(settings: settings, random: SplitMix64(state: shim_next_random_state()))
        if let initial { machine.adopt(initial.token, life: initial.life, at: clock.moment) }
        return make(machine, provider, clock, makeItem, isRenewable: true)
    }

    /// With a token that is never renewed.
    public static func make(
        fixed token: SecretBytes, clock: TokenClock, makeItem: @escaping (AccessToken) -> AnyObject
    ) -> TokenSource? {
        let machine = Machine(fixed: token, settings: TokenSettings(), at: clock.moment)
        return make(machine, NoTokenProvider(), clock, makeItem, isRenewable: false)
    }

    private static func make(
        _ machine: Machine, _ provider: any TokenProvider, _ clock: TokenClock,
        _ makeItem: @escaping (AccessToken) -> AnyObject, isRenewable: Bool
    ) -> TokenSource? {
        guard let monitor = Monitor(State(machine)) else { return nil }
        return TokenSource(monitor, provider, clock, makeItem, isRenewable: isRenewable)
    }

    private init(
        _ monitor: consuming Monitor<State>, _ provider: any TokenProvider, _ clock: TokenClock,
        _ makeItem: @escaping (AccessToken) -> AnyObject, isRenewable: Bool
    ) {
        self.isRenewable = isRenewable
        self.monitor = monitor
        self.provider = provider
        self.clock = clock
        clockUser = clock.manual.map { _ in SharedManualClock.User() }
        self.makeItem = makeItem
    }

    // MARK: - For those who need a token

    /// The token, if there is one at hand, as `makeItem` made it, and with a reference for the caller: as quick as can be.
    @inline(__always)
    public var itemAtHand: Unmanaged<AnyObject>? { cache.read() }

    /// The cached token, if it is valid. Does not wait.
    public func tokenAtHand() -> AccessToken? {
        var token: AccessToken?
        update { state, moment in
            let (cached, actions) = state.machine.read(at: moment)
            if !actions.isEmpty { state.isHosted = false }
            token = cached.map { AccessToken($0, clock: clock) }
            return actions
        }
        return token
    }

    /// The result, if it is available at once; otherwise nil, and the waiter gets it later.
    public func token(for waiter: TokenWaiter) -> TokenResult? {
        // Before it asks, so that there is no end that the switch does not know of.
        if waiter.cancelSwitch?.add(waiter) == false { return .failure(.cancelled) }
        if let result = ask(waiter) {
            waiter.cancelSwitch?.remove(waiter)
            return result
        }
        // A cancel during the request did not find this waiter.
        if waiter.cancelSwitch?.isTriggered == true { cancel(waiter) }
        return nil
    }

    private func ask(_ waiter: TokenWaiter) -> TokenResult? {
        var result: TokenResult?
        update { state, moment in
            let wasFetching = state.machine.isFetching
            let (answer, actions) = state.machine.asked(by: waiter, at: moment)
            if !wasFetching, state.machine.isFetching { state.isHosted = waiter.guest != nil }
            if let guest = waiter.guest, state.isHosted, state.machine.isFetching { state.add(guest) }
            switch answer {
            case .token(let cached): result = .success(AccessToken(cached, clock: clock))
            case .waiting(let ticket): waiter.ticket = ticket
            case .closed: result = .failure(.source(.closed))
            }
            return actions
        }
        if result == nil, waiter.guest == nil { resumeWithThreads() }
        return result
    }

    /// The token; waits for it until that time of CLOCK_MONOTONIC, in nanoseconds, has come.
    public func get(until limit: Int64, cancelSwitch: CancelSwitch?) -> TokenResult {
        guard let thread = Waiter.make() else { return .failure(.outOfMemory) }
        let waiter = TokenWaiter(source: self, cancelSwitch: cancelSwitch, delivery: .thread(thread))
        if let result = token(for: waiter) { return result }
        if !thread.wait(until: limit) {
            if leave(waiter) {
                waiter.finish(.failure(.timedOut))
            } else {
                _ = thread.wait(until: .max)  // The result is on its way.
            }
        }
        return waiter.result
    }

    /// Ends the wait of one waiter; the fetch continues (T9). Does nothing if the wait has already ended.
    public func cancel(_ waiter: TokenWaiter) {
        guard leave(waiter) else { return }
        deliver([waiter], .failure(.cancelled))
    }

    /// False if the waiter has its result, or if the result is on its way.
    private func leave(_ waiter: TokenWaiter) -> Bool {
        monitor.withLock { $0.state.machine.left(ticket: waiter.ticket) }
    }

    // MARK: - For those who know that a token is bad

    public func invalidate(generation: UInt64) {
        update { state, _ in
            state.machine.invalidated(generation: generation)
            return []
        }
    }

    public func invalidate(_ token: UnsafeRawBufferPointer) {
        update { state, _ in
            if let cached = state.machine.current, cached.token.equals(token) {
                state.machine.invalidated(generation: cached.generation)
            }
            return []
        }
    }

    public func clear() {
        update { state, _ in
            state.machine.cleared()
            return []
        }
    }

    /// Ends all waits, and drops the token (T10). The result of a provider call in progress is discarded.
    public func close() {
        update { state, _ in
            state.isClosed = true
            return state.machine.freed()
        }
        finishAlone()
    }

    // MARK: - For providers

    func answered(_ call: UInt64, _ token: SecretBytes?, life: Double) -> Bool {
        var isTaken = false
        update { state, moment in
            let actions = state.machine.answered(call, token, life: life, at: moment)
            isTaken = actions != nil
            return actions ?? []
        }
        return isTaken
    }

    func failed(_ call: UInt64, _ failure: ProviderFailure, isRetryable: Bool, leastDelay: Double) -> Bool {
        var isTaken = false
        update { state, moment in
            let actions = state.machine.failed(
                call, failure, isRetryable: isRetryable, leastDelay: leastDelay, at: moment)
            isTaken = actions != nil
            return actions ?? []
        }
        return isTaken
    }

    // MARK: - Events and actions

    func update(_ event: (inout State, TokenMoment) -> [Machine.Action]) {
        let moment = clock.moment
        act(monitor.withLock { held in updated(held, event(&held.state, moment), at: moment) })
    }

    /// After an event: the actions to run.
    @inline(never)  // There are many events.
    private func updated(
        _ held: borrowing Monitor<State>.Held, _ actions: [Machine.Action], at moment: TokenMoment
    ) -> [Machine.Action] {
        let further = settle(held, at: moment)
        if clockUser != nil {
            held.state.runningUpdates += 1
            updateClock(held)
        }
        return actions + further
    }

    @inline(never)
    private func act(_ actions: [Machine.Action]) {
        run(actions)
        guard clockUser != nil else { return }
        monitor.withLock { held in
            held.state.runningUpdates -= 1
            updateClock(held)
        }
    }

    func updateClock(_ held: borrowing Monitor<State>.Held) {
        if let clockUser { clock.manual?.set(clockUser, clockActivity(held)) }
    }

    /// What a manual clock has to wait for before it advances by itself.
    func clockActivity(_ held: borrowing Monitor<State>.Held) -> AutoAdvance.Activity {
        if held.state.runningUpdates > 0 || !held.state.outbox.isEmpty { return .work }
        if !held.state.isHosted, let due = held.state.machine.nextTimer?.nanoseconds,
            held.state.alarmDue != due || clock.monotonic.nanoseconds >= due
        {
            return .work  // The source's thread is about to look at its timer.
        }
        return held.state.machine.isCalling && provider.mayBlock ? .slow : .none
    }

    /// Updates what readers see, and makes sure that a thread or a loop waits for the timer. Returns the actions to run if
    /// none can.
    private func settle(_ held: borrowing Monitor<State>.Held, at moment: TokenMoment) -> [Machine.Action] {
        if !held.state.machine.isFetching { held.state.hostedCall = nil }
        if let cached = held.state.machine.current, clock.isSystem,
            held.state.machine.readableUntil.nanoseconds >= moment.boottime.nanoseconds + TokenCache.leastTime
        {
            let token = AccessToken(cached, clock: clock)
            cache.put(generation: cached.generation) { makeItem(token) }
        } else {
            cache.clear()
        }
        if held.state.machine.nextTimer != nil, !held.state.isHosted, !startThread(held) {
            return held.state.machine.couldNotWait(at: moment)
        }
        if held.state.hasThread { held.wakeAll() }
        return []
    }

    private func run(_ actions: [Machine.Action]) {
        for action in actions {
            switch action {
            case .call(let call):
                if !leaveToHosts(call) { callProvider(TokenRequest(source: self, call: call), call) }
            case .wake(let waiters, .token(let cached)): deliver(waiters, .success(AccessToken(cached, clock: clock)))
            case .wake(let waiters, .failure(let failure)): deliver(waiters, .failure(.source(failure)))
            }
        }
    }

    func callProvider(_ request: TokenRequest, _ call: UInt64) {
        guard provider.mayBlock else { return provider.provide(request) }
        guard mayRunAnother() else { return ended(call, with: .hanging) }
        let context = Unmanaged.passRetained(BlockingCall(source: self, request: request))
        let isStarted = shim_thread_start(
            { context in
                guard let context else { return }
                Unmanaged<BlockingCall>.fromOpaque(context).takeRetainedValue().run()
            }, nil, context.toOpaque())
        guard !isStarted else { return }
        context.release()
        callReturned()
        ended(call, with: .exhausted)
    }

    /// A call of a provider that may block, on its own thread.
    private final class BlockingCall {
        private let source: TokenSource
        private let request: TokenRequest

        init(source: TokenSource, request: TokenRequest) {
            self.source = source
            self.request = request
        }

        func run() {
            source.provider.provide(request)
            source.callReturned()
        }
    }

    func ended(_ call: UInt64, with failure: TokenFailure) {
        update { state, moment in state.machine.couldNotCall(call, failure, at: moment) }
    }

    /// What hangs keeps its thread, and is not to get ever more of them.
    private func mayRunAnother() -> Bool {
        monitor.withLock { held in
            guard held.state.runningCalls < Self.maximumRunningCalls else { return false }
            held.state.runningCalls += 1
            return true
        }
    }

    private func callReturned() {
        monitor.withLock { $0.state.runningCalls -= 1 }
    }

    /// Tells waiters, in this order: each in its own way.
    private func deliver(_ waiters: [TokenWaiter], _ result: TokenResult) {
        for waiter in waiters {
            if case .callback = waiter.delivery, post(waiter, result) { continue }
            waiter.finish(result)
        }
    }
}

extension TokenWaiter {
    public convenience init(source: TokenSource, cancelSwitch: CancelSwitch?, delivery: Delivery) {
        self.init(source: source, cancelSwitch: cancelSwitch, guest: nil, delivery: delivery)
    }
}

extension AccessToken {
    fileprivate convenience init(_ cached: TokenSource.Machine.CachedToken, clock: TokenClock) {
        self.init(cached.token, generation: cached.generation, life: cached.life, clock: clock)
    }
}
