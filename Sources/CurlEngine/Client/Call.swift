import CShims
import RetryCore

/// A call: its request, its state, and in the end its result. Only the holder of the loop touches what is not constant.
public final class Call: TimerEntry {
    public let engine: Engine
    public let request: RequestCopy
    let strategy: any RetryStrategy
    let settings: CallSettings
    public let userPointer: UnsafeMutableRawPointer?

    var machine = CallMachine()
    var retryLoop: RetryLoop
    let deadline: Instant
    let startedAt: Int64

    /// The attempt under way, or the one that the strategy is asked about.
    var transfer: Transfer?
    /// Waits for its turn to connect.
    var isQueued = false
    /// The next attempt is to use a new connection.
    var isFresh = false
    var attemptStartedAt: Int64 = 0
    /// The same on CLOCK_BOOTTIME, on which the resource time runs (M6).
    var attemptStartedBoot: Int64 = 0
    var outcome = Outcome(status: 0)
    var decision: Decision?
    /// What the last attempt brought.
    private(set) var received = (head: ResponseHead(shim_buffer()), body: shim_buffer())
    var records: [AttemptRecord] = []
    var reconnects: Int32 = 0
    var exceptions: Int32 = 0

    /// The cancel came before the start.
    var isCancelledEarly = false

    /// Where it stands among the engine's active calls; -1 if it does not.
    var activeIndex = -1

    /// What C has of this call, and whether nobody has been given it yet: it is for whoever takes it from the queue.
    public var handle: UnsafeMutableRawPointer?
    public var isUnowned = false

    /// Guarded by the engine's lock.
    var isAbandoned = false
    var result: CallResult?
    var isDone = false
    var waiter: Waiter?
    public let delivery: Delivery
    let cancelSwitch: CancelSwitch?

    /// How the end of a call is told, apart from those who wait for it.
    public enum Delivery {
        case none
        case queue(CompletionQueue)
        /// Runs on the loop.
        case callback((Call) -> Void)
    }

    public init(
        engine: Engine, request: RequestCopy, strategy: any RetryStrategy, settings: CallSettings,
        delivery: Delivery, cancelSwitch: CancelSwitch?, userPointer: UnsafeMutableRawPointer?
    ) {
        self.engine = engine
        self.request = request
        self.strategy = strategy
        self.settings = settings
        self.delivery = delivery
        self.cancelSwitch = cancelSwitch
        self.userPointer = userPointer
        let clock = engine.clock
        startedAt = clock.monotonic.nanoseconds
        deadline = clock.boottime.advanced(byMilliseconds: settings.deadline)
        var limits = RetryLoop.Limits()
        limits.deadline = settings.deadline == .max ? .distantFuture : deadline
        limits.maxTotalAttempts = settings.maxTotalAttempts
        var seeds = SplitMix64(state: shim_next_random_state())
        retryLoop = RetryLoop(strategy: strategy, limits: limits, random: SplitMix64(state: seeds.next()))
    }

    deinit {
        freeReceived()
    }

    /// Keeps what an attempt brought, in place of what the one before did.
    func keep(_ transfer: Transfer) {
        freeReceived()
        let buffers = transfer.takeBuffers()
        received = (ResponseHead(buffers.head), buffers.body)
    }

    private func freeReceived() {
        received.head.free()
        shim_buffer_free(&received.body)
    }

    func makeResult(_ ending: CallMachine.Ending) -> CallResult {
        // Only what ended in a response, or in a callback that was asked about one, has one to show. Else what the last
        // attempt brought stays here: a strategy may be looking at it on another thread.
        let hasResponse = ending == .response || ending == .callbackFailed
        var brought = (head: ResponseHead(shim_buffer()), body: shim_buffer())
        if hasResponse { swap(&brought, &received) }
        return CallResult(
            ending: ending, status: hasResponse ? records.last?.status ?? 0 : 0, head: brought.head,
            body: brought.body, isBodyCutOff: hasResponse && (transfer?.isBodyCutOff ?? false), records: records,
            url: shim_copy_string(request.url), userPointer: userPointer)
    }

    var isGone: Bool { engine.isAbandoned(self) }

    var hasDeadline: Bool { settings.deadline != .max }

    var isIdempotent: Bool { request.isIdempotent }

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
}

/// How a call ended, and with what. Never changes.
public final class CallResult {
    public let ending: CallMachine.Ending
    /// 0: without a response.
    public let status: Int32
    public let records: [AttemptRecord]
    public let isBodyCutOff: Bool
    public let url: UnsafeMutablePointer<CChar>?
    public let userPointer: UnsafeMutableRawPointer?
    private var headers: ResponseHead
    private var bodyBuffer: shim_buffer

    init(
        ending: CallMachine.Ending, status: Int32, head: ResponseHead, body: shim_buffer, isBodyCutOff: Bool,
        records: [AttemptRecord], url: UnsafeMutablePointer<CChar>?, userPointer: UnsafeMutableRawPointer?
    ) {
        self.ending = ending
        self.status = status
        headers = head
        bodyBuffer = body
        self.isBodyCutOff = isBodyCutOff
        self.records = records
        self.url = url
        self.userPointer = userPointer
    }

    deinit {
        headers.free()
        shim_buffer_free(&bodyBuffer)
        shim_free(url)
    }

    public var body: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bodyBuffer.data, count: bodyBuffer.count) }

    public var headerList: HeaderList { headers.list }
}
