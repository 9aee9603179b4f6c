import CShims
import RetryCore

/// One sending: buffers, a carrier, and what its attempt says is to be done with what comes. Only the holder
/// of the loop touches it.
///
/// A transfer does not learn that its call is canceled: the loop detaches it.
final class Transfer {
    /// The call keeps this transfer in turn, and lets go of it before it ends.
    ///
    /// Functions that use what the call has, such as its clock, begin with `let call`: of what is reached by one step from
    /// there the compiler counts no references.
    let call: CarriedCall
    let loop: any TransferLoop
    /// Its loop's, which outlives it.
    private let origins: Unmanaged<KnownOrigins>
    let plan: AttemptPlan
    var target: Target { plan.target }
    /// What the transport has of it; nil before it has begun, and once it has been dropped.
    var carrier: (any Carrier)?
    /// All went well, as the transport sees it.
    var isWhole = false
    /// It is not the transport's any more.
    var isDetached = false
    /// What is known of it in the end.
    var report = shim_report()
    /// What came back, whole or broken off, once the attempt has ended.
    var received: ReceivedResponse?
    /// How it ended, as the strategy sees it.
    var outcome = Outcome(status: 0)
    /// What was decided about that outcome.
    var decision: Decision?
    /// In place of a decision: the strategy's callback failed.
    var strategyFailure: StrategyFailure?
    /// What the strategy said when only the head of the response had come. Counts only if the attempt ends in that response.
    /// Few attempts have one.
    var headAnswer: HeadAnswer?

    /// The header lines of the last message, as they came.
    var head = shim_buffer()
    var body = shim_buffer()

    /// What more there is to say of a local failure that the transport has seen.
    var failureReason: FailureReason?
    var progress = TransferProgress()
    /// Bytes that the source has given, and whether those were all.
    var bytesRead: Int64 = 0
    var isBodyRead = false
    /// Bytes that a resumed download had before.
    var resumedFrom: Int64 = 0
    /// Unpacks the body; nil: it comes as it is.
    var decoder: OpaquePointer?
    /// The look-up is over.
    private(set) var isOpen = false

    final class HeadAnswer {
        let value: StrategyAnswer

        init(_ value: StrategyAnswer) {
            self.value = value
        }
    }

    /// `origins` outlive it.
    init(call: CarriedCall, plan: consuming AttemptPlan, loop: any TransferLoop, origins: Unmanaged<KnownOrigins>) {
        self.call = call
        self.loop = loop
        self.origins = origins
        self.plan = plan
    }

    deinit {
        shim_buffer_free(&head)
        shim_buffer_free(&body)
        shim_decoder_free(decoder)
    }

    /// Keeps the head that the attempt brought, if there is a whole one that has not been kept yet, in place of the one
    /// before. False if there is no memory.
    func keepHead() -> Bool {
        guard call.attempt.isHeadWhole, head.count > 0 else { return true }
        defer { head = shim_buffer() }
        guard let kept = ResponseHead(head, lines: call.attempt.exchange.headerLines) else { return false }
        call.receivedHead.free()
        call.receivedHead = kept
        return true
    }

    func takeBody() -> shim_buffer {
        defer { body = shim_buffer() }
        return body
    }

    /// What the transport needs for it.
    func attempt() -> shim_attempt {
        let call = call
        var attempt = call.request.attempt(to: target, lines: plan.headerLines, isLarge: call.sink != nil)
        attempt.http_version = call.settings.httpVersion.wanted(hasTLS: target.parsedURL.has_tls)
        attempt.direct = plan.isDirect
        attempt.fresh = plan.isFresh
        attempt.compressed = plan.isCompressed
        // Where it is not known, waiting would not do: a server that does not say what it speaks would hold up all.
        let version = call.settings.httpVersion
        let known = origins._withUnsafeGuaranteedRef { $0.protocols.versions(of: target.parsedURL, version) }
        attempt.multiplexed = known == .multiplexed
        if version == .http2, known == .http1Needed {
            attempt.http_version = Int32(SHIM_HTTP_1_1)
        }
        attempt.new_lookup = origins._withUnsafeGuaranteedRef { $0.doubtful.take(target.parsedURL) }
        attempt.connect_timeout_ms = connectLimit(isFirstAddress: true)
        // Else all that moves is seen as it comes (M1).
        attempt.watched = target.hasBody || call.settings.onProgress != nil
        return attempt
    }

    /// The request cannot be sent yet.
    var isConnecting: Bool { call.attempt.isConnecting && !isDetached }

    /// All of the request is on its way.
    var hasSentAll: Bool { carrier?.hasSentAll ?? false }

    /// How often the transport has asked to send the request, on a connection that may be used.
    var sendings: Int { call.attempt.exchange.sendings }

    // MARK: - Reports of the transport

    /// The transport is about to send the request.
    func maySend(over agreed: ConnectionProtocol = .unknown, _ problem: ConnectionProblem? = nil) -> Bool {
        let call = call
        open()
        call.time.read()  // There may have been many before it in this turn.
        touch()
        switch call.attempt.maySend(over: agreed, problem) {
        case .avoid(let problem):
            if problem == .busy { record(.mixed, of: call.settings.httpVersion) }
            return false
        case .veto: return false
        case .send: break
        }
        if target.parsedURL.has_tls { recordProtocol() }
        if call.isCountedByHost { loop.connected(target) }
        // The refusal may come before the transport has returned from sending.
        if call.attempt.exchange.isMultiplexed, call.attempt.mayNeedHTTP1 { carrier?.listenForRefusals(true) }
        return true
    }

    func recordProtocol() {
        let agreed = call.attempt.exchange.agreed
        guard agreed != .unknown else { return }
        record(agreed == .http2 ? .multiplexed : .serial, of: call.settings.httpVersion)
    }

    private func record(_ versions: ProtocolCache.Versions, of version: HTTPVersion) {
        origins._withUnsafeGuaranteedRef { $0.protocols.record(target.parsedURL, version, versions) }
    }

    /// The server has refused HTTP/2 (RFC 9113, 7).
    func needsHTTP1() {
        if call.attempt.needsHTTP1() { record(.http1Needed, of: .http2) }
    }

    func open() {
        guard !isOpen else { return }
        isOpen = true
        loop.opened(target)
    }

    func opensSocket(exhausted: Bool) {
        // Trying a further address does not reset the idle time: all addresses share it (W5).
        if !isOpen { touch() }
        open()
        if exhausted { call.attempt.failed(.exhausted) }
    }

    /// The request has gone out, which may have taken its time.
    func wasSent() {
        let call = call
        call.time.read()
        touch()
    }

    /// Data moves. The engine has read the clock for the event that reports this.
    @inline(__always)
    func touch() {
        let call = call
        call.attempt.moved(at: call.time.now)
        call.time.movements &+= 1
    }

    /// Something moves on the connection.
    func touchConnection() {
        if !call.attempt.exchange.isMultiplexed { touch() }
    }

    /// Bytes that the kernel drains to the peer count as moving (M1).
    func lookAtKernel() {
        if !call.attempt.exchange.isMultiplexed, carrier?.hasDrained() == true { touch() }
    }

    /// libcurl before 8.6 reads nothing more from a connection of HTTP/2 when it has the bytes that Content-Length says, not even
    /// that it may keep sending (RFC 9113, 8.1). So the attempt looks at the length. (From 300 on it stops sending,
    /// too.)
    func keepSending() {
        let exchange = call.attempt.exchange
        if exchange.isMultiplexed, exchange.status < 300 { carrier?.ignoreLength() }
    }
}
