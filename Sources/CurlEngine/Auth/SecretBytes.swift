import CShims

/// A secret: one buffer of the right size, which is overwritten after its last use (T1). Never changes.
public final class SecretBytes {
    /// Behind the bytes stands a NUL, which is not counted.
    public let start: UnsafePointer<CChar>
    public let count: Int

    /// Nil if out of memory. `fill` gets room for exactly `count` bytes.
    public static func make(count: Int, fill: (UnsafeMutablePointer<UInt8>) -> Void) -> SecretBytes? {
        guard let memory = shim_allocate(count + 1) else { return nil }
        let bytes = memory.bindMemory(to: UInt8.self, capacity: count + 1)
        fill(bytes)
        bytes[count] = 0
        return SecretBytes(UnsafeRawPointer(memory).assumingMemoryBound(to: CChar.self), count)
    }

    private init(_ start: UnsafePointer<CChar>, _ count: Int) {
        self.start = start
        self.count = count
    }

    public static func copy(of bytes: UnsafeRawBufferPointer) -> SecretBytes? {
        make(count: bytes.count) { target in
            for index in bytes.indices { target[index] = bytes[index] }
        }
    }

    deinit {
        let memory = UnsafeMutableRawPointer(mutating: start)
        shim_wipe(memory, count)
        shim_free(memory)
    }

    public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    public func equals(_ other: UnsafeRawBufferPointer) -> Bool {
        guard other.count == count else { return false }
        // All bytes are looked at, so that the time does not tell how many are right.
        var difference: UInt8 = 0
        for index in 0..<count { difference |= bytes[index] ^ other[index] }
        return difference == 0
    }
}
