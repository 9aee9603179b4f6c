/// Holds attempts to an origin that has sent a Retry-After, and then lets them through gradually (C3).
///
/// A gate is created when an origin answers 429 or 503 with a usable Retry-After, and stays closed until that time.
/// Then one attempt is let through. In each round, once the allowed number of attempts has been in flight, the first
/// answer other than 429 and 503 doubles that number, until there is no limit and the gate can be dropped. Another 429
/// or 503 with a Retry-After closes it again.
///
/// With `unlimited` 8:
///
/// | what happens           | state                       | action     |
/// |------------------------|-----------------------------|------------|
/// | 429, Retry-After: 1    | closed for 1 s              | `closed`   |
/// | an attempt asks        |                             | `hold`     |
/// | 1 s has passed         | 1 may be in flight          | `admit(1)` |
/// | 200                    | 2 may be in flight          | `admit(2)` |
/// | 200                    | 4 may be, and 1 still is    | `admit(3)` |
/// | 200, of these three    | no limit                    | `opened`   |
///
/// A server with a rate limit closes the gate repeatedly. The number of good answers in one opening is the quota of the
/// next: when it is used up, the steps begin again with one attempt, which finds out whether the server accepts more.
/// So a server that allows 50 requests per second gets about 51, not 50 plus the number that the doubling had reached.
///
/// A pass records the round in which an attempt was let through, so that attempts of earlier rounds, and those from
/// before the gate closed, do not free a slot. Deadlines and cancels of waiting attempts are not the gate's business.
public struct OriginGate {
    /// The right to one attempt. Give it back with `answered` or `gaveUp`.
    public struct Pass: Equatable, Sendable {
        /// Incremented whenever the steps begin again.
        fileprivate let opening: UInt32
        /// How many were allowed in flight.
        fileprivate let step: Int32

        /// For an attempt that began while there was no gate.
        public static var withoutGate: Pass { Pass(opening: 0, step: 0) }
    }

    public enum Admission: Equatable, Sendable {
        case go(Pass)
        /// Wait for an action that admits more.
        case hold
    }

    public enum Action: Equatable, Sendable {
        case none
        /// Hold all attempts; call `timeHasCome` at that monotonic time, in nanoseconds.
        case closed(until: Int64)
        /// The gate was closed already, and stays closed longer. Otherwise the same.
        case extended(until: Int64)
        /// That many of the held attempts may ask again.
        case admit(Int32)
        /// All attempts may begin, and the gate can be dropped.
        case opened
    }

    /// How an attempt was answered.
    public enum Answer: Equatable, Sendable {
        /// 429 or 503 with a usable Retry-After, in seconds.
        case comeBack(after: Double)
        /// 429 or 503 without one.
        case overloaded
        /// Any other status.
        case other

        public init(status: Int32, retryAfter: RetryAfter) {
            guard status == 429 || status == 503 else {
                self = .other
                return
            }
            if case .usable(let seconds, _) = retryAfter {
                self = .comeBack(after: seconds)
            } else {
                self = .overloaded
            }
        }
    }

    private enum State {
        /// No attempt may begin before that time, in nanoseconds.
        case closed(until: Int64)
        case limited(Limit)
    }

    private struct Limit {
        /// In this opening.
        var allowed: Int32 = 1
        var inFlight: Int32 = 0
        /// The allowed number has been in flight. An origin that received fewer has not shown that it can handle more.
        var isFull = false
        /// Since the gate was last closed.
        var admitted: Int64 = 0
        var answeredWell: Int64 = 0
    }

    private var state: State
    private var opening: UInt32 = 0
    /// The first since the gate was last closed.
    private var firstOpening: UInt32 = 1
    /// The number of good answers before the gate closed again; nil before that, and after more attempts than that.
    private var quota: Int64?
    private let unlimited: Int32

    /// A closed gate. `unlimited`: with that many attempts in flight, there is no limit any more; 2 or more.
    public init(closedUntil moment: Int64, unlimited: Int32) {
        state = .closed(until: moment)
        self.unlimited = max(unlimited, 2)
    }

    /// The time until which an answer closes a gate; nil if it does not.
    public static func moment(of answer: Answer, now: Instant) -> Int64? {
        guard case .comeBack(let seconds) = answer else { return nil }
        return now.advanced(bySeconds: seconds).nanoseconds
    }

    /// No attempt may begin before a certain time.
    public var isClosed: Bool {
        if case .closed = state { return true }
        return false
    }

    /// How many attempts could begin now.
    @inline(never)
    public var places: Int32 {
        guard case .limited(let limit) = state else { return 0 }
        return isQuotaUsedUp(limit) ? 1 : max(limit.allowed - limit.inFlight, 0)
    }

    /// The same at that time, in nanoseconds, although `timeHasCome` may still have to be called.
    public func places(at now: Int64) -> Int32 {
        if case .closed(let until) = state, until <= now { return 1 }
        return places
    }

    private func isQuotaUsedUp(_ limit: Limit) -> Bool {
        guard let quota else { return false }
        return limit.admitted >= quota && limit.answeredWell > 0
    }

    /// An attempt wants to begin.
    @inline(never)
    public mutating func asked() -> Admission {
        guard case .limited(var limit) = state else { return .hold }
        if isQuotaUsedUp(limit) {
            beginAnew()
            (limit.allowed, limit.inFlight, limit.isFull) = (1, 0, false)
            quota = nil
        }
        guard limit.inFlight < limit.allowed else { return .hold }
        limit.inFlight += 1
        if limit.inFlight == limit.allowed { limit.isFull = true }
        limit.admitted += 1
        state = .limited(limit)
        return .go(Pass(opening: opening, step: limit.allowed))
    }

    /// The time of `closed` may have come. If not, nothing happens.
    public mutating func timeHasCome(now: Instant) -> Action {
        guard case .closed(let until) = state, now.nanoseconds >= until else { return .none }
        beginAnew()
        firstOpening = opening
        state = .limited(Limit())
        return .admit(1)
    }

    /// An attempt to the origin was answered, whether the gate let it through or it had begun before.
    @inline(never)
    public mutating func answered(_ answer: Answer, _ pass: Pass, now: Instant) -> Action {
        switch (answer, state) {
        case (.comeBack(let seconds), _):
            return close(until: now.advanced(bySeconds: seconds).nanoseconds)
        case (.other, .closed):
            // A late answer, which still belongs to the last opening.
            if wasOfLastOpening(pass) { quota = quota.map { $0 + 1 } }
            return .none
        case (.overloaded, .closed):
            return .none
        case (.overloaded, .limited):
            return free(pass)
        case (.other, .limited(var limit)):
            if wasOfLastOpening(pass) { limit.answeredWell += 1 }
            state = .limited(limit)
            guard pass.opening == opening, pass.step == limit.allowed, limit.isFull else { return free(pass) }
            return widen(limit)
        }
    }

    /// An attempt ended without an answer: by a network exception or a cancel. The next one may try instead.
    public mutating func gaveUp(_ pass: Pass) -> Action {
        free(pass)
    }

    /// The latest requested time counts.
    private mutating func close(until moment: Int64) -> Action {
        switch state {
        case .closed(let until):
            guard until < moment else { return .none }
            state = .closed(until: moment)
            return .extended(until: moment)
        case .limited(let limit):
            quota = max(limit.answeredWell, 1)
            state = .closed(until: moment)
            return .closed(until: moment)
        }
    }

    /// Whether the attempt was let through since the gate last closed or, if it is closed, while it was last open.
    private func wasOfLastOpening(_ pass: Pass) -> Bool { pass.opening >= firstOpening && pass != .withoutGate }

    private mutating func beginAnew() {
        // 0 is reserved for attempts without a gate.
        opening = opening == .max ? 1 : opening + 1
    }

    private mutating func free(_ pass: Pass) -> Action {
        guard case .limited(var limit) = state, pass.opening == opening, limit.inFlight > 0 else { return .none }
        limit.inFlight -= 1
        state = .limited(limit)
        return .admit(1)
    }

    private mutating func widen(_ limit: Limit) -> Action {
        guard limit.allowed < unlimited / 2 + unlimited % 2 else { return .opened }
        var limit = limit
        limit.allowed *= 2
        limit.isFull = false
        limit.inFlight = max(limit.inFlight - 1, 0)
        state = .limited(limit)
        return .admit(limit.allowed - limit.inFlight)
    }
}
