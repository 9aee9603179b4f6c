/// Scans JSON (RFC 8259) from left to right, strictly: everything that it passes is well-formed, and strings are valid
/// UTF-8.
///
/// It is not recursive: the depth of nesting is counted and limited, so that no document can exhaust the stack.
struct JSONScanner {
    /// The maximum depth of arrays and objects.
    static let maximumDepth = 64

    private let bytes: UnsafeRawBufferPointer
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    /// The current byte; 0 at the end, which never occurs in JSON.
    private var peek: UInt8 { position < bytes.count ? bytes[position] : 0 }

    mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte, position < bytes.count else { return false }
        position += 1
        return true
    }

    mutating func skipWhiteSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    // MARK: - Values

    /// The kind and the position of a value.
    enum Value {
        /// Without the quotes.
        case string(Range<Int>)
        case number(Range<Int>)
        case other
    }

    /// Passes a value with all its contents; nil if it is not well-formed.
    mutating func takeValue() -> Value? {
        let start = position
        switch peek {
        case UInt8(ascii: "\""): return takeString().map { .string($0) }
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return takeNumber() ? .number(start..<position) : nil
        default: return takeNested() ? .other : nil
        }
    }

    /// Which of the open arrays and objects are objects, the innermost in the lowest bit.
    private struct Nesting {
        private var objects: UInt64 = 0
        private(set) var depth = 0

        var isInObject: Bool { objects & 1 == 1 }

        mutating func open(object: Bool) -> Bool {
            guard depth < JSONScanner.maximumDepth else { return false }
            objects = objects << 1 | (object ? 1 : 0)
            depth += 1
            return true
        }

        mutating func close() {
            objects >>= 1
            depth -= 1
        }
    }

    private mutating func takeNested() -> Bool {
        var nesting = Nesting()
        while true {
            skipWhiteSpace()
            if take(UInt8(ascii: "{")) {
                guard nesting.open(object: true) else { return false }
                skipWhiteSpace()
                if peek != UInt8(ascii: "}") {
                    guard takeName() != nil else { return false }
                    continue
                }
            } else if take(UInt8(ascii: "[")) {
                guard nesting.open(object: false) else { return false }
                skipWhiteSpace()
                if peek != UInt8(ascii: "]") { continue }
            } else if !takeScalar() {
                return false
            }
            // A value has ended, or an empty array or object is about to end.
            guard let goesOn = takeEnds(&nesting) else { return false }
            if !goesOn { return true }
        }
    }

    /// Passes the end of values, up to a comma: true if another value follows, false if the outermost one has ended.
    private mutating func takeEnds(_ nesting: inout Nesting) -> Bool? {
        while nesting.depth > 0 {
            skipWhiteSpace()
            if take(nesting.isInObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                nesting.close()
            } else if take(UInt8(ascii: ",")) {
                if nesting.isInObject {
                    skipWhiteSpace()
                    guard takeName() != nil else { return nil }
                }
                return true
            } else {
                return nil
            }
        }
        return false
    }

    private mutating func takeScalar() -> Bool {
        switch peek {
        case UInt8(ascii: "\""): takeString() != nil
        case UInt8(ascii: "t"): takeWord("true")
        case UInt8(ascii: "f"): takeWord("false")
        case UInt8(ascii: "n"): takeWord("null")
        default: takeNumber()
        }
    }

    private mutating func takeWord(_ word: StaticString) -> Bool {
        for index in 0..<word.utf8CodeUnitCount where !take(word.utf8Start[index]) { return false }
        return true
    }

    /// Passes a member's name and the colon; returns the position of the name, without its quotes.
    mutating func takeName() -> Range<Int>? {
        guard let name = takeString() else { return nil }
        skipWhiteSpace()
        return take(UInt8(ascii: ":")) ? name : nil
    }

    // MARK: - Numbers

    private mutating func takeNumber() -> Bool {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) {
            guard takeDigits() else { return false }
        }
        if take(UInt8(ascii: ".")) {
            guard takeDigits() else { return false }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard takeDigits() else { return false }
        }
        return true
    }

    private mutating func takeDigits() -> Bool {
        let start = position
        while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(peek) { position += 1 }
        return position > start
    }

    // MARK: - Strings

    private mutating func takeString() -> Range<Int>? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return start..<position - 1
            case UInt8(ascii: "\\"):
                guard takeEscape() else { return nil }
            case 0x20..<0x80: position += 1
            case 0x80...0xFF:
                guard takeMultiByte() else { return nil }
            default: return nil  // A control character.
            }
        }
        return nil
    }

    private mutating func takeEscape() -> Bool {
        position += 1
        switch peek {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
            return true
        case UInt8(ascii: "u"):
            position += 1
            guard let unit = takeUnit() else { return false }
            // Half of a surrogate pair is invalid.
            guard unit & 0xFC00 == 0xD800 else { return unit & 0xFC00 != 0xDC00 }
            guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let other = takeUnit() else { return false }
            return other & 0xFC00 == 0xDC00
        default: return false
        }
    }

    private mutating func takeUnit() -> UInt16? {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = JSONString.hexadecimalDigit(peek) else { return nil }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    /// A character of two to four bytes. Overlong forms, surrogates and values above U+10FFFF are invalid.
    private mutating func takeMultiByte() -> Bool {
        let first = bytes[position]
        position += 1
        switch first {
        case 0xC2...0xDF: return takeTail(1)
        case 0xE0: return (0xA0...0xBF).contains(peek) && takeTail(2)
        case 0xE1...0xEC, 0xEE...0xEF: return takeTail(2)
        case 0xED: return (0x80...0x9F).contains(peek) && takeTail(2)
        case 0xF0: return (0x90...0xBF).contains(peek) && takeTail(3)
        case 0xF1...0xF3: return takeTail(3)
        case 0xF4: return (0x80...0x8F).contains(peek) && takeTail(3)
        default: return false
        }
    }

    private mutating func takeTail(_ count: Int) -> Bool {
        for _ in 0..<count {
            guard (0x80...0xBF).contains(peek) else { return false }
            position += 1
        }
        return true
    }
}
