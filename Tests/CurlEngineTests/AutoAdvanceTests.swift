import Testing

@testable import CurlEngine

/// When a clock that advances by itself may do so. What it waits for is counted here in waits of a millisecond.
@Suite struct AutoAdvanceTests {
    @Test("it rests while it is off, without timers, and while somebody is at work") func rests() {
        var auto = AutoAdvance()
        #expect(auto.next(hasTimer: true) == .rest)
        auto.isOn = true
        #expect(auto.next(hasTimer: false) == .rest)
        auto.change(from: .none, to: .work)
        #expect(auto.next(hasTimer: true) == .rest)
        auto.change(from: .work, to: .none)
        #expect(auto.next(hasTimer: true) == .wait)
    }

    @Test(
        "what others may still do decides how long it waits",
        arguments: [(AutoAdvance.Activity.none, 1), (.attempt, 100), (.slow, 1_500)])
    func waits(activity: AutoAdvance.Activity, waits: Int) {
        var auto = on()
        auto.change(from: .none, to: .none)
        auto.change(from: .none, to: activity)
        #expect(waitsUntilAdvance(&auto) == waits)
    }

    @Test("the one that may take longest counts") func longest() {
        var auto = on()
        auto.change(from: .none, to: .attempt)
        auto.change(from: .none, to: .slow)
        #expect(waitsUntilAdvance(&auto) == 1_500)
        auto.change(from: .slow, to: .none)
        #expect(waitsUntilAdvance(&auto) == 100)
        auto.change(from: .attempt, to: .none)
        #expect(waitsUntilAdvance(&auto) == 1)
    }

    @Test("an event starts the wait again") func event() {
        var auto = on()
        auto.change(from: .none, to: .attempt)
        for _ in 0..<60 { wait(&auto) }
        auto.event()
        #expect(waitsUntilAdvance(&auto) == 100)
    }

    @Test("a wait in which something happened does not count, nor one at whose end somebody is at work")
    func disturbed() {
        var auto = on()
        auto.change(from: .none, to: .attempt)
        for _ in 0..<99 { wait(&auto) }
        #expect(auto.next(hasTimer: true) == .wait)
        auto.change(from: .attempt, to: .work)
        auto.waited(isBusy: false)
        #expect(auto.next(hasTimer: true) == .rest)
        auto.change(from: .work, to: .attempt)
        #expect(waitsUntilAdvance(&auto) == 1, "work alone does not count as an event: libcurl's timers are that, too")

        #expect(auto.next(hasTimer: true) == .wait)
        auto.event()
        auto.waited(isBusy: false)
        #expect(waitsUntilAdvance(&auto) == 100)
    }

    @Test("on a busy machine it waits eight times as often") func busy() {
        var auto = on()
        auto.change(from: .none, to: .attempt)
        #expect(waitsUntilAdvance(&auto, isBusy: true) == 800)
    }

    @Test("after it has advanced, it waits again") func again() {
        var auto = on()
        for _ in 0..<3 { #expect(waitsUntilAdvance(&auto) == 1) }
    }

    private func on() -> AutoAdvance {
        var auto = AutoAdvance()
        auto.isOn = true
        return auto
    }

    private func wait(_ auto: inout AutoAdvance) {
        #expect(auto.next(hasTimer: true) == .wait)
        auto.waited(isBusy: false)
    }

    private func waitsUntilAdvance(_ auto: inout AutoAdvance, isBusy: Bool = false) -> Int {
        var waits = 0
        while auto.next(hasTimer: true) == .wait {
            auto.waited(isBusy: isBusy)
            waits += 1
        }
        return waits
    }
}
