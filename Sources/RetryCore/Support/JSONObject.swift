/// A JSON document that is an object. Only its members that are strings or numbers can be read (T12, R1).
///
/// A name that occurs twice has no value: parsers disagree whether the first or the last one counts (RFC 8259, 4).
public struct JSONObject {
    /// Bytes; a larger document is invalid.
    public static let maximumSize = 65_536

    private let bytes: UnsafeRawBufferPointer

    public enum Value {
        case string(JSONString)
        case number(Double)
        /// true, false, null, an array or an object.
        case other
        /// Several members have this name.
        case repeated
    }

    /// Borrows the bytes; nil if they are not a well-formed object, or too large, or nested too deeply.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= Self.maximumSize else { return nil }
        self.bytes = bytes
        var isWhole = false
        forEachMember { _, _ in
        } atEnd: {
            isWhole = true
        }
        guard isWhole else { return nil }
    }

    /// The value of the member with that name; nil if there is none.
    public func member(_ name: StaticString) -> Value? {
        var found: Value?
        forEachMember { key, value in
            guard key.equals(name) else { return }
            guard found == nil else {
                found = .repeated
                return
            }
            switch value {
            case .string(let range): found = .string(JSONString(UnsafeRawBufferPointer(rebasing: bytes[range])))
            case .number(let range): found = .number(number(range))
            case .other: found = .other
            }
        } atEnd: {
        }
        return found
    }

    /// The same, but also nil if several members have the name.
    public func onlyMember(_ name: StaticString) -> Value? {
        var count = 0
        forEachMember { key, _ in
            if key.equals(name) { count += 1 }
        } atEnd: {
        }
        return count == 1 ? member(name) : nil
    }

    private func number(_ range: Range<Int>) -> Double {
        guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return .nan }
        var text = ByteCursor(start: start + range.lowerBound, count: range.count)
        let isNegative = text.take(UInt8(ascii: "-"))
        let value = DecimalNumber.parse(text) ?? .nan
        return isNegative ? -value : value
    }

    /// Calls `body` with each member, and `atEnd` if the whole document was well-formed.
    private func forEachMember(_ body: (JSONString, JSONScanner.Value) -> Void, atEnd: () -> Void) {
        var scanner = JSONScanner(bytes)
        scanner.skipWhiteSpace()
        guard scanner.take(UInt8(ascii: "{")) else { return }
        scanner.skipWhiteSpace()
        if !scanner.take(UInt8(ascii: "}")) {
            repeat {
                scanner.skipWhiteSpace()
                guard let name = scanner.takeName() else { return }
                scanner.skipWhiteSpace()
                guard let value = scanner.takeValue() else { return }
                body(JSONString(UnsafeRawBufferPointer(rebasing: bytes[name])), value)
                scanner.skipWhiteSpace()
            } while scanner.take(UInt8(ascii: ","))
            guard scanner.take(UInt8(ascii: "}")) else { return }
        }
        scanner.skipWhiteSpace()
        if scanner.isAtEnd { atEnd() }
    }
}

/// A string in a well-formed JSON document, in its encoded form: the bytes between the quotes.
public struct JSONString {
    private let raw: UnsafeRawBufferPointer

    init(_ raw: UnsafeRawBufferPointer) {
        self.raw = raw
    }

    /// Calls `body` with each byte of the decoded string, in UTF-8.
    @inline(__always)
    public func forEachByte(_ body: (UInt8) -> Void) {
        var bytes = JSONStringBytes(raw)
        while let byte = bytes.next() { body(byte) }
    }

    public var count: Int {
        var count = 0
        forEachByte { _ in count += 1 }
        return count
    }

    public func equals(_ text: StaticString) -> Bool {
        var position = 0
        var isEqual = true
        forEachByte { byte in
            if position >= text.utf8CodeUnitCount || text.utf8Start[position] != byte { isEqual = false }
            position += 1
        }
        return isEqual && position == text.utf8CodeUnitCount
    }

    /// Compares the decoded string with a C string.
    public func equals(_ text: UnsafePointer<CChar>) -> Bool {
        var position = 0
        var isEqual = true
        forEachByte { byte in
            guard isEqual else { return }
            let other = UInt8(bitPattern: text[position])
            isEqual = other != 0 && other == byte
            position += 1
        }
        return isEqual && text[position] == 0
    }

    static func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// The bytes of a decoded string, one after another. (A closure for each byte would copy all of this to each caller.)
public struct JSONStringBytes {
    private let raw: UnsafeRawBufferPointer
    private var index = 0
    /// What is left of a character that was escaped: its next byte is the lowest one. 0: nothing.
    private var rest: UInt32 = 0

    init(_ raw: UnsafeRawBufferPointer) {
        self.raw = raw
    }

    @inline(never)
    public mutating func next() -> UInt8? {
        guard rest == 0 else {
            defer { rest >>= 8 }
            return UInt8(truncatingIfNeeded: rest)
        }
        guard index < raw.count else { return nil }
        let byte = take()
        guard byte == UInt8(ascii: "\\") else { return byte }
        let escape = take()
        switch escape {
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "u"): return takeScalar()
        default: return escape
        }
    }

    private mutating func take() -> UInt8 {
        defer { index += 1 }
        return raw[index]
    }

    private mutating func takeUnit() -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 { unit = unit << 4 | UInt32(JSONString.hexadecimalDigit(take()) ?? 0) }
        return unit
    }

    /// The first byte of an escaped character; `rest` has the others.
    private mutating func takeScalar() -> UInt8 {
        var scalar = takeUnit()
        if scalar & 0xFC00 == 0xD800 {
            index += 2
            scalar = 0x10000 + (scalar & 0x3FF) << 10 + (takeUnit() & 0x3FF)
        }
        guard scalar >= 0x80 else { return UInt8(truncatingIfNeeded: scalar) }
        let tails = scalar < 0x800 ? 1 : scalar < 0x10000 ? 2 : 3
        for _ in 0..<tails {
            rest = rest << 8 | 0x80 | scalar & 0x3F
            scalar >>= 6
        }
        return UInt8(truncatingIfNeeded: 0xFF00 >> UInt32(tails + 1) | scalar)
    }
}
