/// The header lines of a message, borrowed from the receiver: strings that end in NUL, in their order.
public struct HeaderList {
    /// No real message has more lines.
    public static let maximumCount = 65_536

    /// name, value, name, value, …
    public let pairs: UnsafePointer<UnsafePointer<CChar>?>?
    public let count: Int

    /// Borrows `count` pairs, which must outlive the list. Nil if there are too many, or if a string is missing.
    public init?(pairs: UnsafePointer<UnsafePointer<CChar>?>?, count: Int) {
        guard count > 0 else {
            self = .empty
            return
        }
        guard let pairs, count <= Self.maximumCount else { return nil }
        for index in 0..<count where pairs[2 * index] == nil || pairs[2 * index + 1] == nil { return nil }
        self.pairs = pairs
        self.count = count
    }

    private init() {
        pairs = nil
        count = 0
    }

    /// Borrows pairs none of which lacks a string; at most `maximumCount`.
    public init(whole pairs: UnsafePointer<UnsafePointer<CChar>?>?, count: Int) {
        self.pairs = count > 0 ? pairs : nil
        self.count = count
    }

    public static var empty: HeaderList { HeaderList() }

    /// The value of the first line with that name, in any case.
    public func firstValue(of name: UnsafePointer<CChar>) -> UnsafePointer<CChar>? {
        guard let pairs else { return nil }
        for index in 0..<count {
            if let candidate = pairs[2 * index], ASCII.isEqual(candidate, name) { return pairs[2 * index + 1] }
        }
        return nil
    }

    /// Calls `body` with each name and value.
    public func forEach(_ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Void) {
        guard let pairs else { return }
        for index in 0..<count {
            guard let name = pairs[2 * index], let value = pairs[2 * index + 1] else { continue }
            body(name, value)
        }
    }

    /// Calls `body` with the value of each line with that name, which must be in lower case.
    @inline(__always)
    func forEachValue(of name: HeaderName, _ body: (ByteCursor) -> Void) {
        guard let pairs else { return }
        for index in 0..<count {
            guard let candidate = pairs[2 * index], let value = pairs[2 * index + 1], name.matches(candidate) else {
                continue
            }
            body(ByteCursor(cString: value))
        }
    }
}

/// The name of a header, compared without regard to ASCII case (B7).
struct HeaderName {
    /// In lower case.
    private let bytes: UnsafePointer<UInt8>
    private let count: Int

    /// A name in lower case.
    init(_ name: StaticString) {
        bytes = name.utf8Start
        count = name.utf8CodeUnitCount
    }

    /// A name in lower case, which must outlive this one.
    init(borrowing bytes: UnsafePointer<UInt8>, count: Int) {
        self.bytes = bytes
        self.count = count
    }

    /// Whether the string, which ends in NUL, is this name. Reads no byte after the NUL.
    @inline(__always)
    func matches(_ string: UnsafePointer<CChar>) -> Bool {
        for index in 0..<count where ASCII.lowercased(UInt8(bitPattern: string[index])) != bytes[index] {
            return false
        }
        return string[count] == 0
    }
}

enum ASCII {
    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
    }

    /// Whether two strings are equal, ignoring the case of letters.
    static func isEqual(_ first: UnsafePointer<CChar>, _ second: UnsafePointer<CChar>) -> Bool {
        var index = 0
        while lowercased(UInt8(bitPattern: first[index])) == lowercased(UInt8(bitPattern: second[index])) {
            if first[index] == 0 { return true }
            index += 1
        }
        return false
    }
}
