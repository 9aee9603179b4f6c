/// How the head of a response says where its body ends (RFC 9112, 6.3), read line by line.
public struct ResponseFraming {
    private var contentLength: Int64?
    private var isChunked = false
    private var hasBadLength = false
    private var hasBadCoding = false
    /// The line before is one of those that are looked at here.
    private var isWithinField = false

    public init() {}

    /// Bytes of the body, as they come. Nil: the head does not say, or Transfer-Encoding overrides what it says.
    public var length: Int64? { isChunked ? nil : contentLength }

    /// Nobody can say where the body ends: lengths that contradict each other, are not digits or do not fit in 63 bits,
    /// where no Transfer-Encoding overrides them; or a transfer coding that was not asked for.
    public var isMalformed: Bool { hasBadCoding || hasBadLength && !isChunked }

    /// Takes the next header line. If it is a Content-Encoding, returns its value.
    public mutating func take(_ line: UnsafePointer<CChar>, _ count: Int) -> ByteCursor? {
        var end = count
        while end > 0, line[end - 1] == 0x0A || line[end - 1] == 0x0D { end -= 1 }
        guard end > 0 else { return nil }
        var text = ByteCursor(start: UnsafeRawPointer(line).assumingMemoryBound(to: UInt8.self), count: end)
        switch text.peek {
        case 0x20, 0x09:
            // It continues the line before it. Other readers may not agree on what that means (RFC 9112, 5.2).
            if isWithinField { hasBadCoding = true }
            return nil
        case UInt8(ascii: "C"), UInt8(ascii: "c"), UInt8(ascii: "T"), UInt8(ascii: "t"):
            let name = text.takePart(before: UInt8(ascii: ":"))
            _ = text.next()
            let trimmed = name.trimmed()
            guard Self.mayBeKnown(trimmed.count) else {
                isWithinField = false
                return nil
            }
            let field = take(trimmed, text.trimmed())
            // Readers do not agree on what a blank before the colon means (RFC 9112, 5.1).
            if isWithinField, name.endsInBlank { hasBadCoding = true }
            return field
        default:
            isWithinField = false
            return nil
        }
    }

    /// Whether one of the names below has so many letters.
    private static func mayBeKnown(_ count: Int) -> Bool { count == 14 || count == 16 || count == 17 }

    private mutating func take(_ name: ByteCursor, _ value: ByteCursor) -> ByteCursor? {
        isWithinField = true
        if name.isEqual(ignoringCase: "content-length") {
            forEachMember(value) { $0.takeLength($1) }
        } else if name.isEqual(ignoringCase: "transfer-encoding") {
            forEachMember(value) { $0.takeTransferCoding($1) }
        } else if name.isEqual(ignoringCase: "content-encoding") {
            return value
        } else {
            isWithinField = false
        }
        return nil
    }

    private mutating func forEachMember(_ value: ByteCursor, _ body: (inout ResponseFraming, ByteCursor) -> Void) {
        var rest = value
        repeat { body(&self, rest.takePart(before: UInt8(ascii: ",")).trimmed()) } while rest.take(UInt8(ascii: ","))
    }

    private mutating func takeLength(_ member: ByteCursor) {
        var member = member
        guard let length = member.takeInteger(), member.isAtEnd, length == contentLength ?? length else {
            hasBadLength = true
            return
        }
        contentLength = length
    }

    /// No other coding than chunked was asked for, and that one at most once (RFC 9112, 7).
    private mutating func takeTransferCoding(_ member: ByteCursor) {
        guard !member.isEqual(ignoringCase: "identity") else {
            if isChunked { hasBadCoding = true }  // The last coding has to be chunked.
            return
        }
        if isChunked || !member.isEqual(ignoringCase: "chunked") { hasBadCoding = true }
        isChunked = true
    }
}
