import RetryCore
import Testing

@testable import CurlEngine

/// The timeouts of a call that sets none, or only one of the two, in virtual time.
@Suite struct DefaultTimeoutTests {
    /// Nothing is retried.
    private var once: BoxRetryOptions {
        var options = BoxRetryOptions()
        options.maxAttempts = 0
        options.maxRetriesOnException = 0
        return options
    }

    @Test(
        "M1, M3: without an idle timeout of the caller, silence ends an attempt after 60 s", arguments: [false, true])
    func idle(givesTheOther: Bool) throws {
        let result = try Scene(.silence).perform(strategy: BoxRetryStrategy(checked: once)) {
            if givesTheOther { $0.resourceTimeout = 120_000_000_000 }
        }
        #expect(result.ending == .exception(.timeoutIdle))
        #expect(result.lastEnd == 60)
    }

    @Test("M2, M3: without a resource timeout of the caller, an attempt ends after 6 hours", arguments: [false, true])
    func resource(givesTheOther: Bool) throws {
        let head: [(Double, Script.Event)] = [(0, .head("HTTP/1.1 200 OK\r\n")), (0, .head("\r\n"))]
        let drip = (1...1_000).map { (Double($0) * 25, Script.Event.body("x")) }
        let result = try Scene(Script(events: head + drip)).perform(strategy: BoxRetryStrategy(checked: once)) {
            if givesTheOther { $0.idleTimeout = 30_000_000_000 }
        }
        #expect(result.ending == .exception(.timeoutResource))
        #expect(result.lastEnd == 21_600)
    }

    @Test("M1, M2: the source's example, 30 s and 120 s: each ends an attempt that the other one lets pass")
    func example() throws {
        let silent = try Scene(.silence).perform(strategy: BoxRetryStrategy(checked: once), set)
        #expect(silent.ending == .exception(.timeoutIdle))
        #expect(silent.lastEnd == 30)

        let head: [(Double, Script.Event)] = [(0, .head("HTTP/1.1 200 OK\r\n")), (0, .head("\r\n"))]
        let drip = (1...10).map { (Double($0) * 29, Script.Event.body("x")) }
        let slow = try Scene(Script(events: head + drip)).perform(strategy: BoxRetryStrategy(checked: once), set)
        #expect(slow.ending == .exception(.timeoutResource))
        #expect(slow.lastEnd == 120)

        func set(_ settings: inout CallSettings) {
            settings.idleTimeout = 30_000_000_000
            settings.resourceTimeout = 120_000_000_000
        }
    }
}
