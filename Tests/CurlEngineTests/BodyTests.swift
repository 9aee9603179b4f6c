import CShims
import Foundation
import RetryCore
import Testing

@testable import CurlEngine

/// Where bodies come from and go to, in virtual time.
@Suite struct BodyTests {
    @Test("B15: a sink gets only the body of a 2xx response that is not retried") func onlyTheLast() throws {
        let sink = Recorder()
        let scene = try Scene(
            .status(503, body: "busy"), .status(202, "Retry-After: 1", body: "later"), .status(200, body: "whole"))
        let result = try scene.perform(sink: sink.make())
        #expect(result.status == 200 && result.bodyText.isEmpty && result.sinkLength == 5)
        #expect(sink.log == ["write whole", "close"])
        #expect(result.records.map { $0.decision?.reason } == [.serverError, .accepted, .success])
        #expect(result.waits == [2, 1])
    }

    @Test("B15: any other body is in the response's own memory") func errorBody() throws {
        let sink = Recorder()
        let result = try Scene(.status(404, body: "no such thing")).perform(sink: sink.make())
        #expect(result.bodyText == "no such thing" && result.sinkLength == 0)
        #expect(sink.log == ["close"])
    }

    @Test(
        "B15: a sink that takes errors also gets the body of a redirect that is not followed",
        arguments: ["X-None: 1", "Location: ftp://127.0.0.1/", "Location: http://["])
    func redirectToNowhere(line: String) throws {
        let sink = Recorder()
        let result = try Scene(.status(302, line, body: "moved")).perform(sink: sink.make(takesErrors: true))
        #expect(result.status == 302 && result.bodyText.isEmpty && result.sinkLength == 5)
        #expect(sink.log == ["write moved", "close"])
    }

    @Test("B15, R3: the same for a redirect that needs a body that cannot be sent again") func redirectNeedsBody()
        throws
    {
        let sink = Recorder()
        let scene = try Scene(.status(307, "Location: /there", body: "moved"))
        scene.transport.readsBodies = true
        let source = CallbackSource(length: -1, read: { _, _, _ in .bytes(3) }, rewind: nil, close: {})
        let result = try scene.perform(method: "POST", source: source, sink: sink.make(takesErrors: true))
        #expect(result.status == 307 && result.bodyText.isEmpty && result.sinkLength == 5)
        #expect(sink.log == ["write moved", "close"])
    }

    @Test("B15: a sink that takes errors gets nothing of a redirect that is followed") func redirectFollowed() throws {
        let sink = Recorder()
        let scene = try Scene(.status(302, "Location: /there", body: "moved"), .status(200, body: "whole"))
        let result = try scene.perform(sink: sink.make(takesErrors: true))
        #expect(result.status == 200 && result.redirects.count == 1)
        #expect(sink.log == ["write whole", "close"])
    }

    @Test("B15: a 202 whose retries are used up is the caller's") func lastAccepted() throws {
        let sink = Recorder()
        let result = try Scene(.status(202, "Retry-After: 1", body: "later")).perform(sink: sink.make())
        #expect(result.status == 202 && result.records.count == 5)
        #expect(sink.log == ["write later", "close"])
    }

    @Test("F59, B15: a delivery that broke off starts again, if the sink can") func restarted() throws {
        let sink = Recorder()
        let result = try Scene(brokenOff, .status(200, body: "whole")).perform(sink: sink.make())
        #expect(result.status == 200 && result.sinkLength == 5)
        #expect(sink.log == ["write ha", "restart", "write whole", "close"])
        #expect(result.records.map(\.exceptionNumber) == [1, 0])
    }

    @Test("F59, B15: if the sink cannot start again, there is no retry, and the reason says so") func notRestarted()
        throws
    {
        let sink = Recorder()
        let result = try Scene(brokenOff, .status(200)).perform(sink: sink.make(canRestart: false))
        #expect(result.ending == .exception(.receive))
        #expect(result.records.map { $0.decision?.reason } == [.sinkCannotRestart])
        #expect(sink.log == ["write ha", "close"])
    }

    @Test("F108, B15: a sink keeps nothing of a delivery that broke off if the call ends in another response")
    func discarded() throws {
        for (begun, hasBegin) in [(brokenOff, false), (brokenOff, true), (brokenOffEarly, true)] {
            let sink = Recorder()
            let result = try Scene(begun, .status(503), .status(404, body: "gone")).perform(
                sink: sink.make(hasBegin: hasBegin))
            #expect(result.ending == .response && result.status == 404 && result.bodyText == "gone")
            #expect(result.sinkLength == 0)
            #expect(sink.log.suffix(2) == ["restart", "close"])
            #expect(sink.log.filter { $0 == "restart" }.count == 1)
        }
    }

    @Test("F108, B15: a file sink leaves neither a file nor its beginnings", arguments: [false, true])
    func discardedFile(isResumable: Bool) throws {
        try TemporaryFile.with { file in
            let begun = Script(events: [
                (0, .head("HTTP/1.1 200 OK\r\n")), (0, .head("ETag: \"a\"\r\n")), (0, .head("\r\n")), (0, .body("ha")),
                (0, .end(.failed(.receive))),
            ])
            let scene = try Scene(begun, .status(404))
            let result = try scene.perform(sink: file.sink(isResumable: isResumable))
            #expect(result.status == 404 && result.sinkLength == 0)
            #expect(file.siblings.isEmpty)
        }
    }

    @Test("B2, F108: a sink that cannot forget what it has ends the call") func cannotDiscard() throws {
        let sink = Recorder()
        sink.canRestart = false
        let result = try Scene(brokenOff, .status(404)).perform(sink: sink.make())
        #expect(result.ending == .local(.sink))
    }

    @Test("B15: a body that broke off before its first byte is not a delivery") func nothingDelivered() throws {
        let sink = Recorder()
        let scene = try Scene(brokenOffEarly, .status(200, body: "whole"))
        #expect(try scene.perform(sink: sink.make(canRestart: false)).status == 200)
        #expect(sink.log == ["write whole", "close"])
    }

    @Test("B15: a sink gets the head of the response whose body it gets, before the first byte, and no other")
    func told() throws {
        let sink = Recorder()
        let scene = try Scene(
            .status(503, body: "busy"), .status(200, "Content-Type: text/plain", body: "whole"))
        #expect(try scene.perform(sink: sink.make(hasBegin: true)).status == 200)
        #expect(sink.log == ["begin 200 11 text/plain", "write whole", "close"])
    }

    @Test("B15: it gets the head of a response with an empty body") func toldOfAnEmptyBody() throws {
        let sink = Recorder()
        #expect(try Scene(.status(200)).perform(sink: sink.make(hasBegin: true)).status == 200)
        #expect(sink.log == ["begin 200 11 untyped", "close"])
    }

    @Test("B15: what can have no content is not delivered, and not told of", arguments: [204, 205])
    func notTold(status: Int) throws {
        let sink = Recorder()
        #expect(try Scene(.status(status)).perform(sink: sink.make(hasBegin: true)).status == Int32(status))
        #expect(sink.log == ["close"])
    }

    @Test("F59, B15: it gets the head again after a restart, also if a delivery broke off before its first byte")
    func toldAgain() throws {
        for begun in [brokenOff, brokenOffEarly] {
            let sink = Recorder()
            let result = try Scene(begun, .status(202, body: "whole")).perform(sink: sink.make(hasBegin: true))
            #expect(result.status == 202 && result.sinkLength == 5)
            #expect(
                sink.log.filter { $0 != "write ha" } == [
                    "begin 200 11 untyped", "restart", "begin 202 11 untyped", "write whole", "close",
                ])
        }
    }

    @Test("F59, B15: a head that it got cannot be taken back without a restart, so there is no retry")
    func toldForGood() throws {
        let sink = Recorder()
        let result = try Scene(brokenOffEarly, .status(200)).perform(
            sink: sink.make(canRestart: false, hasBegin: true))
        #expect(result.ending == .exception(.receive))
        #expect(result.records.map { $0.decision?.reason } == [.sinkCannotRestart])
        #expect(sink.log == ["begin 200 11 untyped", "close"])
    }

    @Test("B2: a sink that does not take the response ends the call, which is not retried") func refused() throws {
        let sink = Recorder()
        sink.canBegin = false
        let result = try Scene(.status(200, body: "whole")).perform(sink: sink.make(hasBegin: true))
        #expect(result.ending == .local(.sink) && result.records.count == 1)
        #expect(sink.log == ["begin 200 11 untyped", "close"])
    }

    @Test("B9, B15: it gets the head once a custom strategy has answered not to retry") func toldLate() throws {
        let sink = Recorder()
        let result = try Scene(.status(200, body: "first"), .status(201, body: "second")).perform(
            sink: sink.make(hasBegin: true), strategy: Asked([.retry(.custom), .stop(.custom)]))
        #expect(result.status == 201)
        #expect(sink.log == ["begin 201 11 untyped", "write second", "close"])
    }

    @Test("B2: a sink that fails ends the call, which is not retried") func failingSink() throws {
        let sink = Recorder()
        sink.answers = [.failed]
        let result = try Scene(.status(200, body: "whole")).perform(sink: sink.make())
        #expect(result.ending == .local(.sink) && result.records.count == 1)
    }

    @Test("M1: the idle time rests while the sink holds the transfer back") func pausedSink() throws {
        let sink = Recorder()
        sink.answers = [.pause, .taken]
        let resumed = Scene.Later()
        let events: [(Double, Script.Event)] = [
            (0, .head("HTTP/1.1 200 OK\r\n")), (0, .head("\r\n")), (0, .body("whole")), (0, .end(.done)),
        ]
        let scene = try Scene(Script(events: events))
        resumed.action = { scene.call.map { scene.engine.resume($0) } }
        scene.transport.at(seconds: 100) { resumed.action() }
        let result = try scene.perform(sink: sink.make()) { $0.idleTimeout = 1_000_000_000 }
        #expect(result.ending == .response && result.lastEnd == 100)
        #expect(sink.log == ["write whole", "write whole", "close"])
    }

    @Test("M2: the resource time does not rest") func pausedForEver() throws {
        let sink = Recorder()
        sink.answers = [.pause, .pause, .pause]
        let result = try Scene(.status(200, body: "whole")).perform(sink: sink.make()) {
            $0.resourceTimeout = 2_000_000_000
        }
        #expect(result.ending == .exception(.timeoutResource))
    }

    @Test("B9, B15: a custom strategy is asked once about a response whose body goes to a sink, when its head has come")
    func custom() throws {
        let strategy = Asked([.retry(.custom), .stop(.custom)])
        let sink = Recorder()
        let result = try Scene(.status(200, body: "first"), .status(200, body: "second")).perform(
            sink: sink.make(), strategy: strategy)
        #expect(result.status == 200 && result.records.count == 2)
        #expect(strategy.seen == [200, 200])
        #expect(sink.log == ["write second", "close"])
    }

    @Test("B9, B15: it is asked again if the body breaks off") func customAgain() throws {
        let strategy = Asked([.stop(.custom), .retry(.custom), .stop(.custom)])
        let sink = Recorder()
        let result = try Scene(brokenOff, .status(200, body: "whole")).perform(sink: sink.make(), strategy: strategy)
        #expect(result.status == 200)
        #expect(strategy.seen == [200, 0, 200])
        #expect(result.records.map(\.exceptionNumber) == [1, 0])
    }

    @Test("F97, B15: how one attempt ended is not read by the next, whose body comes while the strategy is asked")
    func endOfTheAttemptBefore() throws {
        // The file sink refuses a 206 that was not requested once the strategy has accepted it: by then it has ended.
        let refused = Script.status(206, "Content-Range: bytes 0-0/1", "Content-Length: 0")
        let slow = Script(events: [
            (0, .head("HTTP/1.1 200 OK\r\n")), (0, .head("\r\n")), (0, .body("first ")), (2, .body("second")),
            (2, .end(.done)),
        ])
        let strategy = Asked([.stop(.custom), .retry(.custom), .stop(.custom)])
        let result = try TemporaryFile.with { file in
            let result = try Scene(refused, slow).perform(sink: file.sink(), strategy: strategy)
            #expect(file.content == "first second")
            return result
        }
        #expect(result.status == 200 && result.sinkLength == 12)
        #expect(result.records.map(\.status) == [0, 200])
        #expect(result.records.map(\.cause) == [.protocol, .none])
        #expect(strategy.seen == [206, 0, 200])
    }

    @Test("F97, B10: each attempt is recorded once, also after one that ended while the strategy was asked")
    func noAttemptThatWasNotMade() throws {
        let refused = Script.status(206, "Content-Range: bytes 0-0/1", "Content-Length: 0")
        let strategy = Asked([.stop(.custom), .retry(.custom), .stop(.custom)])
        let result = try TemporaryFile.with { file in
            try Scene(refused, .status(404)).perform(sink: file.sink(), strategy: strategy)
        }
        #expect(result.status == 404)
        #expect(result.records.map(\.status) == [0, 404])
    }

    @Test("F97, B13: what was decided by the head of one sending is not read by the next one of the same attempt")
    func headBeforeAReconnect() throws {
        let unseen = Script(events: [
            (0, .head("HTTP/1.1 200 OK\r\n")), (0, .head("\r\n")), (0, .end(.deadConnection)),
        ])
        let result = try Scene(unseen, .status(500), .status(200, body: "whole")).perform(sink: Recorder().make())
        #expect(result.records.map(\.status) == [500, 200])
        #expect(result.records.map { $0.decision?.reason } == [.serverError, .success])
    }

    @Test("R3: a stream that was read and cannot be rewound is not sent again") func oneShot() throws {
        let source = CallbackSource(length: -1, read: { _, _, _ in .bytes(3) }, rewind: nil, close: {})
        let scene = try Scene(.status(503, body: "busy"))
        scene.transport.readsBodies = true
        let result = try scene.perform(method: "PUT", source: source)
        #expect(result.ending == .response && result.status == 503 && result.bodyText == "busy")
        #expect(result.records.map { $0.decision?.reason } == [.notReplayable])
    }

    @Test("R3: one of which no byte was read is sent again") func untouchedStream() throws {
        let source = CallbackSource(length: -1, read: { _, _, _ in .bytes(3) }, rewind: nil, close: {})
        let result = try Scene(.status(503), .status(200)).perform(method: "PUT", source: source)
        #expect(result.status == 200 && result.records.count == 2)
    }
}

private var brokenOff: Script {
    Script(events: [
        (0, .head("HTTP/1.1 200 OK\r\n")), (0, .head("\r\n")), (0, .body("ha")), (0, .end(.failed(.receive))),
    ])
}

private var brokenOffEarly: Script {
    Script(events: [
        (0, .head("HTTP/1.1 200 OK\r\n")), (0, .head("\r\n")), (0, .end(.failed(.receive))),
    ])
}

/// A file that is to be made, in a folder that goes with it.
struct TemporaryFile {
    private let path: String

    static func with<Result>(_ body: (TemporaryFile) throws -> Result) throws -> Result {
        let folder = URL.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(TemporaryFile(path: folder.appending(path: "file").path))
    }

    func sink(isResumable: Bool = false) throws -> FileSink {
        try #require(path.withCString { FileSink.make(path: $0, isResumable: isResumable) })
    }

    /// The names in its folder.
    var siblings: [String] {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? ["?"]
    }

    /// Nil: there is no such file.
    var content: String? { try? String(contentsOfFile: path, encoding: .utf8) }
}

/// A sink that writes down what it is asked to do.
final class Recorder {
    var log: [String] = []
    /// What it answers to each piece; then that it has taken it.
    var answers: [BodyWrite] = []

    /// Whether its restart succeeds.
    var canRestart = true

    /// Whether it accepts a delivery when it gets the head.
    var canBegin = true

    func make(canRestart: Bool = true, hasBegin: Bool = false, takesErrors: Bool = false) -> CallbackSink {
        CallbackSink(
            write: { _, data, count in
                let bytes = UnsafeRawBufferPointer(start: data, count: count)
                self.log.append("write " + String(decoding: bytes, as: UTF8.self))
                return self.answers.isEmpty ? .taken : self.answers.removeFirst()
            },
            restart: canRestart
                ? {
                    self.log.append("restart")
                    return self.canRestart
                } : nil,
            begin: hasBegin
                ? { head in
                    let type = head.headers.firstValue(of: "Content-Type").map { String(cString: $0) } ?? "untyped"
                    self.log.append("begin \(head.status) \(head.httpVersion) \(type)")
                    return self.canBegin
                } : nil,
            close: { self.log.append("close") }, takesErrors: takesErrors)
    }
}

/// A strategy that answers as scripted, on the pool, and remembers what it was asked about.
final class Asked: RetryStrategy {
    private var answers: [RetryAnswer]
    private(set) var seen: [Int32] = []

    init(_ answers: [RetryAnswer]) {
        self.answers = answers
    }

    var callsBack: Bool { true }
    var retryBound: Int32? { nil }
    func readRetryAfter(_ headers: HeaderList, clock: any Clock) -> RetryAfter { .absent }

    func shouldRetry(_ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32) -> RetryAnswer {
        seen.append(outcome.status)
        return answers.removeFirst()
    }

    func retryAfter(_ outcome: Outcome, retryAfter: RetryAfter, attemptNumber: Int32, unitRandom: Double) -> Wait {
        Wait(delay: 0, source: .custom)
    }
}
