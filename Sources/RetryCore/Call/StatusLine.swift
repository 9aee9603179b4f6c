/// The first line of a response (RFC 9112, 4).
public struct StatusLine: Equatable {
    /// Three digits; nil: they are not where they belong.
    public let status: Int32?
    /// 10, 11, 20; 0 if the line does not contain a version.
    public let version: Int32

    /// A version that is in use, one space and three digits: every parser reads the same.
    public let isPlain: Bool

    public init(status: Int32?, version: Int32, isPlain: Bool = false) {
        self.status = status
        self.version = version
        self.isPlain = isPlain
    }

    /// Parses `HTTP/1.1 200 OK`: the version, one space, exactly three digits.
    @_optimize(speed)
    public init(_ line: UnsafePointer<CChar>, _ count: Int) {
        self = Self.plain(line, count) ?? Self.parsed(line, count)
    }

    /// Reads `HTTP/1.1 200`, as almost all servers write it, with a look at each byte. Nil: it is written otherwise.
    @inline(__always)
    private static func plain(_ line: UnsafePointer<CChar>, _ count: Int) -> StatusLine? {
        func digit(_ index: Int) -> Int32 { Int32(UInt8(bitPattern: line[index]) &- UInt8(ascii: "0")) }
        guard count > 12, line[0] == 0x48, line[1] == 0x54, line[2] == 0x54, line[3] == 0x50, line[4] == 0x2F,
            line[6] == 0x2E, line[8] == 0x20, digit(5) <= 2, digit(7) <= 9,
            digit(9) <= 9, digit(10) <= 9, digit(11) <= 9, digit(12) > 9
        else { return nil }
        let version = 10 &* digit(5) &+ digit(7)
        guard isInUse(version) else { return nil }
        return StatusLine(
            status: 100 &* digit(9) &+ 10 &* digit(10) &+ digit(11), version: version, isPlain: true)
    }

    private static func parsed(_ line: UnsafePointer<CChar>, _ count: Int) -> StatusLine {
        var text = ByteCursor(start: UnsafeRawPointer(line).assumingMemoryBound(to: UInt8.self), count: count)
        guard text.take("HTTP/") else { return StatusLine(status: nil, version: 0) }
        var version: Int32 = 0
        if let major = text.takeDigit() {
            version = Int32(major) * 10 + Int32(text.take(UInt8(ascii: ".")) ? text.takeDigit() ?? 0 : 0)
        }
        let isPlain = text.take(UInt8(ascii: " "))
        if !isPlain { while !text.isAtEnd, !text.take(UInt8(ascii: " ")) { _ = text.next() } }
        let status = takeStatus(&text)
        return StatusLine(status: status, version: version, isPlain: isPlain && status != nil && isInUse(version))
    }

    private static func isInUse(_ version: Int32) -> Bool { version == 10 || version == 11 || version == 20 }

    private static func takeStatus(_ text: inout ByteCursor) -> Int32? {
        var status: Int32 = 0
        for _ in 0..<3 {
            guard let digit = text.takeDigit() else { return nil }
            status = status * 10 + Int32(digit)
        }
        return text.takeDigit() == nil ? status : nil
    }
}
