/// Whoever waits for a time stands in a queue with such an entry. It belongs to one queue, and one thread at a time.
public class TimerEntry {
    /// Nanoseconds of CLOCK_MONOTONIC.
    fileprivate(set) var due: Int64 = 0
    /// Where it stands in the heap; -1 if it does not.
    fileprivate var index = -1

    /// The time has come. The entry stands in no queue any more, and may be put into one again.
    func fire(now: Int64) {}
}

/// All that waits for a time, the earliest first: a heap of four children each, which is flatter than one of two. It keeps
/// its entries, and counts a reference only when one comes or goes.
struct TimerQueue: ~Copyable {
    private var heap: [Slot] = []

    private struct Slot {
        /// The entry's; here, so that entries need not be looked at to be compared.
        let due: Int64
        let entry: Unmanaged<TimerEntry>
    }

    deinit {
        for slot in heap { slot.entry.release() }
    }

    var count: Int { heap.count }

    /// When the next entry is due; nil if there is none.
    var nextDue: Int64? { heap.first?.due }

    /// Puts an entry in, or moves it to another time.
    mutating func set(_ entry: TimerEntry, due: Int64) {
        entry.due = due
        guard entry.index >= 0, entry.index < heap.count else {
            let slot = Slot(due: due, entry: Unmanaged.passRetained(entry))
            heap.append(slot)
            return siftUp(slot, from: heap.count - 1)
        }
        sift(Slot(due: due, entry: Unmanaged.passUnretained(entry)), from: entry.index)
    }

    mutating func remove(_ entry: TimerEntry) {
        let index = entry.index
        guard index >= 0, index < heap.count else { return }
        _ = take(at: index)
    }

    /// Takes out the earliest entry, if it is due.
    mutating func takeDue(now: Int64) -> TimerEntry? {
        guard let first = heap.first, first.due <= now else { return nil }
        return take(at: 0)
    }

    private mutating func take(at index: Int) -> TimerEntry {
        let entry = heap[index].entry.takeRetainedValue()
        entry.index = -1
        let last = heap.removeLast()
        if index < heap.count { sift(last, from: index) }
        return entry
    }

    /// Puts a slot in the place of the one at `index`, and then where it belongs.
    private mutating func sift(_ slot: Slot, from index: Int) {
        if index > 0, slot.due < heap[(index - 1) >> 2].due {
            siftUp(slot, from: index)
        } else {
            siftDown(slot, from: index)
        }
    }

    private mutating func siftUp(_ slot: Slot, from start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) >> 2
            guard slot.due < heap[parent].due else { break }
            place(heap[parent], at: index)
            index = parent
        }
        place(slot, at: index)
    }

    private mutating func siftDown(_ slot: Slot, from start: Int) {
        var index = start
        while true {
            let firstChild = index << 2 + 1
            guard firstChild < heap.count else { break }
            var least = firstChild
            for child in firstChild + 1..<max(min(firstChild + 4, heap.count), firstChild + 1)
            where heap[child].due < heap[least].due {
                least = child
            }
            guard heap[least].due < slot.due else { break }
            place(heap[least], at: index)
            index = least
        }
        place(slot, at: index)
    }

    private mutating func place(_ slot: Slot, at index: Int) {
        heap[index] = slot
        slot.entry._withUnsafeGuaranteedRef { $0.index = index }
    }
}
