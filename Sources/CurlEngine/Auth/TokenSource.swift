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
    private let provider: any TokenProvider
    /// False for a fixed token: it is never dropped, and there is no other (T12).
    let isRenewable: Bool
    private let cache = TokenCache()
    /// Makes the cached item.
    private let makeItem: (AccessToken) -> AnyObject

    /// Guards what follows, and wakes the source's thread.
    private let monitor: OpaquePointer
    private var machine: Machine
    private var hasThread = false
    /// Calls of a provider that may block which have not returned. Each has a thread.
    private var runningCalls = 0
    private var isClosed = false
    /// More than one fetch makes by default: a call that times out may still run.
    private static let maximumRunningCalls = 16
    /// Threads that perform actions.
    private var runningUpdates = 0
    /// What a manual clock knows of this source.
    private let clockUser: SharedManualClock.User?
    /// For what the source's thread waits on a manual clock.
    private var alarmDue = Int64.min
    /// Loops without a thread do the work of the present fetch, and the source starts no thread for it: such a loop
    /// started it, and has its only waiters.
    private var isHosted = false
    private var guests: TokenGuest?
    /// A call of the provider that one of them is to make.
    private var hostedCall: UInt64?
    /// Waiters whose result the source's thread delivers, in this order.
    private var outbox: [(TokenWaiter, TokenResult)] = []

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
        return shim_monitor_new(0).map {
            TokenSource($0, machine, provider: provider, clock: clock, makeItem: makeItem)
        }
    }

    /// With a token that is never renewed.
    public static func make(
        fixed token: SecretBytes, clock: TokenClock, makeItem: @escaping (AccessToken) -> AnyObject
    ) -> TokenSource? {
        let machine = Machine(fixed: token, settings: TokenSettings(), at: clock.moment)
        return shim_monitor_new(0).map {
            TokenSource(
                $0, machine, provider: NoTokenProvider(), clock: clock, makeItem: makeItem, isRenewable: false)
        }
    }

    private init(
        _ monitor: OpaquePointer, _ machine: Machine, provider: any TokenProvider, clock: TokenClock,
        makeItem: @escaping (AccessToken) -> AnyObject, isRenewable: Bool = true
    ) {
        self.isRenewable = isRenewable
        self.monitor = monitor
        self.machine = machine
        self.provider = provider
        self.clock = clock
        clockUser = clock.manual.map { _ in SharedManualClock.User() }
        self.makeItem = makeItem
    }

    deinit {
        shim_monitor_free(monitor)
    }

    // MARK: - For those who need a token

    /// The token, if there is one at hand, as `makeItem` made it, and with a reference for the caller: as quick as can be.
    @inline(__always)
    public var itemAtHand: Unmanaged<AnyObject>? { cache.read() }

    /// The cached token, if it is valid. Does not wait.
    public func tokenAtHand() -> AccessToken? {
        var token: AccessToken?
        update { machine, moment in
            let (cached, actions) = machine.read(at: moment)
            if !actions.isEmpty { isHosted = false }
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
        update { machine, moment in
            let wasFetching = machine.isFetching
            let (answer, actions) = machine.asked(by: waiter, at: moment)
            if !wasFetching, machine.isFetching { isHosted = waiter.guest != nil }
            if let guest = waiter.guest, isHosted, machine.isFetching { add(guest) }
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
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        return machine.left(ticket: waiter.ticket)
    }

    // MARK: - For those who know that a token is bad

    public func invalidate(generation: UInt64) {
        update { machine, _ in
            machine.invalidated(generation: generation)
            return []
        }
    }

    public func invalidate(_ token: UnsafeRawBufferPointer) {
        update { machine, _ in
            if let cached = machine.current, cached.token.equals(token) {
                machine.invalidated(generation: cached.generation)
            }
            return []
        }
    }

    public func clear() {
        update { machine, _ in
            machine.cleared()
            return []
        }
    }

    /// Ends all waits, and drops the token (T10). The result of a provider call in progress is discarded.
    public func close() {
        update { machine, _ in
            isClosed = true
            return machine.freed()
        }
        finishAlone()
    }

    // MARK: - For providers

    func answered(_ call: UInt64, _ token: SecretBytes?, life: Double) -> Bool {
        var isTaken = false
        update { machine, moment in
            let actions = machine.answered(call, token, life: life, at: moment)
            isTaken = actions != nil
            return actions ?? []
        }
        return isTaken
    }

    func failed(_ call: UInt64, _ failure: ProviderFailure, isRetryable: Bool, leastDelay: Double) -> Bool {
        var isTaken = false
        update { machine, moment in
            let actions = machine.failed(
                call, failure, isRetryable: isRetryable, leastDelay: leastDelay, at: moment)
            isTaken = actions != nil
            return actions ?? []
        }
        return isTaken
    }

    // MARK: - Events and actions

    private func update(_ event: (inout Machine, TokenMoment) -> [Machine.Action]) {
        let moment = clock.moment
        shim_monitor_lock(monitor)
        finish(event(&machine, moment), at: moment)
    }

    /// With the lock held, which it releases: after an event.
    private func finish(_ actions: [Machine.Action], at moment: TokenMoment) {
        let actions = actions + settle(at: moment)
        guard clockUser != nil else {
            shim_monitor_unlock(monitor)
            return run(actions)
        }
        runningUpdates += 1
        updateClock()
        shim_monitor_unlock(monitor)
        run(actions)
        shim_monitor_lock(monitor)
        runningUpdates -= 1
        updateClock()
        shim_monitor_unlock(monitor)
    }

    /// With the lock held.
    private func updateClock() {
        if let clockUser { clock.manual?.set(clockUser, clockActivity) }
    }

    /// With the lock held: what a manual clock has to wait for before it advances by itself.
    private var clockActivity: AutoAdvance.Activity {
        if runningUpdates > 0 || !outbox.isEmpty { return .work }
        if !isHosted, let due = machine.nextTimer?.nanoseconds, alarmDue != due || clock.monotonic.nanoseconds >= due {
            return .work  // The source's thread is about to look at its timer.
        }
        return machine.isCalling && provider.mayBlock ? .slow : .none
    }

    /// With the lock held: updates what readers see, and makes sure that a thread or a loop waits for the timer.
    /// Returns the actions to run if none can.
    private func settle(at moment: TokenMoment) -> [Machine.Action] {
        if !machine.isFetching { hostedCall = nil }
        if let cached = machine.current, clock.isSystem,
            machine.readableUntil.nanoseconds >= moment.boottime.nanoseconds + TokenCache.leastTime
        {
            let token = AccessToken(cached, clock: clock)
            cache.put(generation: cached.generation) { makeItem(token) }
        } else {
            cache.clear()
        }
        if machine.nextTimer != nil, !isHosted, !startThread() { return machine.couldNotWait(at: moment) }
        if hasThread { shim_monitor_wake_all(monitor) }
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

    private func callProvider(_ request: TokenRequest, _ call: UInt64) {
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
        update { machine, moment in machine.couldNotCall(call, failure, at: moment) }
    }

    /// What hangs keeps its thread, and is not to get ever more of them.
    private func mayRunAnother() -> Bool {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        guard runningCalls < Self.maximumRunningCalls else { return false }
        runningCalls += 1
        return true
    }

    private func callReturned() {
        shim_monitor_lock(monitor)
        runningCalls -= 1
        shim_monitor_unlock(monitor)
    }

    /// Tells waiters, in this order: each in its own way.
    private func deliver(_ waiters: [TokenWaiter], _ result: TokenResult) {
        for waiter in waiters {
            if case .callback = waiter.delivery, post(waiter, result) { continue }
            waiter.finish(result)
        }
    }

    // MARK: - Loops without a thread

    /// The loop that the provider's requests run on.
    var loop: (any ProviderLoop)? { provider.loop }

    /// With the lock held.
    private func add(_ guest: TokenGuest) {
        guard !guest.needsHost else { return }
        guest.needsHost = true
        guest.next = guests
        guests = guest
    }

    /// With the lock held.
    private func remove(_ guest: TokenGuest) {
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

    /// False if a thread is to make this call of the provider.
    private func leaveToHosts(_ call: UInt64) -> Bool {
        shim_monitor_lock(monitor)
        let isLeft = isHosted
        if isLeft { hostedCall = call }
        var next = isLeft ? guests : nil
        while let guest = next {
            guest.host.wakeForGuests()
            next = guest.next
        }
        shim_monitor_unlock(monitor)
        return isLeft
    }

    private func takeHostedCall() -> UInt64? {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        defer { hostedCall = nil }
        return hostedCall
    }

    /// What a host does on its loop: calls the provider, and checks the timer. Returns when the next work is due, or
    /// nil.
    func help(_ guest: TokenGuest) -> Int64? {
        if let call = takeHostedCall() { provider.provide(TokenRequest(source: self, call: call, isHosted: true)) }
        update { machine, moment in machine.timePassed(at: moment) }
        let isBusy = loop?.turnAsGuest() == true
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        if hostedCall != nil { return 0 }
        guard machine.isFetching || isBusy else {
            remove(guest)
            return nil
        }
        return isHosted ? machine.nextTimer?.nanoseconds ?? .max : .max
    }

    /// That loop is closed.
    func leave(_ guest: TokenGuest) {
        shim_monitor_lock(monitor)
        remove(guest)
        shim_monitor_unlock(monitor)
        finishAlone()
    }

    /// The response to a request in progress may have a new refresh token, even if no waiter is left.
    private func finishAlone() {
        shim_monitor_lock(monitor)
        let isAlone = isClosed && guests == nil
        shim_monitor_unlock(monitor)
        if isAlone { loop?.resumeWithThread() }
    }

    /// Somebody waits who drives no loop.
    private func resumeWithThreads() {
        shim_monitor_lock(monitor)
        let wasHosted = isHosted
        isHosted = false
        shim_monitor_unlock(monitor)
        guard wasHosted else { return }
        if let call = takeHostedCall() { callProvider(TokenRequest(source: self, call: call), call) }
        loop?.resumeWithThread()
        update { _, _ in [] }  // Starts the thread that looks at the time.
    }

    // MARK: - The source's thread

    /// False if there is no thread to do it.
    private func post(_ waiter: TokenWaiter, _ result: TokenResult) -> Bool {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        guard startThread() else { return false }
        outbox.append((waiter, result))
        shim_monitor_wake_all(monitor)
        return true
    }

    /// With the lock held. False if no thread can be started: then a provider call does not time out.
    private func startThread() -> Bool {
        if hasThread { return true }
        let context = Unmanaged.passRetained(self)
        hasThread = shim_thread_start(
            { context in
                guard let context else { return }
                Unmanaged<TokenSource>.fromOpaque(context).takeRetainedValue().runThread()
            }, nil, context.toOpaque())
        if !hasThread { context.release() }
        return hasThread
    }

    private func runThread() {
        shim_monitor_lock(monitor)
        while true {
            if !outbox.isEmpty {
                let batch = outbox
                outbox = []
                shim_monitor_unlock(monitor)
                for (waiter, result) in batch { waiter.finish(result) }
                shim_monitor_lock(monitor)
            } else if let due = machine.nextTimer {
                guard clock.monotonic.nanoseconds < due.nanoseconds else {
                    shim_monitor_unlock(monitor)
                    update { machine, moment in machine.timePassed(at: moment) }
                    shim_monitor_lock(monitor)
                    continue
                }
                wait(until: due)
            } else {
                break
            }
        }
        hasThread = false
        updateClock()
        shim_monitor_unlock(monitor)
    }

    /// With the lock held: until that time has come, or something happens.
    private func wait(until due: Instant) {
        switch clock {
        case .system: _ = shim_monitor_wait_until(monitor, due.nanoseconds)
        case .manual(let clock):
            guard let clockUser else { return }
            alarmDue = due.nanoseconds
            let hasToWait = clock.wait(clockUser, until: alarmDue, clockActivity, isEvent: false) { [self] in
                shim_monitor_lock(monitor)
                shim_monitor_wake_all(monitor)
                shim_monitor_unlock(monitor)
            }
            if hasToWait {
                _ = shim_monitor_wait_until(monitor, .max)
                clock.resume(clockUser)
            }
            alarmDue = .min
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
