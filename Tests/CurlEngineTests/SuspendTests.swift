import RetryCore
import Testing

@testable import CurlEngine

/// What the clocks are for (M6): given a machine that sleeps for an hour, one second into what is under way.
@Suite struct SuspendTests {
    private static let hour = 3_600.0

    /// Its server answers at once, and then sends a byte every half second.
    private func sceneThatSleeps(bytes: Int) throws -> Scene {
        var clock: ManualClock?
        var events: [(Double, Script.Event)] = [
            (0, .head("HTTP/1.1 200 OK\r\n")), (0, .head("\r\n")),
            (1, .run { _ = clock?.suspend(forSeconds: Self.hour) }),
        ]
        for number in 1...bytes { events.append((0.5 * Double(number), .body("x"))) }
        events.append((0.5 * Double(bytes), .end(.done)))
        let scene = try Scene(Script(events: events), .status(200))
        clock = scene.clock
        return scene
    }

    @Test("M6: the idle time rests while the machine sleeps") func idle() throws {
        let result = try sceneThatSleeps(bytes: 6).perform { $0.idleTimeout = 1_000_000_000 }
        #expect(result.bodyText == "xxxxxx")
    }

    @Test("M6, M2: the resource time does not, and is looked at when something happens") func resource() throws {
        let scene = try sceneThatSleeps(bytes: 40)
        let result = try scene.perform { $0.resourceTimeout = 10_000_000_000 }
        #expect(result.records.map(\.cause) == [.timeoutResource, .none])
        #expect(result.records[0].endedAt <= 1_500_000_000)
    }

    @Test("M6, B11: nor does the deadline") func deadline() throws {
        let scene = try sceneThatSleeps(bytes: 40)
        let result = try scene.perform { $0.deadline = 10_000 }
        #expect(result.ending == .deadline)
        #expect(scene.clock.monotonic.seconds <= 1.5)
    }

    @Test("M6: a backoff rests while the machine sleeps") func backoff() throws {
        let scene = try Scene(.status(503), .status(200))
        let sleep = Sleep(scene.clock, seconds: Self.hour)
        scene.engine.timers.set(sleep, due: 1_000_000_000)
        let result = try scene.perform()
        #expect(result.waits == [2])
        #expect(scene.clock.boottime.seconds == Self.hour + 2)
    }

    @Test("M6, B11: a deadline that passes while the machine sleeps lets no further attempt begin") func wait() throws {
        let scene = try Scene(.status(503), .status(200))
        let sleep = Sleep(scene.clock, seconds: Self.hour)
        scene.engine.timers.set(sleep, due: 1_000_000_000)
        let result = try scene.perform { $0.deadline = 60_000 }
        #expect(result.ending == .deadline)
        #expect(scene.transport.begun.count == 1)
    }
}

/// Lets the machine sleep at a moment of virtual time.
private final class Sleep: TimerEntry {
    private let clock: ManualClock
    private let seconds: Double

    init(_ clock: ManualClock, seconds: Double) {
        self.clock = clock
        self.seconds = seconds
    }

    override func fire(now: Int64) {
        _ = clock.suspend(forSeconds: seconds)
    }
}
