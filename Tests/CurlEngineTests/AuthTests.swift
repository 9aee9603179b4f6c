import CShims
import RetryCore
import Testing

@testable import CurlEngine

/// Access tokens in calls: B8, the replay (R), and where a token goes (T13).
@Suite struct AuthTests {
    private static let expired = "{\"code\": \"token_expired\"}"

    @Test("B8: a 401 drops the token; after the wait of any retry the request goes with a new one") func refresh()
        throws
    {
        let tokens = Tokens(.token("a"), .token("b"))
        let scene = try Scene(.status(401, body: "no"), .status(200, body: "yes"))
        let result = try scene.perform(tokens: tokens.makeSource())
        #expect(result.status == 200 && result.bodyText == "yes" && result.waits == [2])
        #expect(result.records.map { $0.decision?.reason } == [.unauthorized, .success])
        #expect(scene.authorizations == ["Bearer a", "Bearer b"] && tokens.calls == 2)
    }

    @Test("B8: if no token can be got, the call ends with that, and has the 401") func noToken() throws {
        let tokens = Tokens(.token("a"), .failure)
        let result = try Scene(.status(401, "X-Id: 7", body: "no")).perform(tokens: tokens.makeSource())
        #expect(result.ending == .token && result.tokenFailure != nil)
        #expect(result.status == 401 && result.bodyText == "no" && result.headerList.count == 1)
        #expect(result.records.count == 1)
    }

    @Test(
        "F114, B8: given 401 with Retry-After: 1, the provider is asked at once, and the next attempt comes after 1 s")
    func besideTheWait() throws {
        let tokens = Tokens(.token("a"))
        let scene = try Scene(.status(401, "Retry-After: 1"), .status(200))
        var askedAt = -1.0
        scene.transport.at(seconds: 0.05) {
            askedAt = Double(tokens.calls)
            tokens.answerHeld("b")
        }
        let result = try scene.perform(tokens: tokens.makeSource())
        #expect(askedAt == 2 && result.status == 200)
        #expect(scene.transport.begun.map(\.at) == [0, 1] && scene.authorizations == ["Bearer a", "Bearer b"])
    }

    @Test("B8: a token that comes after the wait is over is waited for") func afterTheWait() throws {
        let tokens = Tokens(.token("a"))
        let scene = try Scene(.status(401, "Retry-After: 1"), .status(200))
        scene.transport.at(seconds: 5) { tokens.answerHeld("b") }
        let result = try scene.perform(tokens: tokens.makeSource())
        #expect(result.status == 200 && scene.transport.begun.map(\.at) == [0, 5] && tokens.calls == 2)
    }

    @Test("F115, B8: if the provider fails and is not retried, the call ends then, not after the wait")
    func failsBesideTheWait()
        throws
    {
        let tokens = Tokens(.token("a"))
        let scene = try Scene(.status(401, "Retry-After: 1", body: "no"))
        scene.transport.at(seconds: 0.05) { tokens.failHeld() }
        let result = try scene.perform(tokens: tokens.makeSource())
        #expect(result.ending == .token && result.status == 401 && result.bodyText == "no")
        #expect(scene.clock.monotonic.seconds == 0.05 && result.records.count == 1)
    }

    @Test("B8: a call that waits for its token during its wait can be canceled, and its deadline holds") func ended()
        throws
    {
        for deadline in [false, true] {
            let tokens = Tokens(.token("a"))
            let scene = try Scene(.status(401, "Retry-After: 1"))
            if !deadline { scene.transport.at(seconds: 0.5) { scene.call.map { scene.engine.cancel($0) } } }
            let result = try scene.perform(tokens: tokens.makeSource()) { if deadline { $0.deadline = 3_000 } }
            #expect(result.ending == (deadline ? .deadline : .cancelled) && result.status == 401)
            #expect(scene.clock.monotonic.seconds == (deadline ? 3 : 0.5))
            tokens.forget()
        }
    }

    @Test(
        "F116, B8, T12: a fixed token is never dropped, and a 401 reaches the caller at once",
        arguments: [[], ["token_expired"]])
    func fixed(codes: [String]) throws {
        let secret = try #require(Array("only".utf8).withUnsafeBytes { SecretBytes.copy(of: $0) })
        let source = try #require(TokenSource.make(fixed: secret, clock: .system(SystemClock())) { $0 })
        let scene = try Scene([.status(401, body: Self.expired), .status(200)], replayCodes: codes)
        let result = try scene.perform(tokens: source)
        #expect(result.ending == .response && result.status == 401 && result.tokenFailure == nil)
        #expect(result.records.map { $0.decision?.reason } == [.notRetryable])
        #expect(try scene.perform(tokens: source).status == 200)
        #expect(scene.authorizations == ["Bearer only", "Bearer only"])
    }

    @Test("B8: nor is the rejected token one") func sameToken() throws {
        let tokens = Tokens(.token("a"), .token("a"))
        let result = try Scene(.status(401, body: "no")).perform(tokens: tokens.makeSource())
        #expect(result.ending == .token && result.status == 401 && result.records.count == 1)
        guard case .rejectedAgain = result.tokenFailure else {
            Issue.record("not rejected again")
            return
        }
    }

    @Test("a call whose first token cannot be got sends nothing") func nothingSent() throws {
        let tokens = Tokens(.failure)
        let scene = try Scene(.status(200))
        let result = try scene.perform(tokens: tokens.makeSource())
        #expect(result.ending == .token && result.status == 0 && result.records.isEmpty)
        #expect(scene.transport.begun.isEmpty)
    }

    @Test("R1, R5: token_expired is replayed at once, within January's preset, and counts as an attempt") func replay()
        throws
    {
        let tokens = Tokens(.token("a"), .token("b"))
        let scene = try Scene([.status(401, body: Self.expired), .status(200)], replayCodes: ["token_expired"])
        let result = try scene.perform(method: "POST", body: "x", tokens: tokens.makeSource(), strategy: none)
        #expect(result.status == 200 && result.waits == [0])
        #expect(result.records.map(\.number) == [1, 2])
        #expect(result.records[0].decision?.reason == .tokenExpired)
        #expect(scene.authorizations == ["Bearer a", "Bearer b"])
        #expect(scene.transport.sent == ["POST http://127.0.0.1/", "POST http://127.0.0.1/"])
    }

    @Test(
        "R2, F79, F109: other codes, one said twice, longer bodies and what is not JSON reach the caller at once",
        arguments: [
            "{\"code\": \"token_invalid\"}", "{\"code\": \"TOKEN_EXPIRED\"}", "{\"code\":\"token_expired\"", "[]", "",
            "{\"error\": {\"code\": \"token_expired\"}}",
            "{\"code\": \"token_expired\", \"code\": \"token_expired\"}",
            "{\"code\": \"no\", \"c\\u006fde\": \"token_expired\"}",
            "{\"code\": \"token_expired\", \"x\": \"" + String(repeating: "y", count: 66_000) + "\"}",
        ])
    func otherBodies(body: String) throws {
        let tokens = Tokens(.token("a"), .token("b"))
        let scene = try Scene([.status(401, body: body), .status(200)], replayCodes: ["token_expired"])
        let result = try scene.perform(tokens: tokens.makeSource(), strategy: none)
        #expect(result.ending == .response && result.status == 401 && result.bodyText == body && tokens.calls == 1)
    }

    @Test(
        "F63, T8: given a 401 for generation 1 that comes when 2 is kept, nothing is refreshed: 2 is what is sent next",
        arguments: [["token_expired"], []])
    func lateRejection(codes: [String]) throws {
        let tokens = Tokens(.token("a"), .token("b"))
        let source = try tokens.makeSource()
        var late = Script.status(401, body: Self.expired, after: 1)
        let another: () -> Void = {
            source.invalidate(generation: 1)
            _ = source.get(until: .max, cancelSwitch: nil)
        }
        late.events.insert((0.5, .run(another)), at: 0)
        let scene = try Scene([late, .status(200)], replayCodes: codes)
        let result = try scene.perform(tokens: source)
        #expect(result.status == 200 && result.records.count == 2)
        #expect(tokens.calls == 2 && source.tokenAtHand()?.generation == 2)
        #expect(scene.authorizations == ["Bearer a", "Bearer b"])
    }

    @Test("F76, R1: a second 401 after the replay reaches the caller") func onlyOnce() throws {
        let tokens = Tokens(.token("a"), .token("b"), .token("c"))
        let scene = try Scene([.status(401, body: Self.expired)], replayCodes: ["token_expired"])
        let result = try scene.perform(tokens: tokens.makeSource(), strategy: none)
        #expect(result.status == 401 && result.records.count == 2 && tokens.calls == 2)
    }

    @Test("F77, R4: if the new token is the rejected one, or there is none, the caller gets the original 401")
    func replayWithoutToken() throws {
        for second in [Tokens.Answer.token("a"), .failure] {
            let tokens = Tokens(.token("a"), second)
            let scene = try Scene(
                [.status(401, "X-Request-Id: 7", body: Self.expired)], replayCodes: ["token_expired"])
            let result = try scene.perform(tokens: tokens.makeSource(), strategy: none)
            #expect(result.ending == .response && result.tokenFailure != nil)
            #expect(result.status == 401 && result.bodyText == Self.expired && result.headerList.count == 1)
            #expect(result.records.count == 1)
        }
    }

    @Test("R3: what cannot be sent again is not replayed, and the token is dropped all the same") func oneShot() throws
    {
        let tokens = Tokens(.token("a"), .token("b"))
        let source = CallbackSource(length: -1, read: { _, _, _ in .bytes(3) }, rewind: nil, close: {})
        let scene = try Scene([.status(401, body: Self.expired)], replayCodes: ["token_expired"])
        scene.transport.readsBodies = true
        let tokenSource = try tokens.makeSource()
        let result = try scene.perform(method: "PUT", source: source, tokens: tokenSource, strategy: none)
        #expect(result.status == 401 && result.records[0].decision?.reason == .notReplayable)
        #expect(tokenSource.tokenAtHand() == nil)
    }

    @Test("in a mix the replay comes first, once, and then B8") func mix() throws {
        let tokens = Tokens(.token("a"), .token("b"), .token("c"))
        let scene = try Scene(
            [.status(401, body: Self.expired), .status(401, body: Self.expired), .status(200)],
            replayCodes: ["token_expired"])
        let result = try scene.perform(tokens: tokens.makeSource())
        #expect(result.status == 200)
        #expect(result.records.map { $0.decision?.reason } == [.tokenExpired, .unauthorized, .success])
        #expect(result.waits == [0, 4])
        #expect(scene.authorizations == ["Bearer a", "Bearer b", "Bearer c"])
    }

    @Test("T13, F58: a token is not sent to another origin, whose 401 does not reject it") func foreign() throws {
        let tokens = Tokens(.token("a"), .token("b"))
        let scene = try Scene(.status(302, "Location: http://127.0.0.2/"), .status(401))
        let result = try scene.perform(tokens: tokens.makeSource())
        #expect(result.status == 401 && tokens.calls == 1)
        #expect(scene.authorizations == ["Bearer a", ""])
    }

    @Test("T13: an Authorization that a hook has set wins, and no auth is available: a 401 does not reject the token")
    func hook() throws {
        for codes in [[], ["token_expired"]] {
            let tokens = Tokens(.token("a"), .token("b"))
            let scene = try Scene([.status(401, body: Self.expired)], replayCodes: codes)
            let source = try tokens.makeSource()
            let result = try scene.perform(tokens: source) {
                $0.beforeAttempt = { sending in
                    let name: StaticString = "Authorization"
                    let value: StaticString = "Basic abc"
                    if !sending.headers.set(name.cString, value.cString) { sending.hasFailed = true }
                }
            }
            #expect(result.ending == .response && result.status == 401)
            #expect(result.records.map { $0.decision?.reason } == [.notRetryable])
            #expect(scene.authorizations == ["Basic abc"] && tokens.calls == 1 && source.tokenAtHand() != nil)
        }
    }

    @Test("R3: what the strategy cannot retry, since the body is gone, drops the token all the same")
    func oneShotOfBox()
        throws
    {
        let tokens = Tokens(.token("a"), .token("b"))
        let source = CallbackSource(length: -1, read: { _, _, _ in .bytes(3) }, rewind: nil, close: {})
        let scene = try Scene(.status(401, body: "no"))
        scene.transport.readsBodies = true
        let tokenSource = try tokens.makeSource()
        let result = try scene.perform(method: "PUT", source: source, tokens: tokenSource)
        #expect(result.status == 401 && result.bodyText == "no")
        #expect(result.records.map { $0.decision?.reason } == [.notReplayable])
        #expect(tokenSource.tokenAtHand() == nil)
    }

    @Test("B14: a replay is an attempt, and the ceiling bounds it; the token is dropped all the same") func ceiling()
        throws
    {
        let tokens = Tokens(.token("a"), .token("b"))
        let scene = try Scene([.status(401, body: Self.expired), .status(200)], replayCodes: ["token_expired"])
        let tokenSource = try tokens.makeSource()
        let result = try scene.perform(tokens: tokenSource, strategy: none) { $0.maxTotalAttempts = 1 }
        #expect(result.status == 401 && result.bodyText == Self.expired && tokens.calls == 1)
        #expect(result.records.map { $0.decision?.reason } == [.attemptCeiling])
        #expect(tokenSource.tokenAtHand() == nil)
    }

    @Test("B10: a call that ends without a token keeps the last response, although an exception came after it")
    func laterException() throws {
        let tokens = Tokens(.token("a"), .token("b"), .failure)
        let source = try tokens.makeSource()
        let brokenOff = Script(events: [(1, .run { source.clear() }), (2, .end(.failed(.receive)))])
        let result = try Scene(.status(401, body: "no"), brokenOff).perform(tokens: source)
        #expect(result.ending == .token && result.tokenFailure != nil)
        #expect(result.records.map(\.status) == [401, 0, 0])
        #expect(result.records.map(\.requestSent) == [.some, .some, .nothing])
        #expect(result.status == 401 && result.bodyText == "no")
    }

    @Test("B11: waiting for a token counts against the deadline, and not against an attempt's timeouts") func deadline()
        throws
    {
        let tokens = Tokens()
        let scene = try Scene(.status(200))
        let result = try scene.perform(tokens: tokens.makeSource()) {
            $0.deadline = 5_000
            $0.idleTimeout = 1_000_000_000
            $0.resourceTimeout = 2_000_000_000
        }
        #expect(result.ending == .deadline && scene.clock.monotonic.seconds == 5 && result.records.isEmpty)
        tokens.forget()
    }

    @Test("K1: a call that waits for a token can be cancelled") func cancelled() throws {
        let tokens = Tokens()
        let scene = try Scene(.status(200))
        scene.transport.at(seconds: 1) { scene.call.map { scene.engine.cancel($0) } }
        #expect(try scene.perform(tokens: tokens.makeSource()).ending == .cancelled)
        tokens.forget()
    }

    private var none: BoxRetryStrategy {
        var options = BoxRetryOptions()
        options.maxAttempts = 0
        options.maxRetriesOnException = 0
        return BoxRetryStrategy(checked: options)
    }
}

/// A source whose provider answers at once, as scripted; after the last answer it never answers.
final class Tokens: TokenProvider {
    enum Answer {
        case token(String)
        case failure
    }

    private var answers: [Answer]
    private var held: [TokenRequest] = []
    private(set) var calls = 0

    init(_ answers: Answer...) {
        self.answers = answers
    }

    /// The source of this provider.
    func makeSource() throws -> TokenSource {
        let settings = TokenSettings()
        return try #require(TokenSource.make(provider: self, settings: settings, clock: .system(SystemClock())) { $0 })
    }

    var mayBlock: Bool { false }

    func provide(_ request: TokenRequest) {
        calls += 1
        guard !answers.isEmpty else { return held.append(request) }
        switch answers.removeFirst() {
        case .token(let token): _ = Array(token.utf8).withUnsafeBytes { request.succeed($0, life: 3_600) }
        case .failure: _ = request.fail(.failed(.none), isRetryable: false)
        }
    }

    func forget() { held = [] }

    /// Answers the calls that were not answered.
    func answerHeld(_ token: String) {
        for request in takeHeld() { _ = Array(token.utf8).withUnsafeBytes { request.succeed($0, life: 3_600) } }
    }

    func failHeld() {
        for request in takeHeld() { _ = request.fail(.failed(.none), isRetryable: false) }
    }

    /// Kept any longer, they would keep their source, and that its provider.
    private func takeHeld() -> [TokenRequest] {
        defer { held = [] }
        return held
    }
}

extension Scene {
    /// The Authorization of each sending; "" where there was none.
    var authorizations: [String] {
        transport.headerLines.map { lines in
            let line = lines.first { $0.hasPrefix("Authorization: ") }
            return String((line ?? "").dropFirst("Authorization: ".count))
        }
    }
}
