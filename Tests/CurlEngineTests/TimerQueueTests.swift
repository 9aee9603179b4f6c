import Testing

@testable import CurlEngine

@Suite struct TimerQueueTests {
    @Test("after any changes, entries come out in order, none early, none twice") func randomPrograms() {
        for seed in UInt64(1)...50 {
            var random = Generator(state: seed)
            var queue = TimerQueue()
            let entries = (0..<200).map { _ in TimerEntry() }
            var expected: [ObjectIdentifier: Int64] = [:]
            for _ in 0..<2_000 {
                let entry = entries.randomElement(using: &random) ?? entries[0]
                if Int.random(in: 0..<4, using: &random) == 0 {
                    queue.remove(entry)
                    expected[ObjectIdentifier(entry)] = nil
                } else {
                    let due = Int64.random(in: 0..<1_000, using: &random)
                    queue.set(entry, due: due)
                    expected[ObjectIdentifier(entry)] = due
                }
                #expect(queue.count == expected.count)
                #expect(queue.nextDue == expected.values.min())
            }
            #expect(queue.takeDue(now: -1) === nil)
            var last = Int64.min
            while let entry = queue.takeDue(now: .max) {
                let count = queue.count
                queue.remove(entry)
                #expect(entry.due >= last && queue.count == count, "it is no longer in the queue")
                #expect(expected.removeValue(forKey: ObjectIdentifier(entry)) == entry.due)
                last = entry.due
            }
            #expect(expected.isEmpty)
        }
    }

    @Test("an entry is kept while it waits: until it is removed or taken, or there is no queue any more")
    func lifetimes() {
        struct Watched {
            weak var entry: TimerEntry?
        }
        var watched: [Watched] = []
        do {
            var queue = TimerQueue()
            for number in 0..<9 {
                let entry = TimerEntry()
                queue.set(entry, due: Int64(number))
                queue.set(entry, due: Int64(-number))
                watched.append(Watched(entry: entry))
            }
            if let entry = watched[4].entry { queue.remove(entry) }
            _ = queue.takeDue(now: .max)
            #expect(watched.map { $0.entry != nil } == (0..<9).map { $0 != 4 && $0 != 8 })
            #expect(queue.count == 7)
        }
        #expect(watched.allSatisfy { $0.entry == nil })
    }
}

struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 33)
    }
}
