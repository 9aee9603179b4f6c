import CShims
import RetryCore

@testable import CurlEngine

/// What a pretend server does to one attempt: pieces of a response, each at its time, and an end.
struct Script {
    enum Event {
        /// Bytes of the head, or of the body, arrive.
        case head(String)
        case body(String)
        /// The sending ends by itself.
        case end(TransportEnd)
        /// Nothing is sent on the connection that there is, which is unusable.
        case avoided
        /// Somebody else does something.
        case run(() -> Void)
    }

    /// Seconds since the attempt began.
    var events: [(at: Double, event: Event)]
    var sent = true

    static func status(_ status: Int, _ headers: String..., body: String = "", after: Double = 0) -> Script {
        let head: [(Double, Event)] =
            [(after, .head("HTTP/1.1 \(status) Status\r\n"))] + headers.map { (after, .head($0 + "\r\n")) }
            + [(after, .head("\r\n"))]
        let tail: [(Double, Event)] =
            (body.isEmpty ? [] : [(after, .body(body))]) + [(after, .end(.done))]
        return Script(events: head + tail)
    }

    static func exception(_ cause: NetworkExceptionCause, after: Double = 0, sent: Bool = true) -> Script {
        Script(events: [(after, .end(.failed(cause)))], sent: sent)
    }

    /// Nothing ever happens.
    static var silence: Script { Script(events: []) }
}

/// Plays a script for each attempt, in virtual time: a thread that waits on it advances the clock instead.
final class ScriptedTransport: Transport {
    let clock: ManualClock
    private var scripts: [Script]
    private var pending: [(due: Int64, transfer: Transfer?, event: Script.Event)] = []
    private var ended: [EndedTransfer] = []
    private var held: [(transfer: Transfer, events: [Script.Event])] = []
    unowned var engine: Engine?
    /// Seconds of virtual time at which each attempt began, and whether it asked for a new connection.
    private(set) var begun: [(at: Double, fresh: Bool)] = []

    init(_ scripts: [Script], clock: ManualClock) {
        self.scripts = scripts
        self.clock = clock
    }

    /// The request's body is read, a piece of it.
    var readsBodies = false
    /// Method and URL of each sending, and its header lines.
    private(set) var sent: [String] = []
    private(set) var headerLines: [[String]] = []
    /// Whether each sending goes past the environment's proxies.
    private(set) var areDirect: [Bool] = []

    /// Somebody does something at that time.
    func at(seconds: Double, _ action: @escaping () -> Void) {
        pending.append((clock.monotonic.advanced(bySeconds: seconds).nanoseconds, nil, .run(action)))
    }

    var descriptor: Int32 { -1 }
    func setAlarm(nanoseconds: Int64) {}
    func watch(guest descriptor: Int32, _ isWatched: Bool) {}

    func begin(_ transfer: Transfer) -> LocalFailure? {
        ScriptedCarrier(self, transfer).begin()
    }

    fileprivate func play(_ transfer: Transfer) -> LocalFailure? {
        begun.append((clock.monotonic.seconds, transfer.plan.isFresh))
        record(transfer.attempt())
        let script = scripts.count > 1 ? scripts.removeFirst() : scripts[0]
        if script.sent { _ = transfer.maySend() }
        if readsBodies {
            var bytes: [CChar] = Array(repeating: 0, count: 16)
            _ = transfer.read(&bytes, bytes.count)
        }
        let now = clock.monotonic
        for (at, event) in script.events {
            pending.append((now.advanced(bySeconds: at).nanoseconds, transfer, event))
        }
        return nil
    }

    private func record(_ attempt: shim_attempt) {
        sent.append(String(cString: attempt.method) + " " + String(cString: attempt.url))
        var lines: [String] = []
        var line = attempt.headers
        while let current = line {
            lines.append(String(cString: current.pointee.data))
            line = current.pointee.next
        }
        headerLines.append(lines)
        areDirect.append(attempt.direct)
    }

    func makeForm() -> MultipartSource? { nil }

    fileprivate func end(_ transfer: Transfer) {
        pending.removeAll { $0.transfer === transfer }
        ended.removeAll { $0.transfer === transfer }
        held.removeAll { $0.transfer === transfer }
    }

    func runDue() {}

    func wait(nanoseconds: Int64) -> Int {
        // Another thread is asked, and its answer comes in real time.
        if let engine,
            engine.active.contains(where: {
                $0.attempt.isWaitingForDecision || $0.machine.state == .deciding
            })
        {
            return 0
        }
        let now = clock.monotonic.nanoseconds
        let next = pending.map(\.due).min() ?? .max
        let until = min(next, nanoseconds > .max - now ? .max : now + nanoseconds)
        guard until != .max else { fatalError("the engine waits forever: nothing is going to happen") }
        if until > now { _ = clock.advance(bySeconds: Double(until - now) / 1e9) }
        engine?.time.waitEnded()
        var happened = 0
        while let index = pending.firstIndex(where: { $0.due <= clock.monotonic.nanoseconds }) {
            let (_, transfer, event) = pending.remove(at: index)
            play(event, transfer)
            happened += 1
        }
        return happened
    }

    private func play(_ event: Script.Event, _ transfer: Transfer?) {
        if case .run(let body) = event { return body() }
        guard let transfer else { return }
        switch event {
        case .head(let text): deliver(text, transfer) { transfer.receive(header: $0, $1) }
        case .body(let text): deliver(text, transfer, event)
        case .end(let end): ended.append(EndedTransfer(transfer: transfer, end: end, code: 0))
        case .avoided:
            if !transfer.maySend(over: .http1, .stale) {
                ended.append(EndedTransfer(transfer: transfer, end: .aborted, code: 0))
            }
        case .run: break
        }
    }

    /// What libcurl makes of a callback that says stop.
    private func deliver(_ text: String, _ transfer: Transfer, _ receive: (UnsafePointer<CChar>, Int) -> Bool) {
        guard !text.withCString({ receive($0, text.utf8.count) }) else { return }
        pending.removeAll { $0.transfer === transfer }
        ended.append(EndedTransfer(transfer: transfer, end: .aborted, code: 0))
    }

    /// A paused transfer gets nothing more until it is resumed, and then the same again.
    private func deliver(_ text: String, _ transfer: Transfer, _ event: Script.Event) {
        deliver(text, transfer) { data, count in
            switch transfer.receive(body: data, count) {
            case .stop: return false
            case .proceed: return true
            case .pause:
                let rest = pending.filter { $0.transfer === transfer }
                pending.removeAll { $0.transfer === transfer }
                held.append((transfer, [event] + rest.map(\.event)))
                return true
            }
        }
    }

    fileprivate func resume(_ transfer: Transfer) {
        guard let index = held.firstIndex(where: { $0.transfer === transfer }) else { return }
        let now = clock.monotonic.nanoseconds
        for event in held.remove(at: index).events { pending.append((now, transfer, event)) }
    }

    func takeEnded() -> EndedTransfer? {
        ended.isEmpty ? nil : ended.removeFirst()
    }

    func wake() {}
}

/// Plays a script for one transfer.
private final class ScriptedCarrier: Carrier {
    private let transport: ScriptedTransport
    private unowned var transfer: Transfer?

    init(_ transport: ScriptedTransport, _ transfer: Transfer) {
        self.transport = transport
        self.transfer = transfer
    }

    func begin() -> LocalFailure? {
        guard let transfer else { return nil }
        transfer.carrier = self
        return transport.play(transfer)
    }

    func resume() {
        if let transfer { transport.resume(transfer) }
    }

    func end() {
        if let transfer { transport.end(transfer) }
        transfer?.carrier = nil
        transfer = nil
    }

    var hasSentAll: Bool { false }
    func hasDrained() -> Bool { false }
    func read(_ written: StatusLine) -> StatusLine { written }
    func listenForRefusals(_ listens: Bool) {}
    func ignoreLength() {}
}

/// A client in virtual time, with a scripted server.
final class Scene {
    /// Something to be done, which is only known later.
    final class Later {
        var action: () -> Void = {}
    }

    let clock = ManualClock()
    let transport: ScriptedTransport
    let engine: Engine
    private(set) var call: Call?

    convenience init(_ scripts: Script..., maxTransfers: Int? = nil, onEvent: ((EngineEvent) -> Void)? = nil) throws {
        try self.init(scripts, maxTransfers: maxTransfers, onEvent: onEvent)
    }

    /// `replayCodes`: as of a client's options (R1).
    init(
        _ scripts: [Script], replayCodes: [String] = [], budget: SharedRetryBudget? = nil, maxTransfers: Int? = nil,
        sharesRetryAfter: Bool = false, proxy: String? = nil, onEvent: ((EngineEvent) -> Void)? = nil
    ) throws {
        transport = ScriptedTransport(scripts, clock: clock)
        var settings = EngineSettings()
        settings.onEvent = onEvent
        settings.budget = budget
        settings.sharesRetryAfter = sharesRetryAfter
        if let maxTransfers { settings.transport.maxTransfers = maxTransfers }
        let texts = settings.transport
        settings.transport.proxy = proxy.flatMap { texts.own(shim_copy_string($0)) }
        for code in replayCodes {
            if let copy = code.withCString({ texts.own(shim_copy_string($0)) }) { settings.replayCodes.append(copy) }
        }
        if let secret = texts.own(shim_copy_string("x-box-secret")) { settings.secretHeaders.append(secret) }
        engine = try Engine.make(settings: settings, clock: clock, transport: transport)
        transport.engine = engine
    }

    /// Performs a call, without jitter.
    func perform(
        method: String = "GET", url: String? = nil, headers: OwnedHeaders = OwnedHeaders(), body: String? = nil,
        source: (any BodySource)? = nil, sink: (any BodySink)? = nil, tokens: TokenSource? = nil,
        strategy: (any RetryStrategy)? = nil,
        cancelSwitch: CancelSwitch? = nil, _ change: (inout CallSettings) -> Void = { _ in }
    ) throws -> CallResult {
        let call = try makeCall(
            method: method, url: url, headers: headers, body: body, source: source, sink: sink, tokens: tokens,
            strategy: strategy, cancelSwitch: cancelSwitch, change)
        self.call = call
        guard let result = engine.perform(call).result else { throw Engine.SetupFailure.exhausted }
        return result
    }

    func makeCall(
        method: String = "GET", url: String? = nil, headers: OwnedHeaders = OwnedHeaders(), body: String? = nil,
        source: (any BodySource)? = nil, sink: (any BodySink)? = nil, tokens: TokenSource? = nil,
        strategy: (any RetryStrategy)? = nil,
        cancelSwitch: CancelSwitch? = nil, _ change: (inout CallSettings) -> Void = { _ in }
    ) throws -> Call {
        var settings = CallSettings()
        change(&settings)
        var options = BoxRetryOptions()
        options.retryRandomizationFactor = 0
        let url = url ?? "http://127.0.0.1/"
        var requestBody = RequestCopy.Body.none
        if let source { requestBody = .stream(source) }
        if let body, let copy = body.withCString({ shim_copy_bytes($0, body.utf8.count) }) {
            requestBody = .memory(copy, count: body.utf8.count, isCopy: true)
        }
        let request = method.withCString { method in
            url.withCString { url in
                var parsedURL = shim_url()
                var problem: UnsafePointer<CChar>?
                _ = shim_url_check(url, &parsedURL, &problem)
                parsedURL.needs_lookup = false
                return RequestCopy.make(
                    method: method, url: url, parsedURL: parsedURL, headers: headers,
                    body: requestBody, isUnsafe: RequestSafety.byMethod.isUnsafe(method: method))
            }
        }
        guard let request else { throw Engine.SetupFailure.outOfMemory }
        return Call(
            engine: engine, request: request, strategy: strategy ?? BoxRetryStrategy(checked: options),
            settings: SharedCallSettings(settings), delivery: .none, cancelSwitch: cancelSwitch, userPointer: nil,
            sink: sink,
            tokens: tokens)
    }
}

extension CallResult {
    /// Seconds between the end of an attempt and the beginning of the next.
    var waits: [Double] {
        zip(records, records.dropFirst()).map { Double($1.startedAt - $0.endedAt) / 1e9 }
    }

    var bodyText: String { String(decoding: body, as: UTF8.self) }

    /// What more there is to say of how it ended.
    var reasonText: String {
        guard let reason else { return "" }
        return (reason.field.map { "\($0): " } ?? "") + String(cString: reason.text)
    }

    /// Seconds since the call began at which the last attempt ended.
    var lastEnd: Double { Double(records.last?.endedAt ?? -1) / 1e9 }
}
