import CShims
import RetryCore

/// The loop that calls are made for.
public protocol CallLoop: AnyObject {
    // From any thread:

    func cancel(_ call: Call)

    /// Resumes a body that a callback has paused.
    func resume(_ call: Call)

    /// Ends the wait for a call that is running, or else the next one.
    func wake(_ call: Call)

    /// Waits for the end of a call that was submitted. False if that time, of CLOCK_MONOTONIC, came first, or `wake()`.
    func wait(for call: Call, until limit: Int64) -> Bool

    /// The call's result, if the call has ended. Only the first caller gets it.
    func takeResult(of call: Call) -> CallResult?

    /// The program has abandoned this call: cancels it, and keeps it out of its queue.
    func abandon(_ call: Call)

    /// Drives the loop until `limit`, or until `destination` has a call. False if another thread drives it, or if there is
    /// nothing to do. A client without a thread waits for the role instead.
    func drive(for destination: any CallDestination, until limit: Int64) -> Bool

    // On the loop:

    /// The call's time has come.
    func timerFired(_ call: Call, now: Int64)
}

/// Where calls go that have ended. Any thread.
public protocol CallDestination: AnyObject {
    /// A call of that loop will come. False if no thread will wait for it here: the program polls.
    func expect(_ loop: any CallLoop) -> Bool

    /// One that was expected does not come.
    func expectNoMore()

    /// A call that is expected has begun, and its loop has no thread.
    func wakeTakers()

    /// A call that was expected has ended. False if no calls are accepted any more.
    func put(_ call: Call) -> Bool

    /// The program has abandoned this call: it is not accepted, or removed.
    func abandon(_ call: Call)

    var hasCalls: Bool { get }
}

/// A call: its request, its state, and in the end its result. Only the holder of the loop touches what is not constant,
/// except what is `shared`, or guarded by a queue or switch.
public final class Call: CarriedCall, Cancelable {
    public let loop: any CallLoop
    let strategy: any RetryStrategy
    public let userPointer: UnsafeMutableRawPointer?
    /// The client that made it.
    let owner: CallOwner?

    /// Nil: without access tokens.
    let auth: CallAuth?
    var machine: CallMachine
    var retryLoop: RetryLoop
    let startedAt: Int64

    /// The attempt under way, or the one that the strategy is asked about.
    var transfer: Transfer?
    /// Waits for its turn to connect.
    var isQueued = false
    /// While it waits for its turn: it was counted as held by a gate when it began to wait (C3).
    var isCountedAsHeld = false
    /// What a gate has let the attempt under way through with, until the gate has it back (C3); nil: none.
    var gatePass: GatePass?
    /// The next attempt is to use a new connection.
    var isFresh = false
    /// The last whole response, which stays with the call however it ends (B10).
    private(set) var lastResponse: ReceivedResponse?
    var records: [AttemptRecord] = []
    var redirects: [RedirectRecord] = []
    var reconnects: [ReconnectRecord] = []
    var exceptions: Int32 = 0
    /// Of the last exception.
    var exceptionReason: FailureReason?

    /// A manual clock is not to advance by itself before the loop has this call.
    private var isWaitedForByClock = false
    /// Its index in the queue of its host, or, after it has ended, in its completion queue.
    var indexInQueue = 0
    var indexInSwitch = 0

    /// Its C handle is still unclaimed: the thread that takes the call from the queue gets it.
    public var isUnowned = false
    /// Keeps `handle` alive until the call has ended, since callbacks are lent it and its owner may free it at any moment.
    public var lentHandle: AnyObject?

    private var guarded = CallShared()
    public let delivery: Delivery
    /// Guarded by the queue that it is delivered to: it is in the queue; the program has abandoned it.
    var isInQueue = false
    var isAbandoned = false
    let cancelSwitch: CancelSwitch?

    /// How the end of a call is reported, besides to the threads that wait for it.
    public enum Delivery {
        case none
        case queue(any CallDestination)
        /// Runs on the loop.
        case callback((Call) -> Void)
    }

    init(
        loop: any CallLoop, time: LoopClock, request: RequestCopy, strategy: any RetryStrategy,
        settings: SharedCallSettings, delivery: Delivery, cancelSwitch: CancelSwitch?,
        userPointer: UnsafeMutableRawPointer?, sink: (any BodySink)?, tokens: TokenSource?, owner: CallOwner?
    ) {
        // Each argument is moved to where it stays by its last use, and not copied: so what is read of it comes before that.
        if let virtualTime = time.virtualTime {
            virtualTime.clock.workBegan()
            isWaitedForByClock = true
        }
        startedAt = time.clock.monotonic.nanoseconds
        let deadline =
            settings.value.deadline == .max
            ? .distantFuture : time.clock.boottime.advanced(byMilliseconds: settings.value.deadline)
        var limits = RetryLoop.Limits()
        limits.deadline = deadline
        limits.maxTotalAttempts = settings.value.maxTotalAttempts
        var seeds = SplitMix64(state: shim_next_random_state())
        retryLoop = RetryLoop(strategy: strategy, limits: limits, random: SplitMix64(state: seeds.next()))
        machine = CallMachine(needsToken: tokens != nil)
        auth = tokens.map { CallAuth($0) }
        self.owner = owner
        self.loop = loop
        self.strategy = strategy
        self.delivery = delivery
        self.cancelSwitch = cancelSwitch
        self.userPointer = userPointer
        super.init(request, settings, sink: sink, time: time, deadline: deadline)
    }

    deinit {
        leaveClock()
    }

    func cancel() { loop.cancel(self) }

    /// What the call shares with other threads. The lock of its engine is held.
    @inline(__always)
    func shared<Lock: EngineLock, Result>(
        _ held: borrowing Monitor<Lock>.Held, _ body: (inout CallShared) -> Result
    ) -> Result {
        body(&guarded)
    }

    /// The loop has the call, or it will never begin.
    func leaveClock() {
        guard isWaitedForByClock else { return }
        isWaitedForByClock = false
        time.virtualTime?.clock.workEnded()
    }

    /// The attempt is over: what it received no longer depends on its transfer.
    func keepReceived(_ transfer: Transfer, isWhole: Bool) {
        guard attempt.isHeadWhole else { return }
        let response = ReceivedResponse(
            status: isWhole ? attempt.exchange.status : 0, head: receivedHead, body: transfer.takeBody(),
            isBodyCutOff: attempt.exchange.isBodyCutOff, target: target)
        receivedHead = ResponseHead()
        transfer.received = response
        if isWhole { lastResponse = response }
    }

    func makeResult(_ ending: CallMachine.Ending, _ proxies: ProxyNames) -> CallResult {
        let reason = reason(of: ending)
        return CallResult(
            ending: ending, response: response(with: ending), records: records, redirects: redirects,
            reconnects: reconnects, sinkLength: sinkLength(ending), target: target, tokenFailure: auth?.failure,
            reason: reason, proxyName: proxyName(reason, proxies), userPointer: userPointer)
    }

    /// The response that the call ended with; or the last one before a cancel, the deadline or a callback ended it (B10).
    private func response(with ending: CallMachine.Ending) -> ReceivedResponse? {
        switch ending {
        case .response, .cancelled, .deadline, .callbackFailed, .token: lastResponse
        case .exception, .local: nil
        }
    }

    /// What more there is to say of how it ended.
    private func reason(of ending: CallMachine.Ending) -> FailureReason? {
        switch ending {
        case .local(.source): return request.source?.reason
        case .local(.sink): return sink?.reason
        case .local(.responseTooLarge): return attempt.exchange.limit.reason
        case .local(.setting): return transfer?.failureReason
        case .callbackFailed:
            if let strategyFailure = transfer?.strategyFailure {
                return FailureReason(nil, .words(strategyFailure.why))
            }
            return FailureReason("before_attempt", .words("called boxretry_sending_fail()"))
        case .exception: return exceptionReason
        case .local(.exhausted), .local(.outOfMemory), .local(.tooManyRedirects), .response, .cancelled, .deadline,
            .token:
            return nil
        }
    }

    private func proxyName(_ reason: FailureReason?, _ proxies: ProxyNames) -> ProviderText {
        guard case .proxy = reason?.why else { return .none }
        return proxies.name(hasTLS: target.parsedURL.has_tls)
    }

    /// What the sink has of the response that the call ended with, or of the one that broke off.
    private func sinkLength(_ ending: CallMachine.Ending) -> Int64 {
        guard let sink, ending != .response || isBodyInSink else { return 0 }
        return sink.length
    }

    /// The body of the response that the call ends with has gone to the sink.
    var isBodyInSink: Bool { transfer != nil && attempt.exchange.destination == .sink }

    /// Where redirects have led. Only for callbacks, which run on the loop.
    public var currentURL: UnsafePointer<CChar> { target.shownURL }
    public var currentMethod: UnsafePointer<CChar> { UnsafePointer(target.method) }

    /// Of the attempt under way, from 1.
    public var attemptNumber: Int32 { Int32(records.count + 1) }

    /// Nothing of it runs on CLOCK_BOOTTIME at present.
    var isWaitingOnly: Bool {
        machine.state == .waiting && !(hasDeadline && time.clock.boottime.nanoseconds >= deadline.nanoseconds)
    }

    override func fire(now: Int64) {
        loop.timerFired(self, now: now)
    }
}
