import BoxRetry
import CBoxRetry
import Foundation
import Testing

/// The manual clock with threads that sleep on it.
@Suite struct ClockTests {
    @Test("a sleeper wakes when the clock has been advanced far enough, not before") func sleep() throws {
        let clock = try newManualClock()
        let sleeper = Background { boxretry_clock_sleep(clock.pointer, 5) }
        try check(boxretry_clock_wait_for_timer(clock.pointer, Int64.max))
        try check(boxretry_clock_advance(clock.pointer, 4.999))
        #expect(boxretry_clock_wait_for_timer(clock.pointer, 0) == BOXRETRY_OK, "it still waits")
        try check(boxretry_clock_advance(clock.pointer, 0.001))
        #expect(sleeper.result() == "ok")
        #expect(boxretry_clock_wait_for_timer(clock.pointer, 0) == BOXRETRY_ERROR_WAIT_TIMEOUT, "no timer is left")
    }

    @Test("wait_for_timer sees only waits whose time has not come, so that a test cannot run ahead") func noRace()
        throws
    {
        let clock = try newManualClock()
        for _ in 0..<200 {
            let sleeper = Background { boxretry_clock_sleep(clock.pointer, 1) }
            try check(boxretry_clock_wait_for_timer(clock.pointer, Int64.max))
            try check(boxretry_clock_advance(clock.pointer, 1))
            #expect(sleeper.result() == "ok")
        }
    }

    @Test("many sleepers wake, each at its own time") func manySleepers() throws {
        let clock = try newManualClock()
        let sleepers = (1...8).map { seconds in
            Background { () -> boxretry_error in
                let error = boxretry_clock_sleep(clock.pointer, Double(seconds))
                var now = 0.0
                _ = boxretry_clock_now(clock.pointer, Int32(BOXRETRY_TIMELINE_MONOTONIC), &now)
                return now >= Double(seconds) ? error : -1
            }
        }
        while sleepers.contains(where: { !$0.isDone }) {
            if boxretry_clock_wait_for_timer(clock.pointer, 1) == BOXRETRY_OK {
                try check(boxretry_clock_advance(clock.pointer, 1))
            }
        }
        #expect(sleepers.allSatisfy { $0.result() == "ok" })
    }

    @Test("freeing a clock ends the sleeps on it") func closed() throws {
        var clock: OpaquePointer?
        try check(boxretry_clock_new_manual(&clock))
        let sleeper = Background { [clock] in boxretry_clock_sleep(clock, 5) }
        try check(boxretry_clock_wait_for_timer(clock, Int64.max))
        boxretry_clock_free(clock)
        #expect(sleeper.result() == "closed")
    }

    @Test("a loop keeps its clock when the clock's handle is freed") func retained() throws {
        let loop: Owned
        do {
            let clock = try newManualClock()
            let strategy = try newStrategy()
            loop = try newLoop(strategy) {
                $0.clock = clock.pointer
                $0.deadline_ms = 60_000
            }
            try check(boxretry_clock_advance(clock.pointer, 60))
        }
        #expect(try next(loop, status: 503).reason == BOXRETRY_REASON_DEADLINE)
    }

    @Test("the system's clock tells the time, and a sleep on it takes at least as long") func systemClock() throws {
        var (before, after, wall) = (0.0, 0.0, 0.0)
        try check(boxretry_clock_now(nil, Int32(BOXRETRY_TIMELINE_MONOTONIC), &before))
        try check(boxretry_clock_sleep(nil, 0.01))
        try check(boxretry_clock_now(nil, Int32(BOXRETRY_TIMELINE_MONOTONIC), &after))
        try check(boxretry_clock_now(nil, Int32(BOXRETRY_TIMELINE_WALL), &wall))
        #expect(after - before >= 0.01)
        #expect(abs(wall - Date().timeIntervalSince1970) < 60)
    }
}

/// Something that a thread of its own does.
private final class Background: @unchecked Sendable {
    private let done = DispatchSemaphore(value: 0)
    private let lock = NSLock()
    private var error: boxretry_error?

    init(_ body: @escaping () -> boxretry_error) {
        nonisolated(unsafe) let body = body
        Thread.detachNewThread { [self] in
            let error = body()
            lock.withLock { self.error = error }
            done.signal()
        }
    }

    var isDone: Bool { lock.withLock { error != nil } }

    /// The name of the error, once the thread has ended.
    func result() -> String {
        done.wait()
        done.signal()
        return boxretry_error_name(lock.withLock { error } ?? -1).text
    }
}
