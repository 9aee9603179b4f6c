/// What waits for a time has such an entry in a queue. It belongs to one queue, and one thread at a time.
public class TimerEntry {
    /// Nanoseconds of CLOCK_MONOTONIC.
    fileprivate(set) var due: Int64 = 0
    /// Its index in the heap; -1 if it is not there.
    fileprivate var index = -1

    /// The entry does work for somebody. False for housekeeping, which a manual clock does not advance to.
    var isWaitedFor: Bool { true }

    /// The time has come. The entry is no longer in a queue, and may be put into one again.
    func fire(now: Int64) {}
}

/// All that waits for a time, the earliest first: a heap of four children each, which is flatter than one of two. It
/// keeps its entries.
struct TimerQueue: ~Copyable {
    // Separate memory: the slots of an array could not be moved without counting references.
    private var slots = UnsafeMutablePointer<Slot>.allocate(capacity: Self.firstCapacity)
    private var capacity = Self.firstCapacity
    private(set) var count = 0

    private static let firstCapacity = 4

    /// Not copyable: it moves from place to place, and its reference with it.
    private struct Slot: ~Copyable {
        /// The entry's; here, so that entries need not be looked at to be compared.
        var due: Int64
        let entry: TimerEntry

        consuming func taken() -> TimerEntry { entry }
    }

    deinit {
        slots.deinitialize(count: count)
        slots.deallocate()
    }

    /// When the next entry is due; nil if there is none.
    var nextDue: Int64? { count > 0 ? slots[0].due : nil }

    /// The same among the entries that somebody waits for. It looks at the others only if the earliest is not one of
    /// these.
    var nextDueOfWaiting: Int64? {
        guard count > 0, !slots[0].entry.isWaitedFor else { return nextDue }
        var next: Int64?
        for index in 1..<count where slots[index].entry.isWaitedFor {
            next = min(next ?? .max, slots[index].due)
        }
        return next
    }

    /// Puts an entry in, or moves it to another time.
    @inline(never)  // Its callers are many.
    mutating func set(_ entry: TimerEntry, due: Int64) {
        entry.due = due
        if isWaiting(entry) {
            var slot = (slots + entry.index).move()
            slot.due = due
            sift(slot, from: entry.index)
        } else {
            if count == capacity { grow() }
            count += 1
            siftUp(Slot(due: due, entry: entry), from: count - 1)
        }
    }

    mutating func remove(_ entry: TimerEntry) {
        if isWaiting(entry) { _ = take(at: entry.index) }
    }

    /// Takes out the earliest entry, if it is due.
    mutating func takeDue(now: Int64) -> TimerEntry? {
        count > 0 && slots[0].due <= now ? take(at: 0) : nil
    }

    private func isWaiting(_ entry: TimerEntry) -> Bool {
        entry.index >= 0 && entry.index < count
    }

    private mutating func take(at index: Int) -> TimerEntry {
        let entry = (slots + index).move().taken()
        entry.index = -1
        count -= 1
        if index < count { sift((slots + count).move(), from: index) }
        return entry
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Slot>.allocate(capacity: 2 * capacity)
        larger.moveInitialize(from: slots, count: count)
        slots.deallocate()
        slots = larger
        capacity *= 2
    }

    /// Puts a slot where it belongs, beginning with a place that is free: that of another, or its own.
    private func sift(_ slot: consuming Slot, from index: Int) {
        if index > 0, slot.due < slots[(index - 1) >> 2].due {
            siftUp(slot, from: index)
        } else {
            siftDown(slot, from: index)
        }
    }

    private func siftUp(_ slot: consuming Slot, from start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) >> 2
            guard slot.due < slots[parent].due else { break }
            place((slots + parent).move(), at: index)
            index = parent
        }
        place(slot, at: index)
    }

    private func siftDown(_ slot: consuming Slot, from start: Int) {
        var index = start
        while true {
            let firstChild = index << 2 + 1
            guard firstChild < count else { break }
            var least = firstChild
            for child in firstChild + 1..<max(min(firstChild + 4, count), firstChild + 1)
            where slots[child].due < slots[least].due {
                least = child
            }
            guard slots[least].due < slot.due else { break }
            place((slots + least).move(), at: index)
            index = least
        }
        place(slot, at: index)
    }

    private func place(_ slot: consuming Slot, at index: Int) {
        slot.entry.index = index
        (slots + index).initialize(to: slot)
    }
}
