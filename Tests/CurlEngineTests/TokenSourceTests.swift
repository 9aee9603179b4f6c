import CShims
import RetryCore
import Testing

@testable import CurlEngine

/// A provider that keeps its requests, to be answered when a test wants to.
private final class HeldRequests: TokenProvider {
    private let held: Monitor<[TokenRequest]>
    var mayBlock: Bool { false }

    init() throws {
        guard let held = Monitor([TokenRequest]()) else { throw Engine.SetupFailure.outOfMemory }
        self.held = held
    }

    func provide(_ request: TokenRequest) { held.withLock { $0.state.append(request) } }
    var requests: [TokenRequest] { held.withLock { $0.state } }
    /// Requests keep their source, and that its provider.
    func forget() {
        let forgotten = held.withLock { held in
            defer { held.state = [] }
            return held.state
        }
        _ = forgotten
    }
}

/// What an engine needs of a token source: all of it on one thread, and nothing blocks.
@Suite final class TokenSourceTests {
    private let provider: HeldRequests
    private let source: TokenSource

    init() throws {
        provider = try HeldRequests()
        var settings = TokenSettings()
        settings.providerTimeout = .max
        let source = TokenSource.make(provider: provider, settings: settings, clock: .system(SystemClock())) { $0 }
        self.source = try #require(source)
    }

    deinit {
        provider.forget()
    }

    /// A waiter that gets its result at once, and that result.
    private final class Told {
        var results: [String] = []

        func waiter(_ source: TokenSource, _ cancelSwitch: CancelSwitch? = nil) -> TokenWaiter {
            TokenWaiter(
                source: source, cancelSwitch: cancelSwitch,
                delivery: .atOnce { [self] in results.append(TokenSourceTests.shown($0)) })
        }
    }

    fileprivate static func shown(_ result: TokenResult?) -> String {
        switch result {
        case nil: "nothing yet"
        case .success(let token): String(decoding: token.secret.bytes, as: UTF8.self)
        case .failure(.cancelled): "cancelled"
        case .failure(.timedOut): "timed out"
        case .failure(.outOfMemory): "out of memory"
        case .failure(.notRenewable): "not renewable"
        case .failure(.rejectedAgain): "rejected again"
        case .failure(.source(let failure)): "\(failure)"
        }
    }

    private func answer(_ token: String, to index: Int = 0) -> TokenRequest.Taken {
        Array(token.utf8).withUnsafeBytes { provider.requests[index].succeed($0, life: 3_600) }
    }

    @Test("T3: a waiter gets its result once, when the answer comes, and later callers have it at once") func asking() {
        let told = Told()
        #expect(source.tokenAtHand() == nil)
        #expect(source.token(for: told.waiter(source)) == nil)
        #expect(provider.requests.count == 1)
        #expect(answer(" abc ") == .taken)
        #expect(answer("def") == .refused)
        #expect(told.results == ["abc"])
        #expect(Self.shown(source.token(for: told.waiter(source))) == "abc")
        #expect(source.tokenAtHand()?.generation == 1)
        #expect((source.itemAtHand?.takeRetainedValue() as? AccessToken)?.generation == 1)
    }

    @Test("T9: a canceled waiter gets its result at once, and not again when the answer comes") func cancel() {
        let told = Told()
        let waiter = told.waiter(source)
        _ = source.token(for: waiter)
        source.cancel(waiter)
        source.cancel(waiter)
        _ = answer("abc")
        #expect(told.results == ["cancelled"])
        #expect(source.tokenAtHand() != nil)
    }

    @Test("T9: a switch ends the wait; one that was triggered before allows no request") func cancelSwitch() throws {
        let told = Told()
        let cancelSwitch = try #require(CancelSwitch.make())
        #expect(source.token(for: told.waiter(source, cancelSwitch)) == nil)
        cancelSwitch.trigger()
        #expect(told.results == ["cancelled"])
        #expect(Self.shown(source.token(for: told.waiter(source, cancelSwitch))) == "cancelled")
    }

    @Test("T8: by generation and by bytes, only the token that is kept is dropped") func invalidate() {
        _ = source.token(for: Told().waiter(source))
        _ = answer("abc")
        source.invalidate(generation: 2)
        Array("abd".utf8).withUnsafeBytes { source.invalidate($0) }
        #expect(source.tokenAtHand() != nil)
        Array("abc".utf8).withUnsafeBytes { source.invalidate($0) }
        #expect(source.tokenAtHand() == nil && source.itemAtHand == nil)
        _ = source.token(for: Told().waiter(source))
        _ = answer("def", to: 1)
        source.invalidate(generation: 1)
        #expect(source.tokenAtHand()?.generation == 2)
        source.invalidate(generation: 2)
        #expect(source.tokenAtHand() == nil)
    }

    @Test("T10: closing tells who waits, and refuses everything from then on") func closing() {
        let told = Told()
        _ = source.token(for: told.waiter(source))
        source.close()
        #expect(told.results == ["closed"])
        #expect(answer("abc") == .refused)
        #expect(Self.shown(source.token(for: told.waiter(source))) == "closed")
    }

    @Test("T6: waiters get the error for an invalid token") func invalidToken() {
        let told = Told()
        _ = source.token(for: told.waiter(source))
        #expect(answer("a b") == .taken)
        #expect(told.results == ["invalidToken"])
    }

    @Test("T5: retries come on the source's thread, and waits can be seen on a manual clock") func retries() throws {
        let clock = try #require(SharedManualClock.make())
        var settings = TokenSettings()
        settings.providerTimeout = .max
        settings.retryPolicy.jitterRatio = 0
        let source = try #require(
            TokenSource.make(provider: provider, settings: settings, clock: .manual(clock)) { $0 })
        let told = try #require(Waiter.make())
        let waiter = TokenWaiter(source: source, cancelSwitch: nil, delivery: .thread(told))
        _ = source.token(for: waiter)
        for (index, wait) in [1.0, 2].enumerated() {
            #expect(provider.requests[index].fail(.failed(.none), isRetryable: true) == .taken)
            #expect(clock.waitForTimer(timeoutMilliseconds: 60_000) == .done)
            #expect(clock.advance(bySeconds: wait))
            while provider.requests.count == index + 1 { shim_yield() }
        }
        _ = answer("abc", to: 2)
        #expect(told.wait(until: .max))
        #expect(Self.shown(waiter.result) == "abc")
        source.close()
    }
}
