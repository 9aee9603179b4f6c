import CBoxRetry
import RetryCore

/// A public struct that begins with its `struct_size`.
///
/// A caller compiled against an older header has a shorter struct: the missing fields have their defaults. A caller
/// compiled against a newer header has a longer struct, which is accepted if the fields that this library does not know
/// are zero.
protocol SizedStruct {
    /// All defaults.
    static var defaults: Self { get }
    /// The size in the first release.
    static var firstSize: Int { get }
    /// The bytes between fields.
    static var padding: Range<Int> { get }
}

extension SizedStruct {
    static var padding: Range<Int> { 0..<0 }
}

/// No struct will ever be longer. A larger size is a mistake, and the struct is not read.
private let longestStruct = 1024

extension SizedStruct {
    @inline(__always)
    private static var size: Int { MemoryLayout<Self>.size }

    /// Reads the caller's struct.
    static func read(_ pointer: UnsafePointer<Self>?, _ argument: StaticString) throws(Failure) -> Self {
        let pointer = try required(pointer, argument)
        return hasOurSize(pointer) ? pointer.pointee : try readOtherSize(pointer, argument)
    }

    /// Whether the caller's struct has this library's size, which is almost always the case.
    @inline(__always)
    static func hasOurSize(_ pointer: UnsafePointer<Self>) -> Bool {
        UnsafeRawPointer(pointer).load(as: Int.self) == size
    }

    @inline(never)
    static func readOtherSize(
        _ pointer: UnsafePointer<Self>, _ argument: StaticString
    ) throws(Failure) -> Self {
        let callerSize = try checkedSize(pointer, argument)
        var value = defaults
        withUnsafeMutableBytes(of: &value) { bytes in
            bytes.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(callerSize, size)))
        }
        return value
    }

    /// The size of the struct according to the caller.
    @inline(__always)
    static func checkedSize(_ pointer: UnsafePointer<Self>, _ argument: StaticString) throws(Failure) -> Int {
        let callerSize = UnsafeRawPointer(pointer).load(as: Int.self)
        if callerSize != size { try check(pointer, callerSize, argument) }
        return callerSize
    }

    @inline(never)
    private static func check(
        _ pointer: UnsafePointer<Self>, _ callerSize: Int, _ argument: StaticString
    ) throws(Failure) {
        try checkPlausible(callerSize, argument, "struct_size")
        guard callerSize > size else { return }
        for byte in UnsafeRawBufferPointer(start: pointer, count: callerSize)[size...] where byte != 0 {
            throw .invalidArgument(argument, "struct_size", "fields that this library does not know are not zero")
        }
    }

    /// All public structs, and their sizes, are aligned to 8 bytes.
    private static func checkPlausible(
        _ callerSize: Int, _ argument: StaticString, _ field: StaticString?
    ) throws(Failure) {
        guard callerSize >= firstSize, callerSize <= longestStruct, callerSize % 8 == 0 else {
            throw .invalidArgument(
                argument, field, "must be a size of this struct; initialize it with its _INIT macro",
                is: Int64(callerSize))
        }
    }

    /// Writes a result to the caller's struct of that size, and keeps its `struct_size`. The expression for the result
    /// is evaluated in either branch, so that it is usually written once, directly to its destination.
    @inline(__always)
    static func write(_ value: @autoclosure () -> Self, to out: UnsafeMutablePointer<Self>, callerSize: Int) {
        if callerSize == size {
            out.pointee = value()
        } else {
            writeOtherSize(value(), to: out, callerSize: callerSize)
        }
    }

    @inline(never)
    private static func writeOtherSize(_ value: Self, to out: UnsafeMutablePointer<Self>, callerSize: Int) {
        let out = UnsafeMutableRawPointer(out)
        withUnsafeBytes(of: value) { bytes in
            out.copyMemory(from: bytes.baseAddress ?? UnsafeRawPointer(out), byteCount: min(callerSize, size))
        }
        out.storeBytes(of: callerSize, as: Int.self)
    }

    /// Implements the `_init` functions.
    static func initialize(
        _ out: UnsafeMutablePointer<Self>?, _ argument: StaticString, structSize: Int
    ) throws(Failure) {
        let out = try required(out, argument)
        try checkPlausible(structSize, "struct_size", nil)
        let bytes = UnsafeMutableRawBufferPointer(start: out, count: structSize)
        for index in bytes.indices { bytes[index] = 0 }
        writeOtherSize(defaults, to: out, callerSize: structSize)
        // Copying a struct also copies the bytes between its fields.
        for index in padding { bytes[index] = 0 }
    }
}
