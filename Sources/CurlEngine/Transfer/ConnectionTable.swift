/// The descriptors of open connections, by a key that identifies a connection while it is open.
struct ConnectionTable {
    private static let bucketCount = 1_024

    /// The first descriptor of each bucket; -1: none.
    private var buckets = [Int32](repeating: -1, count: bucketCount)
    /// By descriptor.
    private var entries: [Entry] = []

    private struct Entry {
        /// 0: not in the table.
        var key: UInt64 = 0
        /// Transfers that use it.
        var users = 0
        /// A request was sent on it.
        var hasCarried = false
        /// The next descriptor in the same bucket; -1: none.
        var next: Int32 = -1
    }

    private static func bucket(_ key: UInt64) -> Int { Int((key >> 32 ^ key) % UInt64(bucketCount)) }

    func descriptor(of key: UInt64) -> Int32? {
        guard key != 0 else { return nil }
        var descriptor = buckets[Self.bucket(key)]
        while descriptor >= 0 {
            let entry = entries[Int(descriptor)]
            if entry.key == key { return descriptor }
            descriptor = entry.next
        }
        return nil
    }

    mutating func add(_ key: UInt64, _ descriptor: Int32) {
        guard key != 0, descriptor >= 0 else { return }
        remove(descriptor)
        let index = Int(descriptor)
        while entries.count <= index { entries.append(Entry()) }
        let bucket = Self.bucket(key)
        entries[index] = Entry(key: key, next: buckets[bucket])
        buckets[bucket] = descriptor
    }

    mutating func join(_ key: UInt64) {
        if let descriptor = descriptor(of: key) { entries[Int(descriptor)].users += 1 }
    }

    /// The connection may have been closed since.
    mutating func leave(_ key: UInt64) {
        if let descriptor = descriptor(of: key), entries[Int(descriptor)].users > 0 {
            entries[Int(descriptor)].users -= 1
        }
    }

    func isInUse(_ key: UInt64) -> Bool { descriptor(of: key).map { entries[Int($0)].users > 0 } ?? false }

    mutating func carry(_ key: UInt64) {
        if let descriptor = descriptor(of: key) { entries[Int(descriptor)].hasCarried = true }
    }

    func hasCarried(_ key: UInt64) -> Bool { descriptor(of: key).map { entries[Int($0)].hasCarried } ?? false }

    mutating func remove(_ descriptor: Int32) {
        let index = Int(descriptor)
        guard entries.indices.contains(index), entries[index].key != 0 else { return }
        let removed = entries[index]
        entries[index] = Entry()
        let bucket = Self.bucket(removed.key)
        guard buckets[bucket] != descriptor else { return buckets[bucket] = removed.next }
        var previous = Int(buckets[bucket])
        while entries.indices.contains(previous) {
            guard entries[previous].next != descriptor else { return entries[previous].next = removed.next }
            previous = Int(entries[previous].next)
        }
    }
}
