/// A token source as events and actions. It calls nothing and waits for nothing.
///
/// ```
///            asked             failed, and may be asked again
///  resting ────────► calling ────────────────────────────────► waiting
///     ▲                │  ▲                                        │
///     └──── ended ◄────┘  └──────────────── timePassed ◄───────────┘
/// ```
///
/// At most one provider call is in progress (T3). Each has a number, and an answer with another number is ignored (T4).
/// A call that began before a `clear` is outdated (T8): earlier waiters still get its result, but later ones wait for
/// the next call, and the result is not stored.
public struct TokenMachine<Token, Waiter> {
    public enum Action {
        /// Call the provider; its answer must be reported with this number.
        case call(UInt64)
        /// The result was stored; deliver it to these waiters, in this order.
        case wake([Waiter], Ending)
    }

    public enum Ending {
        case token(CachedToken)
        case failure(TokenFailure)
    }

    /// A token from a provider.
    public struct CachedToken {
        public let token: Token
        /// Distinguishes tokens without showing them (T1); counted from 1 in order of arrival.
        public let generation: UInt64
        public fileprivate(set) var life: TokenLife
        /// From this time on it is renewed ahead (T11).
        fileprivate let renewAt: Instant
    }

    public enum Answer {
        case token(CachedToken)
        /// Will be woken, unless it leaves with this ticket.
        case waiting(ticket: UInt64)
        case closed
    }

    private let settings: TokenSettings
    /// Its token is never dropped (T12).
    private let isFixed: Bool
    private var random: SplitMix64
    private var cached: CachedToken?
    private(set) var fetch: Fetch?
    private var lastGeneration: UInt64 = 0
    private var lastCall: UInt64 = 0
    private var lastTicket: UInt64 = 0
    private var isClosed = false
    /// Failed provider calls since the last token arrived.
    private var failures: Int32 = 0
    /// After a failure, no fetch begins before this time (CLOCK_BOOTTIME) for callers that still have a token (T11).
    private var quietUntil = Instant(nanoseconds: .min)

    /// All provider calls that are needed to get one token.
    struct Fetch {
        var state: State
        /// Provider calls, including the current one.
        var attempts: Int32
        /// The fetch fails at this time.
        let limit: Instant
        /// Waiters that get the result of the call.
        var queue = WaiterQueue<Waiter>()
        /// Waiters that came after a clear, while an earlier call was still in progress.
        var laterQueue = WaiterQueue<Waiter>()

        enum State {
            case calling(UInt64, limit: Instant, isOutdated: Bool)
            case waiting(until: Instant)
        }

        var isOutdated: Bool {
            if case .calling(_, _, isOutdated: true) = state { true } else { false }
        }
    }

    public init(settings: TokenSettings, random: SplitMix64) {
        self.init(settings, random, isFixed: false)
    }

    private init(_ settings: TokenSettings, _ random: SplitMix64, isFixed: Bool) {
        self.settings = settings
        self.random = random
        self.isFixed = isFixed
    }

    /// With a token that never expires.
    public init(fixed token: Token, settings: TokenSettings, at moment: TokenMoment) {
        self.init(settings, SplitMix64(state: 0), isFixed: true)
        lastGeneration = 1
        cached = CachedToken(token: token, generation: 1, life: .endless(from: moment), renewAt: .distantFuture)
    }

    // MARK: - State

    /// The stored token, usable or not.
    public var current: CachedToken? { cached }

    /// Until when (CLOCK_BOOTTIME) the stored token may be returned without further checks, except of the wall clock.
    public var readableUntil: Instant {
        guard let cached else { return Instant(nanoseconds: .min) }
        let end = usableUntil(cached)
        // While a fetch runs, no caller needs to start another one.
        guard fetch == nil else { return end }
        return Instant(nanoseconds: min(renewalDue(cached).nanoseconds, end.nanoseconds))
    }

    /// A token is being fetched.
    public var isFetching: Bool { fetch != nil }

    /// A provider call is in progress.
    public var isCalling: Bool {
        if case .calling = fetch?.state { true } else { false }
    }

    /// When to call `timePassed`, on CLOCK_MONOTONIC.
    public var nextTimer: Instant? {
        guard let fetch else { return nil }
        var due = fetch.limit.nanoseconds
        switch fetch.state {
        case .calling(_, let limit, _): due = min(due, limit.nanoseconds)
        case .waiting(let until): due = min(due, until.nanoseconds)
        }
        return due == .max ? nil : Instant(nanoseconds: due)
    }

    // MARK: - Events

    /// A caller wants a token now, without waiting. A fetch ahead may begin (T11).
    public mutating func read(at moment: TokenMoment) -> (CachedToken?, [Action]) {
        guard !isClosed, var candidate = cached else { return (nil, []) }
        candidate.life.look(at: moment)
        cached = candidate
        guard isUsable(candidate, at: moment) else { return (nil, []) }
        guard fetch == nil, moment.boottime.nanoseconds >= renewalDue(candidate).nanoseconds else {
            return (candidate, [])
        }
        return (candidate, beginFetch(at: moment))
    }

    /// A caller wants a token, and waits for it if necessary.
    public mutating func asked(by waiter: Waiter, at moment: TokenMoment) -> (Answer, [Action]) {
        guard !isClosed else { return (.closed, []) }
        let (token, actions) = read(at: moment)
        if let token { return (.token(token), actions) }
        cached = nil  // It will not be used again, so it must not stay in memory (T1).
        let begun = fetch == nil ? beginFetch(at: moment) : []
        lastTicket += 1
        let ticket = lastTicket
        if fetch?.isOutdated == true {
            fetch?.laterQueue.append(waiter, ticket: ticket)
        } else {
            fetch?.queue.append(waiter, ticket: ticket)
        }
        return (.waiting(ticket: ticket), begun)
    }

    /// A waiter leaves (T9). False if it is too late: it was woken, or will be.
    public mutating func left(ticket: UInt64) -> Bool {
        fetch?.queue.remove(ticket: ticket) == true || fetch?.laterQueue.remove(ticket: ticket) == true
    }

    /// The provider has answered a call with a token (nil: an invalid one, T6) and its lifetime in seconds. Nil: this
    /// is not the current call, and the answer is ignored.
    public mutating func answered(_ call: UInt64, _ token: Token?, life: Double, at moment: TokenMoment) -> [Action]? {
        guard isUnderWay(call) else { return nil }
        guard let token else { return end(.failure(.invalidToken), at: moment) }
        guard life > settings.leastLife, life < .infinity else { return end(.failure(.invalidExpiration), at: moment) }
        let new = makeCachedToken(token, life: life, at: moment)
        if fetch?.isOutdated == false { cached = new }
        return end(.token(new), at: moment)
    }

    /// A token that was known before the first fetch (T12), and its remaining lifetime in seconds: more than 0.
    public mutating func adopt(_ token: Token, life: Double, at moment: TokenMoment) {
        cached = makeCachedToken(token, life: life, at: moment)
    }

    /// A provider call has failed. `leastDelay`: the minimum delay in seconds before the next call (T7). Nil as for
    /// `answered`.
    public mutating func failed(
        _ call: UInt64, _ failure: ProviderFailure, isRetryable: Bool, leastDelay: Double = 0, at moment: TokenMoment
    ) -> [Action]? {
        guard isUnderWay(call) else { return nil }
        return callFailed(failure, isRetryable: isRetryable, leastDelay: leastDelay, at: moment)
    }

    /// The provider could not be called, or its answer ends the fetch.
    public mutating func couldNotCall(_ call: UInt64, _ failure: TokenFailure, at moment: TokenMoment) -> [Action] {
        guard isUnderWay(call) else { return [] }
        return end(.failure(failure), at: moment)
    }

    /// No thread can wait for `nextTimer`: the provider may still answer, but would not be called again.
    public mutating func couldNotWait(at moment: TokenMoment) -> [Action] {
        guard case .waiting = fetch?.state else { return [] }
        return end(.failure(.exhausted), at: moment)
    }

    /// The time of `nextTimer` may have come.
    public mutating func timePassed(at moment: TokenMoment) -> [Action] {
        guard let fetch else { return [] }
        let now = moment.monotonic.nanoseconds
        guard now < fetch.limit.nanoseconds else {
            return end(.failure(.provider(.fetchTimedOut, attempts: fetch.attempts)), at: moment)
        }
        switch fetch.state {
        case .calling(_, let limit, _) where now >= limit.nanoseconds:
            return callFailed(.timedOut, isRetryable: true, at: moment)
        case .waiting(let until) where now >= until.nanoseconds:
            return [beginCall(attempt: fetch.attempts &+ 1, at: moment)]
        case .calling, .waiting: return []
        }
    }

    /// A token was rejected: it is dropped if it is still the stored one (T8).
    public mutating func invalidated(generation: UInt64) {
        if cached?.generation == generation, !isFixed { cached = nil }
    }

    /// Drops the stored token, and the result of the call in progress (T8).
    public mutating func cleared() {
        guard !isFixed else { return }
        cached = nil
        if case .calling(let call, let limit, _) = fetch?.state {
            fetch?.state = .calling(call, limit: limit, isOutdated: true)
        }
    }

    /// The source is freed (T10): its waiters are woken, and all later events are ignored.
    public mutating func freed() -> [Action] {
        isClosed = true
        cached = nil
        guard var fetch else { return [] }
        self.fetch = nil
        fetch.queue.append(contentsOf: &fetch.laterQueue)
        return wake(&fetch.queue, .failure(.closed))
    }

    // MARK: - Steps

    private func isUsable(_ cached: CachedToken, at moment: TokenMoment) -> Bool {
        moment.boottime.nanoseconds < usableUntil(cached).nanoseconds
    }

    /// A token is usable up to the leeway (T2), or until it expires if stale tokens are served (T11).
    private func usableUntil(_ cached: CachedToken) -> Instant {
        cached.life.end(leaving: settings.servesStale ? 0 : settings.refreshLeeway)
    }

    /// From this time on, the next caller that gets this token also starts a fetch.
    private func renewalDue(_ cached: CachedToken) -> Instant {
        var due = cached.renewAt.nanoseconds
        if settings.servesStale { due = min(due, cached.life.end(leaving: settings.refreshLeeway).nanoseconds) }
        return Instant(nanoseconds: max(due, quietUntil.nanoseconds))
    }

    private func isUnderWay(_ call: UInt64) -> Bool {
        if case .calling(let current, _, _) = fetch?.state { current == call } else { false }
    }

    private mutating func makeCachedToken(_ token: Token, life seconds: Double, at moment: TokenMoment) -> CachedToken {
        let life = TokenLife(seconds: seconds, from: moment)
        var renewAt = Instant.distantFuture
        if settings.refreshAheadWindow > 0 {
            let window = min(settings.refreshAheadWindow, Delay.clamped(seconds) / 2)
            let end = life.end(leaving: settings.refreshLeeway)
            let start = max(life.end(leaving: settings.refreshLeeway + window).nanoseconds, moment.boottime.nanoseconds)
            renewAt = randomMoment(from: Instant(nanoseconds: start), to: end)
        }
        lastGeneration += 1
        return CachedToken(token: token, generation: lastGeneration, life: life, renewAt: renewAt)
    }

    private mutating func randomMoment(from start: Instant, to end: Instant) -> Instant {
        let range = Double(max(end.nanoseconds - start.nanoseconds, 0)) / 1e9
        return start.advanced(bySeconds: range * random.nextUnit())
    }

    private mutating func beginFetch(at moment: TokenMoment) -> [Action] {
        fetch = Fetch(
            state: .waiting(until: moment.monotonic), attempts: 0,
            limit: moment.monotonic.advanced(byNanoseconds: settings.fetchTimeout))
        return [beginCall(attempt: 1, at: moment)]
    }

    private mutating func beginCall(attempt: Int32, at moment: TokenMoment) -> Action {
        lastCall += 1
        let limit = moment.monotonic.advanced(byNanoseconds: settings.providerTimeout)
        fetch?.attempts = attempt
        fetch?.state = .calling(lastCall, limit: limit, isOutdated: false)
        return .call(lastCall)
    }

    /// A failed call is followed by a wait (T5), or ends the fetch.
    private mutating func callFailed(
        _ failure: ProviderFailure, isRetryable: Bool, leastDelay: Double = 0, at moment: TokenMoment
    ) -> [Action] {
        guard var fetch else { return [] }
        guard isRetryable, fetch.attempts < settings.retryPolicy.maximumAttempts else {
            // The text of a retryable failure is only for the provider's log (T6).
            let shown: ProviderFailure
            if isRetryable, case .failed = failure { shown = .failed(.none) } else { shown = failure }
            return end(.failure(.provider(shown, attempts: fetch.attempts)), leastDelay: leastDelay, at: moment)
        }
        let delay = settings.retryPolicy.delay(afterFailure: fetch.attempts, unitRandom: random.nextUnit())
        fetch.state = .waiting(until: moment.monotonic.advanced(bySeconds: max(delay, leastDelay)))
        // The next call is not outdated: all waiters share it.
        fetch.queue.append(contentsOf: &fetch.laterQueue)
        self.fetch = fetch
        return []
    }

    /// Ends the fetch. Waiters that came after a clear get a new one. `leastDelay`: the minimum delay in seconds before
    /// a renewal begins while callers still have a token (T7, T11).
    private mutating func end(_ ending: Ending, leastDelay: Double = 0, at moment: TokenMoment) -> [Action] {
        guard var ended = fetch else { return [] }
        fetch = nil
        switch ending {
        case .token:
            failures = 0
            quietUntil = Instant(nanoseconds: .min)
        case .failure:
            failures = min(failures + min(ended.attempts, 1_000_000), 1_000_000)
            let delay = settings.retryPolicy.delay(afterFailure: failures, unitRandom: random.nextUnit())
            quietUntil = moment.boottime.advanced(bySeconds: max(delay, leastDelay))
        }
        let woken = wake(&ended.queue, ending)
        guard ended.laterQueue.count > 0 else { return woken }
        let begun = beginFetch(at: moment)
        fetch?.queue = ended.laterQueue
        return woken + begun
    }

    private func wake(_ queue: inout WaiterQueue<Waiter>, _ ending: Ending) -> [Action] {
        queue.count == 0 ? [] : [.wake(queue.takeAll(), ending)]
    }
}
