/// Whoever waits for a time stands in a queue with such an entry. It belongs to one queue, and one thread at a time.
public class TimerEntry {
    /// Nanoseconds of CLOCK_MONOTONIC.
    fileprivate(set) var due: Int64 = 0
    /// Where it stands in the heap; -1 if it does not.
    fileprivate var index = -1

    final var isWaiting: Bool { index >= 0 }

    /// The time has come. The entry stands in no queue any more, and may be put into one again.
    func fire(now: Int64) {}
}

/// All that waits for a time, the earliest first: a heap of four children each, which is flatter than one of two.
struct TimerQueue {
    private var heap: [TimerEntry] = []

    var count: Int { heap.count }

    /// When the next entry is due; nil if there is none.
    var nextDue: Int64? { heap.first?.due }

    /// Puts an entry in, or moves it to another time.
    mutating func set(_ entry: TimerEntry, due: Int64) {
        entry.due = due
        if entry.index < 0 {
            entry.index = heap.count
            heap.append(entry)
            siftUp(entry.index)
        } else {
            siftUp(entry.index)
            siftDown(entry.index)
        }
    }

    mutating func remove(_ entry: TimerEntry) {
        let index = entry.index
        guard index >= 0, index < heap.count else { return }
        entry.index = -1
        let last = heap.removeLast()
        guard index < heap.count else { return }
        heap[index] = last
        last.index = index
        siftUp(index)
        siftDown(last.index)
    }

    /// Takes out the earliest entry, if it is due.
    mutating func takeDue(now: Int64) -> TimerEntry? {
        guard let first = heap.first, first.due <= now else { return nil }
        remove(first)
        return first
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        let entry = heap[index]
        while index > 0 {
            let parent = (index - 1) >> 2
            guard entry.due < heap[parent].due else { break }
            place(heap[parent], at: index)
            index = parent
        }
        place(entry, at: index)
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        let entry = heap[index]
        while true {
            let firstChild = index << 2 + 1
            guard firstChild < heap.count else { break }
            var least = firstChild
            for child in firstChild + 1..<max(min(firstChild + 4, heap.count), firstChild + 1)
            where heap[child].due < heap[least].due {
                least = child
            }
            guard heap[least].due < entry.due else { break }
            place(heap[least], at: index)
            index = least
        }
        place(entry, at: index)
    }

    private mutating func place(_ entry: TimerEntry, at index: Int) {
        heap[index] = entry
        entry.index = index
    }
}
