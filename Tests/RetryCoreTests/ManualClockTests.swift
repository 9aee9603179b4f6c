import RetryCore
import Testing

@Suite struct ManualClockTests {
    @Test("a manual clock stands still until it is moved") func standsStill() {
        let clock = ManualClock()
        #expect(clock.monotonic.nanoseconds == 0 && clock.boottime.nanoseconds == 0 && clock.wall == 0)
    }

    @Test("M6: advancing moves all timelines; a suspended machine rests on the monotonic one") func timelines() {
        let clock = ManualClock()
        #expect(clock.advance(bySeconds: 1.5))
        #expect(clock.suspend(forSeconds: 10))
        #expect(clock.monotonic.seconds == 1.5)
        #expect(clock.boottime.seconds == 11.5)
        #expect(clock.wall == 11.5)
    }

    @Test("the wall clock can be set, back too, and nothing else moves") func wall() {
        let clock = ManualClock()
        #expect(clock.setWall(1_790_000_000))
        #expect(clock.setWall(-5))
        #expect(clock.wall == -5)
        #expect(clock.boottime.nanoseconds == 0)
        for time in [Double.nan, .infinity, -62_135_596_801, 253_402_300_800] { #expect(!clock.setWall(time)) }
    }

    @Test("an invalid delay, or one past the end of the clock, moves nothing") func refused() {
        let clock = ManualClock()
        for seconds in [-1, Double.nan, .infinity, 2_147_483_648] {
            #expect(!clock.advance(bySeconds: seconds) && !clock.suspend(forSeconds: seconds))
        }
        #expect(clock.advance(bySeconds: Delay.maximum))
        #expect(clock.advance(bySeconds: Delay.maximum))
        #expect(!clock.advance(bySeconds: 3))
        #expect(clock.monotonic.seconds == 2 * Delay.maximum)
        #expect(clock.advance(bySeconds: 2))
        #expect(!clock.advance(bySeconds: 1e-9), "the end of the clock is exact")
    }

    @Test("whole milliseconds are whole milliseconds, however they look as a Double") func rounding() {
        let clock = ManualClock()
        for milliseconds in Int64(1)...5_000 {
            let before = clock.boottime
            #expect(clock.advance(bySeconds: Double(milliseconds) / 1_000))
            #expect(clock.boottime.nanoseconds == before.advanced(byMilliseconds: milliseconds).nanoseconds)
        }
    }

    @Test("instants saturate rather than overflow") func saturation() {
        let late = Instant(nanoseconds: .max - 1)
        #expect(late.advanced(bySeconds: 1).nanoseconds == .max)
        #expect(late.advanced(byMilliseconds: .max).nanoseconds == .max)
        #expect(Instant(nanoseconds: 5).advanced(bySeconds: .nan).nanoseconds == 5)
    }
}
