/// First in, first out. Each call knows its index, so that removing any call takes constant time.
struct CallQueue {
    private var calls: [Call?] = []
    /// The index of the first call; those before it have left.
    private var first = 0
    private(set) var count = 0
    /// The number of entries that were removed from the front of the array.
    private var removed = 0
    /// The calls before this index have been counted as held.
    private var countedUpTo = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ call: Call) {
        call.indexInQueue = removed + calls.count
        calls.append(call)
        count += 1
    }

    mutating func takeFirst() -> Call? {
        guard count > 0 else { return nil }
        while first < calls.count {
            let call = calls[first]
            calls[first] = nil
            first += 1
            guard let call else { continue }
            count -= 1
            compact()
            return call
        }
        return nil
    }

    mutating func remove(_ call: Call) {
        let index = call.indexInQueue - removed
        guard calls.indices.contains(index), calls[index] === call else { return }
        calls[index] = nil
        count -= 1
        compact()
    }

    /// A gate has closed, and holds all calls: how many of them have not been counted yet. Looks at each call once.
    mutating func countHeld() -> Int64 {
        var held: Int64 = 0
        for call in calls[max(countedUpTo - removed, first)...] where call?.isCountedAsHeld == false { held += 1 }
        countedUpTo = removed + calls.count
        return held
    }

    private mutating func compact() {
        if count == 0 {
            removed += calls.count
            calls.clear()
            first = 0
        } else if first > 1_024, first > calls.count / 2 {
            removed += first
            for index in first..<calls.count { calls[index - first] = calls[index] }
            for _ in 0..<first { calls.removeLast() }
            first = 0
        }
    }
}

extension Array {
    /// Empties it, and keeps its memory for the next elements, unless it has grown beyond what is usual. (`removeAll` is
    /// larger, and slower for few elements.)
    mutating func clear() {
        if count > 1_024 {
            self = []
        } else {
            while !isEmpty { removeLast() }
        }
    }
}
