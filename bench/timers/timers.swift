// The engine's timer queue, as bench/timers/timers.c uses it. Compiled together with
// Sources/CurlEngine/Clock/TimerQueue.swift, as the library is: Embedded.

private final class Waiting: TimerEntry {}

private final class Timers {
    var queue = TimerQueue()
}

private let timers = Timers()

@_cdecl("ours_add") func add(_ due: Int64) -> UnsafeMutableRawPointer {
    let entry = Waiting()
    timers.queue.set(entry, due: due)
    return Unmanaged.passUnretained(entry).toOpaque()  // The queue keeps it.
}

@_cdecl("ours_cancel") func cancel(_ entry: UnsafeMutableRawPointer) {
    // As a caller of the engine's has it: lent, without a reference more.
    Unmanaged<Waiting>.fromOpaque(entry)._withUnsafeGuaranteedRef { timers.queue.remove($0) }
}

/// The time of the first entry, which goes; -1: there is none.
@_cdecl("ours_fire") func fire() -> Int64 {
    timers.queue.takeDue(now: .max)?.due ?? -1
}
