import CShims
import RetryCore
import Testing

@testable import CurlEngine

/// How an engine uses a manual clock that advances by itself.
@Suite struct VirtualTimeTests {
    /// Real nanoseconds that are ample for what takes milliseconds.
    private let soon: Int64 = 10_000_000_000

    /// Waits for a second of the clock. False: the clock does not advance.
    private func passesSecond(_ clock: SharedManualClock) throws -> Bool {
        let user = SharedManualClock.User()
        let waiter = try #require(Waiter.make())
        let due = clock.monotonic.advanced(bySeconds: 1).nanoseconds
        let isEarly = clock.wait(user, until: due, .none, isEvent: true) {
            clock.set(user, .none)
            waiter.signal()
        }
        return !isEarly || waiter.wait(until: shim_monotonic_nanoseconds() + soon)
    }

    @Test("an alarm of the clock that comes after the last call has ended does not stop the clock")
    func lateAlarm() throws {
        let clock = try #require(SharedManualClock.make())
        let transport = ScriptedTransport([.status(200)], clock: ManualClock())
        let engine = try Engine.make(settings: EngineSettings(), clock: .manual(clock), transport: transport)
        defer {
            _ = clock.setAutoAdvance(false)
            engine.close()
        }
        #expect(clock.setAutoAdvance(true))
        #expect(try passesSecond(clock))
        engine.clockRang()
        #expect(try passesSecond(clock))
    }
}
