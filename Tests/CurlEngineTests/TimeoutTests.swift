import RetryCore
import Testing

@testable import CurlEngine

/// Timeouts and cancellation, in virtual time.
@Suite struct TimeoutTests {
    @Test("F30, M1: a first byte within the idle time is in time") func firstByte() throws {
        let result = try Scene(.status(200, after: 0.2)).perform { $0.idleTimeout = 500_000_000 }
        #expect(result.status == 200)
    }

    @Test("F31, M1: each byte restarts the idle time") func drip() throws {
        let drip = (1...8).map { (Double($0) * 2.5, Script.Event.body("x")) }
        let script = Script(
            events: [(0, .head("HTTP/1.1 200 OK\r\n")), (0, .head("\r\n"))] + drip + [(20, .end(.done))])
        let result = try Scene(script).perform { $0.idleTimeout = 5_000_000_000 }
        #expect(result.bodyText == "xxxxxxxx")
    }

    @Test("F32, M1: after a burst, the idle time counts from its last byte") func burst() throws {
        let script = Script(events: [
            (0.1, .head("HTTP/1.1 200 OK\r\n")), (0.1, .head("\r\n")),
            (0.4, .body(String(repeating: "x", count: 100_000))),
        ])
        let result = try Scene(script).perform(strategy: BoxRetryStrategy(checked: none)) {
            $0.idleTimeout = 1_000_000_000
        }
        #expect(result.ending == .exception(.timeoutIdle))
        #expect(result.lastEnd == 1.4)
    }

    @Test("F33, M2: the resource time is never restarted") func resource() throws {
        let drip = (1...9).map { (Double($0) * 0.7, Script.Event.body("x")) }
        let script = Script(events: [(0, .head("HTTP/1.1 200 OK\r\n")), (0, .head("\r\n"))] + drip)
        let result = try Scene(script).perform(strategy: BoxRetryStrategy(checked: none)) {
            $0.resourceTimeout = 2_000_000_000
        }
        #expect(result.ending == .exception(.timeoutResource))
        #expect(result.lastEnd == 2)
    }

    @Test("M3, M4: timeouts are for one attempt, and are retried as exceptions") func retried() throws {
        let scene = try Scene(.silence)
        let result = try scene.perform { $0.idleTimeout = 1_000_000_000 }
        #expect(result.ending == .exception(.timeoutIdle))
        #expect(result.records.map(\.cause) == [.timeoutIdle, .timeoutIdle, .timeoutIdle])
        #expect(scene.transport.begun.map(\.at) == [0, 3, 8])
    }

    @Test("F36: the late answer to an attempt that timed out is not given to the next one") func lateAnswer() throws {
        let scene = try Scene(.status(200, body: "late", after: 5), .status(200, body: "own", after: 4))
        let result = try scene.perform { $0.idleTimeout = 4_500_000_000 }
        #expect(result.bodyText == "own")
        #expect(result.records.count == 2)
    }

    @Test("M5: no timeout is early, in any order of the timers") func neverEarly() throws {
        for milliseconds in stride(from: Int64(1), to: 40, by: 3) {
            let result = try Scene(.silence).perform(strategy: BoxRetryStrategy(checked: none)) {
                $0.idleTimeout = milliseconds * 1_000_000
                $0.resourceTimeout = 20_000_000
            }
            #expect(result.records[0].endedAt == min(milliseconds, 20) * 1_000_000)
        }
    }

    @Test("F40, K1: a cancel in a wait ends the call at once, with one request") func cancelInWait() throws {
        let cancel = try #require(CancelSwitch.make())
        let scene = try Scene(
            Script(events: [
                (0, .head("HTTP/1.1 503 Busy\r\n")), (0, .head("Retry-After: 60\r\n")), (0, .head("\r\n")),
                (0, .end(.done)),
            ]))
        // The virtual clock only stops where something happens: another call's event, 100 ms into the wait.
        let other = try scene.cancelLater(cancel, after: 0.1)
        let result = try scene.perform(cancelSwitch: cancel)
        #expect(result.ending == .cancelled)
        #expect(result.records.count == 1)
        #expect(scene.clock.monotonic.seconds == 0.1)
        _ = other
    }

    @Test("F41, K2: a cancel in flight is not an exception, and is not retried") func cancelInFlight() throws {
        let cancel = try #require(CancelSwitch.make())
        let scene = try Scene(Script(events: [(0.1, .run { cancel.trigger() })]))
        let result = try scene.perform(cancelSwitch: cancel)
        #expect(result.ending == .cancelled)
        #expect(result.records.count == 1 && result.records[0].decision == nil)
        #expect(scene.transport.begun.count == 1)
    }

    @Test("F42, K1: a cancel before the call, after it, and a thousand times: one ending") func cancelOften() throws {
        let cancel = try #require(CancelSwitch.make())
        for _ in 0..<1_000 { cancel.trigger() }
        let scene = try Scene(.status(200))
        #expect(try scene.perform(cancelSwitch: cancel).ending == .cancelled)
        let finished = try Scene(.status(200))
        #expect(try finished.perform().status == 200)
        if let call = finished.call { finished.engine.cancel(call) }
        #expect(try finished.perform().status == 200)
    }

    /// No retry.
    private var none: BoxRetryOptions {
        var options = BoxRetryOptions()
        options.maxAttempts = 0
        options.maxRetriesOnException = 0
        return options
    }
}

extension Scene {
    /// Triggers the switch at a moment of virtual time, in any state.
    fileprivate func cancelLater(_ cancel: CancelSwitch, after seconds: Double) throws -> CancelTimer {
        let timer = CancelTimer(cancel)
        engine.timers.set(timer, due: clock.monotonic.advanced(bySeconds: seconds).nanoseconds)
        return timer
    }
}

private final class CancelTimer: TimerEntry {
    private let cancel: CancelSwitch

    init(_ cancel: CancelSwitch) {
        self.cancel = cancel
    }

    override func fire(now: Int64) {
        cancel.trigger()
    }
}
