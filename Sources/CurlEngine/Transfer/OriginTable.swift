/// Numbers by origin: a hash table with linear probing. The keys are `shim_url.origin`, which is a keyed hash already,
/// so that hosts neither collide by intent nor cluster.
///
/// (The standard library's Dictionary would bring in a source of randomness that older systems do not have.)
struct OriginTable {
    private var slots: [Slot] = []
    private(set) var count = 0

    private struct Slot {
        var origin: UInt64 = 0
        /// Below 0: the slot is free.
        var value = -1
    }

    /// Nil: there is none.
    func value(of origin: UInt64) -> Int? {
        index(of: origin).map { slots[$0].value }
    }

    /// `value`: 0 or more.
    mutating func set(_ origin: UInt64, to value: Int) {
        if let index = index(of: origin) {
            slots[index].value = value
            return
        }
        // At most three quarters are in use, so that a search soon comes to an end.
        if 4 * (count + 1) > 3 * slots.count { grow() }
        slots[firstFree(for: origin)] = Slot(origin: origin, value: value)
        count += 1
    }

    mutating func remove(_ origin: UInt64) {
        guard var hole = index(of: origin) else { return }
        slots[hole] = Slot()
        count -= 1
        // Each entry that follows without a gap may have been meant for the hole, or for a slot before it.
        var next = following(hole)
        while slots[next].value >= 0 {
            let distance = (next &- home(of: slots[next].origin)) & mask
            if distance >= (next &- hole) & mask {
                slots[hole] = slots[next]
                slots[next] = Slot()
                hole = next
            }
            next = following(next)
        }
    }

    mutating func removeAll() {
        slots = []
        count = 0
    }

    private var mask: Int { slots.count &- 1 }

    private func home(of origin: UInt64) -> Int { Int(truncatingIfNeeded: origin) & mask }

    private func following(_ index: Int) -> Int { (index &+ 1) & mask }

    private func index(of origin: UInt64) -> Int? {
        guard count > 0 else { return nil }
        var index = home(of: origin)
        while slots[index].value >= 0 {
            if slots[index].origin == origin { return index }
            index = following(index)
        }
        return nil
    }

    private func firstFree(for origin: UInt64) -> Int {
        var index = home(of: origin)
        while slots[index].value >= 0 { index = following(index) }
        return index
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Slot(), count: max(2 * old.count, 16))
        for slot in old where slot.value >= 0 { slots[firstFree(for: slot.origin)] = slot }
    }
}
