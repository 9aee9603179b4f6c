import Testing

@testable import CurlEngine

@Suite("ConnectionTable: which descriptor an open connection has (W1, W3)")
struct ConnectionTableTests {
    @Test("A connection is found by its key until its descriptor is closed")
    func findsUntilRemoved() {
        var table = ConnectionTable()
        #expect(table.descriptor(of: 7) == nil)
        table.add(7, 12)
        #expect(table.descriptor(of: 7) == 12)
        table.remove(12)
        #expect(table.descriptor(of: 7) == nil)
    }

    @Test("Keys of one bucket do not hide each other, in any order of removal", arguments: 0..<3)
    func oneBucket(removed: Int) {
        var table = ConnectionTable()
        let keys: [UInt64] = [5, 5 + 1_024, 5 + 2 * 1_024]
        for (index, key) in keys.enumerated() { table.add(key, Int32(index * 3)) }
        table.remove(Int32(removed * 3))
        for (index, key) in keys.enumerated() {
            #expect(table.descriptor(of: key) == (index == removed ? nil : Int32(index * 3)))
        }
    }

    @Test("A descriptor that is used again has its new key alone")
    func descriptorIsUsedAgain() {
        var table = ConnectionTable()
        table.add(1, 4)
        table.add(2, 4)
        #expect(table.descriptor(of: 1) == nil)
        #expect(table.descriptor(of: 2) == 4)
    }

    @Test("A connection is in use until all who joined it have left, even if another one has its descriptor by then")
    func countsUsers() {
        var table = ConnectionTable()
        table.add(1, 4)
        #expect(!table.isInUse(1))
        table.join(1)
        table.join(1)
        table.leave(1)
        #expect(table.isInUse(1))
        table.leave(1)
        table.leave(1)
        #expect(!table.isInUse(1))
        table.join(1)
        table.add(2, 4)
        table.join(2)
        table.leave(1)
        #expect(table.isInUse(2))
        table.join(0)
        #expect(!table.isInUse(0))
    }

    @Test("No key, and what cannot be a descriptor, are nothing (W2)")
    func ignoresNonsense() {
        var table = ConnectionTable()
        table.add(0, 4)
        table.add(9, -1)
        table.remove(-1)
        table.remove(.max)
        #expect(table.descriptor(of: 0) == nil)
        #expect(table.descriptor(of: 9) == nil)
    }
}
