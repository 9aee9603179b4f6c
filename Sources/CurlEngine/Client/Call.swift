import CShims
import RetryCore

/// A call: its request, its state, and in the end its result. Only the holder of the loop touches what is not constant,
/// except what is `shared`, or guarded by a queue or switch.
public final class Call: CarriedCall, Cancelable {
    public let engine: Engine
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
        case queue(CompletionQueue)
        /// Runs on the loop.
        case callback((Call) -> Void)
    }

    public init(
        engine: Engine, request: RequestCopy, strategy: any RetryStrategy, settings: SharedCallSettings,
        delivery: Delivery, cancelSwitch: CancelSwitch?, userPointer: UnsafeMutableRawPointer?,
        sink: (any BodySink)? = nil,
        tokens: TokenSource? = nil, owner: CallOwner? = nil
    ) {
        // Each argument is moved to where it stays by its last use, and not copied: so what is read of it comes before that.
        let time = engine.time
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
        self.engine = engine
        self.strategy = strategy
        self.delivery = delivery
        self.cancelSwitch = cancelSwitch
        self.userPointer = userPointer
        super.init(request, settings, sink: sink, time: time, deadline: deadline)
    }

    deinit {
        leaveClock()
    }

    func cancel() { engine.cancel(self) }

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

    func makeResult(_ ending: CallMachine.Ending) -> CallResult {
        let reason = reason(of: ending)
        return CallResult(
            ending: ending, response: response(with: ending), records: records, redirects: redirects,
            reconnects: reconnects, sinkLength: sinkLength(ending), target: target, tokenFailure: auth?.failure,
            reason: reason, proxyName: proxyName(reason), userPointer: userPointer)
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

    private func proxyName(_ reason: FailureReason?) -> ProviderText {
        guard case .proxy = reason?.why else { return .none }
        return engine.proxies.name(hasTLS: target.parsedURL.has_tls)
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
        engine.timerFired(self, now: now)
    }
}

/// What is known of an attempt, once it has ended.
public struct AttemptRecord {
    public var status: Int32
    /// The exception's cause; none for a response.
    public var cause: NetworkExceptionCause
    /// What was decided; nil if the call ended before anybody was asked.
    public var decision: Decision?
    /// Nanoseconds since the call began.
    public var startedAt: Int64
    public var endedAt: Int64
    /// Times that the request was sent again at once on a new connection, since the old one was dead (B13).
    public var reconnects: Int32
    /// libcurl's own code; 0 if all was well.
    public var curlCode: Int32
    public var number: Int32
    /// 0 if the attempt ended in a response.
    public var exceptionNumber: Int32
    public var redirects: Int32
    /// Over all of its sendings (B12).
    public var requestSent: RequestSent
    /// Bytes that a resumed download had before.
    public var resumedFrom: Int64
    /// How its last sending went.
    public var report: shim_report
}

extension shim_report {
    /// Nothing was sent.
    static var none: shim_report {
        shim_report(
            http_version: 0, sent: 0, received: 0, lookup: -1, connect: -1, tls: -1, first_byte: -1, proxy_status: 0,
            tls_problem: nil, is_proxy_tls: false, has_bad_framing: false, system_error: 0)
    }
}

/// A redirect that was followed.
public struct RedirectRecord {
    public var attemptNumber: Int32
    public var status: Int32
    let target: Target

    public var url: UnsafePointer<CChar> { target.shownURL }
}

/// A request that was sent again at once on a new connection, since the old one was dead (B13).
public struct ReconnectRecord {
    public var attemptNumber: Int32
    public var cause: NetworkExceptionCause
    /// Nanoseconds since the call began.
    public var at: Int64
}

/// How a call ended, and with what. Never changes.
public final class CallResult {
    public let ending: CallMachine.Ending
    public let records: [AttemptRecord]
    public let redirects: [RedirectRecord]
    public let reconnects: [ReconnectRecord]
    /// Bytes of the body that the sink has.
    public let sinkLength: Int64
    private let response: ReceivedResponse?
    private let target: Target
    /// Why no access token could be got, if that ended the call.
    public let tokenFailure: TokenWaitFailure?
    /// What more there is to say of how it ended; nil: nothing.
    public let reason: FailureReason?
    /// Host and port of the proxy, if it is about one.
    public let proxyName: ProviderText
    public let userPointer: UnsafeMutableRawPointer?

    init(
        ending: CallMachine.Ending, response: ReceivedResponse?, records: [AttemptRecord], redirects: [RedirectRecord],
        reconnects: [ReconnectRecord], sinkLength: Int64, target: Target, tokenFailure: TokenWaitFailure?,
        reason: FailureReason?, proxyName: ProviderText,
        userPointer: UnsafeMutableRawPointer?
    ) {
        self.ending = ending
        self.response = response
        self.records = records
        self.redirects = redirects
        self.reconnects = reconnects
        self.sinkLength = sinkLength
        self.target = target
        self.tokenFailure = tokenFailure
        self.reason = reason
        self.proxyName = proxyName
        self.userPointer = userPointer
    }

    /// 0: without a response.
    public var status: Int32 { response?.status ?? 0 }

    public var isBodyCutOff: Bool { response?.isBodyCutOff ?? false }

    /// Where the response came from; without one, where the last attempt went.
    public var url: UnsafePointer<CChar> { (response?.target ?? target).shownURL }

    public var body: UnsafeRawBufferPointer { response?.body ?? UnsafeRawBufferPointer(start: nil, count: 0) }

    public var headerList: HeaderList { response?.headers ?? .empty }

    public var reasonPhrase: UnsafePointer<CChar> { response?.reasonPhrase ?? StaticString("").cString }
}
