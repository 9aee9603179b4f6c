/// Reads bytes from left to right. At the end it returns 0, which does not occur in any text that it is used for.
public struct ByteCursor {
    private var position: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>

    /// Borrows the bytes, which must outlive the cursor.
    public init(start: UnsafePointer<UInt8>, count: Int) {
        position = start
        end = start + count
    }

    /// Borrows a string that ends in NUL.
    public init(cString: UnsafePointer<CChar>) {
        let start = UnsafeRawPointer(cString).assumingMemoryBound(to: UInt8.self)
        var end = start
        while end.pointee != 0 { end += 1 }
        position = start
        self.end = end
    }

    public var isAtEnd: Bool { position == end }

    /// The number of bytes left.
    var count: Int { end - position }

    /// The current byte, without taking it; 0 at the end.
    public var peek: UInt8 { position < end ? position.pointee : 0 }

    /// Takes the current byte; 0 at the end.
    public mutating func next() -> UInt8 {
        guard position < end else { return 0 }
        defer { position += 1 }
        return position.pointee
    }

    /// Takes the byte if it is this one.
    public mutating func take(_ byte: UInt8) -> Bool {
        guard position < end, position.pointee == byte else { return false }
        position += 1
        return true
    }

    /// Takes the text if it is next, byte by byte.
    public mutating func take(_ text: StaticString) -> Bool {
        let (start, count) = (text.utf8Start, text.utf8CodeUnitCount)
        guard end - position >= count else { return false }
        var index = 0
        while index < count {
            guard position[index] == start[index] else { return false }
            index &+= 1
        }
        position += count
        return true
    }

    /// Takes the text, which must be in lower case, if it is next, without regard to ASCII case.
    public mutating func take(ignoringCase text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard end - position >= count, ByteCursor(start: position, count: count).isEqual(ignoringCase: text) else {
            return false
        }
        position += count
        return true
    }

    /// Takes a digit and returns its value; nil if there is none.
    public mutating func takeDigit() -> UInt8? {
        let digit = peek &- UInt8(ascii: "0")
        guard digit <= 9 else { return nil }
        position += 1
        return digit
    }

    /// Takes a number with one or more digits; nil if there is none, or if it does not fit in 63 bits.
    public mutating func takeInteger() -> Int64? {
        var number: Int64?
        while let digit = takeDigit() {
            let (product, isTooLarge) = (number ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, overflows) = product.addingReportingOverflow(Int64(digit))
            guard !isTooLarge, !overflows else { return nil }
            number = sum
        }
        return number
    }

    /// Whether the rest is this text, which must be in lower case, without regard to ASCII case.
    public func isEqual(ignoringCase text: StaticString) -> Bool {
        let (start, count) = (text.utf8Start, text.utf8CodeUnitCount)
        guard end - position == count else { return false }
        var index = 0
        while index < count {
            let byte = position[index]  // Most are in lower case.
            guard byte == start[index] || ASCII.lowercased(byte) == start[index] else { return false }
            index &+= 1
        }
        return true
    }

    /// The rest of the bytes.
    public var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: position, count: end - position) }

    /// Removes spaces and tabs from both ends of the rest.
    public func trimmed() -> ByteCursor {
        var first = position
        var last = end
        while first < last, Self.isWhiteSpace(first.pointee) { first += 1 }
        while last > first, Self.isWhiteSpace((last - 1).pointee) { last -= 1 }
        return ByteCursor(start: first, count: last - first)
    }

    /// The rest ends in a space or a tab.
    var endsInBlank: Bool { position < end && Self.isWhiteSpace((end - 1).pointee) }

    /// Takes everything before the next such byte, or the rest if there is none.
    public mutating func takePart(before separator: UInt8) -> ByteCursor {
        let start = position
        while position < end, position.pointee != separator { position += 1 }
        return ByteCursor(start: start, count: position - start)
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
