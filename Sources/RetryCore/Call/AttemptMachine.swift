/// One attempt, from its turn to its end, as events in and actions out. It sends nothing, keeps no bytes and reads no clock.
///
/// An attempt is one sending, or several: a redirect is followed, a dead connection replaced (B13), an unusable one avoided
/// (W1, W3), and HTTP/1.1 spoken where the server refuses HTTP/2. Each sending begins with a new `Exchange`, so nothing that
/// is known of one can be taken for the next one's.
///
/// ```
/// idle ─► queued ─startSending─► connecting ─maySend─► sending ─statusLine─► head ─headEnded─► body ─transportEnded─► ended
///            ▲                                            ▲                   │                  ▲                       ▲
///            │                                            └─────── 1xx ───────┤                  │ decided               │
///            │                                                                └─► waitingForDecision ────────────────────┤
///            └───────────────── sendAgain: redirect, reconnect, refusal, unusable connection ◄───────────────────────────┘
/// ```
public struct AttemptMachine {
    public enum State: Equatable {
        /// There is no attempt yet.
        case idle
        /// It waits for its token or its turn.
        case queued
        /// Nothing has been sent.
        case connecting
        /// The request is on its way, and no status line, or only those of 1xx responses, has come.
        case sending
        case head
        /// The head is whole. The strategy is asked whether it retries this response, and nothing of the body is taken
        /// until it has answered (B15). `end`: how the transport has ended meanwhile.
        case waitingForDecision(end: AttemptEnd?)
        case body
        case ended
    }

    public internal(set) var state = State.idle
    /// What is known of the present sending, or of the last one.
    public internal(set) var exchange = Exchange()

    /// Nanoseconds of the monotonic clock, and of the boot-time clock, on which the resource time runs (M6).
    public private(set) var startedAt: Int64 = 0
    public private(set) var startedBoot: Int64 = 0
    /// Some sending of it has begun.
    public private(set) var hasBegun = false
    /// Its present sending was to use another connection: nothing was sent on the one that it had first.
    public internal(set) var wasNotSent = false
    /// Requests that were sent again at once, on a new connection.
    public internal(set) var reconnects: Int32 = 0
    /// One of these: the server refused it over HTTP/2 without looking at it.
    public internal(set) var wasRefused = false
    public internal(set) var redirects: Int32 = 0
    let limits: ResponseLimits

    public init(limits: ResponseLimits) {
        self.limits = limits
    }

    /// It has to be in the record, however its call ends (B10).
    public var isOpen: Bool { state != .idle && state != .ended }

    /// From now on it is in the record.
    public mutating func open(at now: Int64, boottime: Int64) {
        state = .queued
        startedAt = now
        startedBoot = boottime
    }

    /// Its turn has come. True: for the first time.
    public mutating func begin(at now: Int64, boottime: Int64) -> Bool {
        guard !hasBegun else { return false }
        open(at: now, boottime: boottime)
        hasBegun = true
        return true
    }

    /// A sending begins. False: only its connection is another one, so that nobody is told.
    public mutating func startSending(_ request: Exchange.Request, at now: Int64) -> Bool {
        exchange = Exchange(request, at: now)
        state = .connecting
        defer { wasNotSent = false }
        return !wasNotSent
    }

    /// It is over, or its call is.
    public mutating func end() {
        state = .ended
    }

    /// How much of the request has left this machine. What was sent before a redirect or a reconnect counts: the server may
    /// have acted on it (B12). A refused stream has done nothing.
    public var requestSent: RequestSent {
        let hasReconnected = reconnects > (wasRefused ? 1 : 0)
        return exchange.sendings == 0 && redirects == 0 && !hasReconnected ? .nothing : .some
    }

    // MARK: - Before the response

    public enum Permission: Equatable {
        case send
        /// Not on this connection; the sending begins again on another one.
        case avoid(ConnectionProblem)
        /// The transport means to send the request a second time, on a connection of its own choosing, since the first one
        /// was dead: that is not for it to decide (B13).
        case veto
    }

    /// The transport is about to send the request on a connection.
    public mutating func maySend(over agreed: ConnectionProtocol, _ problem: ConnectionProblem?) -> Permission {
        if let problem, exchange.sendings == 0 {
            exchange.rule(.notSent)
            return .avoid(problem)
        }
        exchange.sendings += 1
        exchange.agreed = agreed
        switch agreed {
        case .http1: exchange.isMultiplexed = false
        case .http2: exchange.isMultiplexed = true
        // Until the first line of the response says that it is not.
        case .unknown: exchange.isMultiplexed = exchange.request.mayMultiplex
        }
        guard exchange.sendings == 1 else {
            exchange.rule(.vetoed)
            return .veto
        }
        if state == .connecting { state = .sending }
        return .send
    }

    /// The server, not the caller, has chosen HTTP/2, and may still refuse it.
    public var mayNeedHTTP1: Bool { exchange.request.negotiatesHTTP2 && exchange.status == 0 }

    /// The server says that it serves this origin over HTTP/1.1 only (RFC 9113, 7). It may say so on any stream of a
    /// connection. False: it is not about this sending.
    public mutating func needsHTTP1() -> Bool {
        exchange.isHTTP1Needed = mayNeedHTTP1
        return exchange.isHTTP1Needed
    }

    // MARK: - Pauses

    /// Nothing moves, and nothing is expected to: whoever has to take or give something is not ready (M1).
    public var isHeld: Bool { exchange.isPaused || isWaitingForDecision }

    public var isWaitingForDecision: Bool {
        if case .waitingForDecision = state { return true }
        return false
    }

    /// A callback of the caller's has nothing to send, or takes nothing, until the call is resumed.
    public mutating func paused() {
        exchange.isPaused = true
    }

    /// The call is resumed. False: the body waits for the decision, or there is nothing to resume.
    public mutating func resumed() -> Bool {
        switch state {
        case .waitingForDecision, .idle, .queued, .ended: return false
        case .connecting, .sending, .head, .body:
            exchange.isPaused = false
            return true
        }
    }

    /// Something on this machine has failed. The transport is to stop.
    public mutating func failed(_ failure: LocalFailure) {
        exchange.rule(.local(failure))
    }

    // MARK: - Times

    /// Something moves (M1).
    public mutating func moved(at now: Int64) {
        exchange.lastActivity = now
    }

    /// The request cannot be sent yet.
    public var isConnecting: Bool { exchange.sendings == 0 }

    /// What ends the sending first, if nothing moves, and in how many nanoseconds; below 0 it is overdue.
    public func nextTimeout(_ timeouts: AttemptTimeouts, now: Int64, boottime: Int64) -> (
        cause: NetworkExceptionCause, left: Int64
    ) {
        var next = (
            cause: NetworkExceptionCause.timeoutResource,
            left: timeouts.resource == .max ? .max : timeouts.resource - (boottime - startedBoot)
        )
        if !isHeld, timeouts.idle != .max {
            let left = saturated(exchange.lastActivity, timeouts.idle) - now
            if left < next.left { next = (.timeoutIdle, left) }
        }
        if isConnecting, timeouts.connect != .max {
            let left = saturated(exchange.startedAt, timeouts.connect) - now
            if left <= next.left { next = (.connect, left) }
        }
        return next
    }
}

/// The times of an attempt, in nanoseconds; `Int64.max` means none.
public struct AttemptTimeouts {
    /// M1
    public let idle: Int64
    /// M2
    public let resource: Int64
    /// Until the request can be sent (W5).
    public let connect: Int64

    public init(idle: Int64, resource: Int64, connect: Int64) {
        self.idle = idle
        self.resource = resource
        self.connect = connect
    }
}

/// The sum, at most `Int64.max`.
public func saturated(_ time: Int64, _ nanoseconds: Int64) -> Int64 {
    let (sum, overflow) = time.addingReportingOverflow(nanoseconds)
    return overflow ? .max : sum
}
