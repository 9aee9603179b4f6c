/// Holds the attempts to an origin that asked for patience, and then lets them through little by little (C3).
///
/// A gate is made when an origin answers 429, or 503, with a usable Retry-After, and is closed until that moment. Then one
/// attempt goes through. In each round, once as many are in flight as may be, the first answer that is neither 429 nor 503
/// doubles that number, until there is no limit any more and the gate can be dropped. Another 429 or 503 with a Retry-After
/// closes it again.
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
/// A server that limits the rate closes the gate again and again. What it answered well in one opening is the quota of the
/// next: where that is used up, the steps begin anew with one attempt, which finds out whether there is more. So a server
/// that allows 50 requests a second gets about 51, not 50 and as many as the doubling had come to.
///
/// A pass says in which round an attempt was let through, so that those of earlier rounds, and those that began before the
/// gate closed, free no place. Deadlines and cancels of whoever waits are not the gate's.
public struct OriginGate {
    /// The right to one attempt. Give it back with `answered` or `gaveUp`.
    public struct Pass: Equatable, Sendable {
        /// Grows whenever the steps begin anew.
        fileprivate let opening: UInt32
        /// How many were allowed in flight.
        fileprivate let step: Int32

        /// Of an attempt that began while there was no gate.
        public static var withoutGate: Pass { Pass(opening: 0, step: 0) }
    }

    public enum Admission: Equatable, Sendable {
        case go(Pass)
        /// Wait for an action that admits more.
        case hold
    }

    public enum Action: Equatable, Sendable {
        case none
        /// Hold everything; call `timeHasCome` at that moment of the monotonic clock, in nanoseconds.
        case closed(until: Int64)
        /// It was closed before, and stays so for longer: the same.
        case extended(until: Int64)
        /// So many of the attempts that are held may ask again.
        case admit(Int32)
        /// All may go, and the gate can be dropped.
        case opened
    }

    /// How an attempt was answered.
    public enum Answer: Equatable, Sendable {
        /// 429 or 503 with a usable Retry-After: seconds.
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
        /// Nothing goes before that moment, in nanoseconds.
        case closed(until: Int64)
        case limited(Limit)
    }

    private struct Limit {
        /// Of this opening.
        var allowed: Int32 = 1
        var inFlight: Int32 = 0
        /// As many as are allowed have been in flight. An origin that was sent fewer has not shown that it can take more.
        var isFull = false
        /// Since the gate was last closed.
        var admitted: Int64 = 0
        var answeredWell: Int64 = 0
    }

    private var state: State
    private var opening: UInt32 = 0
    /// The first since the gate was last closed.
    private var firstOpening: UInt32 = 1
    /// How many attempts were answered well before the gate closed again; nil before that, and once more than that have been.
    private var quota: Int64?
    private let unlimited: Int32

    /// A closed gate. `unlimited`: from so many attempts in flight on there is no limit; 2 or more.
    public init(closedUntil moment: Int64, unlimited: Int32) {
        state = .closed(until: moment)
        self.unlimited = max(unlimited, 2)
    }

    /// The moment up to which an answer closes a gate; nil if it closes none.
    public static func moment(of answer: Answer, now: Instant) -> Int64? {
        guard case .comeBack(let seconds) = answer else { return nil }
        return now.advanced(bySeconds: seconds).nanoseconds
    }

    /// How many attempts could begin now.
    @inline(never)
    public var places: Int32 {
        guard case .limited(let limit) = state else { return 0 }
        return isQuotaUsedUp(limit) ? 1 : max(limit.allowed - limit.inFlight, 0)
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

    /// The moment of `closed` may have come. Too early, it does nothing.
    public mutating func timeHasCome(now: Instant) -> Action {
        guard case .closed(let until) = state, now.nanoseconds >= until else { return .none }
        beginAnew()
        firstOpening = opening
        state = .limited(Limit())
        return .admit(1)
    }

    /// An attempt to the origin was answered, whether the gate let it through or it began earlier.
    @inline(never)
    public mutating func answered(_ answer: Answer, _ pass: Pass, now: Instant) -> Action {
        switch (answer, state) {
        case (.comeBack(let seconds), _):
            return close(until: now.advanced(bySeconds: seconds).nanoseconds)
        case (.other, .closed):
            // Late, but part of what the last opening came to.
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

    /// An attempt ended without an answer: a network exception, a cancel. The next one may try instead.
    public mutating func gaveUp(_ pass: Pass) -> Action {
        free(pass)
    }

    /// The latest moment that was asked for counts.
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

    /// Let through since the gate was last closed; of a closed one, when it was last open.
    private func wasOfLastOpening(_ pass: Pass) -> Bool { pass.opening >= firstOpening && pass != .withoutGate }

    private mutating func beginAnew() {
        // 0 is what began without a gate.
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
