@testable import RetryCore

/// An attempt that tests feed with events. A class, since `#expect` takes no mutating calls.
@dynamicMemberLookup
final class AttemptScene {
    private var machine: AttemptMachine

    init(limits: ResponseLimits = ResponseLimits()) {
        machine = AttemptMachine(limits: limits)
    }

    /// One whose request has been sent.
    static func sending(_ request: Exchange.Request = .init(), limits: ResponseLimits = ResponseLimits())
        -> AttemptScene
    {
        let attempt = AttemptScene(limits: limits)
        _ = attempt.begin(at: 0, boottime: 0)
        _ = attempt.startSending(request, at: 0)
        _ = attempt.maySend(over: request.negotiatesHTTP2 ? .http2 : .http1, nil)
        return attempt
    }

    subscript<Value>(dynamicMember path: KeyPath<AttemptMachine, Value>) -> Value { machine[keyPath: path] }

    func begin(at now: Int64, boottime: Int64) -> Bool { machine.begin(at: now, boottime: boottime) }
    func startSending(_ request: Exchange.Request, at now: Int64) -> Bool { machine.startSending(request, at: now) }
    func end() { machine.end() }
    func queueAgain() { machine.queueAgain() }
    func needsHTTP1() -> Bool { machine.needsHTTP1() }
    func paused() { machine.paused() }
    func resumed() -> Bool { machine.resumed() }
    func failed(_ failure: LocalFailure) { machine.failed(failure) }
    func isMalformed() { machine.isMalformed() }
    func moved(at now: Int64) { machine.moved(at: now) }
    func sinkStarted() { machine.sinkStarted() }
    func bodyTaken(_ count: Int) { machine.bodyTaken(count) }
    func body(_ count: Int, held: Int64) -> AttemptMachine.BodyAction { machine.body(count, held: held) }
    func decided(retries: Bool) -> AttemptMachine.Decided { machine.decided(retries: retries) }
    func reconnectAllowed(_ isAllowed: Bool) -> AttemptMachine.EndAction { machine.reconnectAllowed(isAllowed) }

    func maySend(over agreed: ConnectionProtocol, _ problem: ConnectionProblem?) -> AttemptMachine.Permission {
        machine.maySend(over: agreed, problem)
    }

    func redirected(takesBody: Bool, isReplayable: Bool, maximum: Int32) -> AttemptMachine.Followed {
        machine.redirected(takesBody: takesBody, isReplayable: isReplayable, maximum: maximum)
    }

    func nextTimeout(
        _ timeouts: AttemptTimeouts, now: Int64, boottime: Int64
    ) -> (cause: NetworkExceptionCause, left: Int64) {
        machine.nextTimeout(timeouts, now: now, boottime: boottime)
    }

    func take(_ statusLine: String, hasSentAll: Bool = true) -> Bool {
        statusLine.withCString { text in
            let written = StatusLine(text, statusLine.utf8.count)
            return machine.statusLine(written, statusLine.utf8.count + 2, readAs: written) { hasSentAll }
        }
    }

    func takeLine(_ line: String) -> AttemptMachine.HeadAction {
        let line = line + "\r\n"
        return line.withCString { machine.headerLine($0, line.utf8.count) }
    }

    func headEnded(isFollowed: Bool = false) -> AttemptMachine.BodyStart {
        machine.headEnded(isFollowed: isFollowed)
    }

    /// A whole head.
    func head(_ statusLine: String, _ lines: String..., hasSentAll: Bool = true) -> AttemptMachine.BodyStart {
        guard take(statusLine, hasSentAll: hasSentAll) else { return .stop }
        for line in lines { _ = takeLine(line) }
        return takeLine("") == .endHead ? headEnded() : .stop
    }

    func transportEnded(_ end: AttemptEnd, _ context: AttemptMachine.Context) -> AttemptMachine.EndAction {
        machine.transportEnded(end, context)
    }

    func transportEnded(_ end: TransportEnd) -> AttemptMachine.EndAction {
        machine.transportEnded(AttemptEnd(end, code: 0, at: 0), AttemptMachine.Context())
    }
}

extension AttemptMachine.HeadAction: Equatable {
    public static func == (one: Self, other: Self) -> Bool {
        switch (one, other) {
        case (.stop, .stop), (.keep, .keep), (.keepCodings, .keepCodings), (.skip, .skip), (.endHead, .endHead): true
        default: false
        }
    }
}
