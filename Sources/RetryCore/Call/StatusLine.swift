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
    public init(_ line: UnsafePointer<CChar>, _ count: Int) {
        var text = ByteCursor(start: UnsafeRawPointer(line).assumingMemoryBound(to: UInt8.self), count: count)
        guard text.take("HTTP/") else {
            self.init(status: nil, version: 0)
            return
        }
        var version: Int32 = 0
        if let major = text.takeDigit() {
            version = Int32(major) * 10 + Int32(text.take(UInt8(ascii: ".")) ? text.takeDigit() ?? 0 : 0)
        }
        let isPlain = text.take(UInt8(ascii: " "))
        if !isPlain { while !text.isAtEnd, !text.take(UInt8(ascii: " ")) { _ = text.next() } }
        let status = Self.takeStatus(&text)
        self.init(status: status, version: version, isPlain: isPlain && status != nil && Self.isInUse(version))
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
