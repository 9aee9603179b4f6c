/// One attempt, from its turn to its end, as events and actions. It sends nothing, stores no bytes and reads no clock.
///
/// An attempt consists of one or several sendings: it follows redirects, replaces a dead connection (B13), avoids an
/// unusable one (W1, W3), and uses HTTP/1.1 if the server refuses HTTP/2. Each sending begins with a new `Exchange`, so
/// the state of one sending cannot be mistaken for that of the next.
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
        /// Waiting for its token or its turn.
        case queued
        /// Nothing has been sent.
        case connecting
        /// The request is being sent; no status line has arrived, except those of 1xx responses.
        case sending
        case head
        /// The head is complete. The strategy decides whether to retry this response, and until then no part of the
        /// body is accepted (B15). `end`: how the transport has ended meanwhile.
        case waitingForDecision(end: AttemptEnd?)
        case body
        case ended
    }

    public internal(set) var state = State.idle
    /// The state of the current sending, or of the last one.
    public internal(set) var exchange = Exchange()

    /// In nanoseconds: monotonic time, and boot time, which counts for the resource timeout (M6).
    public private(set) var startedAt: Int64 = 0
    public private(set) var startedBoot: Int64 = 0
    /// A sending of it has begun.
    public private(set) var hasBegun = false
    /// The current sending only changes the connection: nothing was sent on the first one.
    public internal(set) var wasNotSent = false
    /// Number of immediate resends on a new connection.
    public internal(set) var reconnects: Int32 = 0
    /// One of these resends: the server refused HTTP/2 without processing the request.
    public internal(set) var wasRefused = false
    public internal(set) var redirects: Int32 = 0
    let limits: ResponseLimits

    public init(limits: ResponseLimits) {
        self.limits = limits
    }

    /// It must appear in the record, however its call ends (B10).
    public var isOpen: Bool { state != .idle && state != .ended }

    /// It appears in the record from now on.
    public mutating func open(at now: Int64, boottime: Int64) {
        state = .queued
        startedAt = now
        startedBoot = boottime
    }

    /// Its turn has come. Returns true for the first time.
    public mutating func begin(at now: Int64, boottime: Int64) -> Bool {
        guard !hasBegun else { return false }
        open(at: now, boottime: boottime)
        hasBegun = true
        return true
    }

    /// A sending begins. False: only the connection has changed, so this is not reported.
    public mutating func startSending(_ request: Exchange.Request, at now: Int64) -> Bool {
        exchange = Exchange(request, at: now)
        state = .connecting
        defer { wasNotSent = false }
        return !wasNotSent
    }

    /// The attempt or its call is over.
    public mutating func end() {
        state = .ended
    }

    /// How much of the request has been sent. Data sent before a redirect or a reconnect counts: the server may have
    /// acted on it (B12). A refused stream does not count.
    public var requestSent: RequestSent {
        let hasReconnected = reconnects > (wasRefused ? 1 : 0)
        return exchange.sendings == 0 && redirects == 0 && !hasReconnected ? .nothing : .some
    }

    // MARK: - Before the response

    public enum Permission: Equatable {
        case send
        /// Not on this connection; the sending begins again on another one.
        case avoid(ConnectionProblem)
        /// The transport is about to send the request a second time on a connection that it chose, because the first
        /// one was dead: the transport may not decide this (B13).
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
        // Assumed until the first line of the response tells the version.
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

    /// The server serves this origin only over HTTP/1.1 (RFC 9113, 7). It may report this on any stream of a
    /// connection. False: this sending is not affected.
    public mutating func needsHTTP1() -> Bool {
        exchange.isHTTP1Needed = mayNeedHTTP1
        return exchange.isHTTP1Needed
    }

    // MARK: - Pauses

    /// No progress is expected: the source or destination of the data is not ready (M1).
    public var isHeld: Bool { exchange.isPaused || isWaitingForDecision }

    public var isWaitingForDecision: Bool {
        if case .waitingForDecision = state { return true }
        return false
    }

    /// A callback has nothing to send, or accepts nothing, until the call is resumed.
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

    /// A local failure. The transport must stop.
    public mutating func failed(_ failure: LocalFailure) {
        exchange.rule(.local(failure))
    }

    // MARK: - Timeouts

    /// There was progress (M1).
    public mutating func moved(at now: Int64) {
        exchange.lastActivity = now
    }

    /// The request cannot be sent yet.
    public var isConnecting: Bool { exchange.sendings == 0 }

    /// The first timeout that will end the sending if there is no progress, and the nanoseconds left; below 0 if
    /// overdue.
    @inline(__always)  // Otherwise, the machine is copied.
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

/// The timeouts of an attempt, in nanoseconds; `Int64.max` means none.
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
