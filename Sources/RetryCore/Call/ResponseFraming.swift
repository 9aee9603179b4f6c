/// How the head of a response determines where its body ends (RFC 9112, 6.3), read line by line.
public struct ResponseFraming {
    private var contentLength: Int64?
    private var isChunked = false
    private var hasBadLength = false
    private var hasBadCoding = false
    /// The previous line was one of the relevant headers.
    private var isWithinField = false

    public init() {}

    /// The length of the body before decoding. Nil: the head does not contain it, or Transfer-Encoding overrides it.
    public var length: Int64? { isChunked ? nil : contentLength }

    /// The end of the body is undefined: lengths that contradict each other, are not digits or do not fit in 63 bits,
    /// without a Transfer-Encoding that overrides them; or a transfer coding that was not requested.
    public var isMalformed: Bool { hasBadCoding || hasBadLength && !isChunked }

    /// Takes the next header line. If it is a Content-Encoding, returns its value.
    @_optimize(speed)
    public mutating func take(_ line: UnsafePointer<CChar>, _ count: Int) -> ByteCursor? {
        guard Self.mayMatter(line, count) else {
            isWithinField = false
            return nil
        }
        var end = count
        while end > 0, line[end - 1] == 0x0A || line[end - 1] == 0x0D { end -= 1 }
        guard end > 0 else { return nil }
        var text = ByteCursor(start: UnsafeRawPointer(line).assumingMemoryBound(to: UInt8.self), count: end)
        switch text.peek {
        case 0x20, 0x09:
            // A continuation line. Other parsers may disagree about its meaning (RFC 9112, 5.2).
            if isWithinField { hasBadCoding = true }
            return nil
        case UInt8(ascii: "C"), UInt8(ascii: "c"), UInt8(ascii: "T"), UInt8(ascii: "t"):
            if takePlainLength(text) { return nil }
            let name = text.takePart(before: UInt8(ascii: ":"))
            _ = text.next()
            let trimmed = name.trimmed()
            guard Self.mayBeKnown(trimmed.count) else {
                isWithinField = false
                return nil
            }
            let field = take(trimmed, text.trimmed())
            // Parsers disagree about a space before the colon (RFC 9112, 5.1).
            if isWithinField, name.endsInBlank { hasBadCoding = true }
            return field
        default:
            isWithinField = false
            return nil
        }
    }

    /// A line has come that does not matter.
    @inline(__always)
    mutating func tookOther() {
        isWithinField = false
    }

    /// False: it has none of the names below, and continues no line. Most lines are done with after a look at two bytes.
    @inline(__always)
    static func mayMatter(_ line: UnsafePointer<CChar>, _ count: Int) -> Bool {
        guard count > 0 else { return true }
        switch line[0] {
        case 0x20, 0x09, 0x0A, 0x0D: return true
        case 0x43, 0x63:  // Content-L, Content-E
            guard count > 9 else { return false }
            let letter = line[8] | 0x20
            return letter == 0x6C || letter == 0x65
        case 0x54, 0x74: return true
        default: return false
        }
    }

    /// Whether one of the names below has that length.
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

    /// Takes `Content-Length: 123`, as almost all servers write it. False: it is another line, or does not agree with one
    /// before it, and nothing has happened.
    @inline(__always)
    private mutating func takePlainLength(_ line: ByteCursor) -> Bool {
        var line = line
        guard line.take(ignoringCase: "content-length:") else { return false }
        _ = line.take(UInt8(ascii: " "))
        guard let length = line.takeInteger(), line.isAtEnd, length == contentLength ?? length else { return false }
        contentLength = length
        isWithinField = true
        return true
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

    /// Only chunked was requested, and it may be used only once (RFC 9112, 7).
    private mutating func takeTransferCoding(_ member: ByteCursor) {
        guard !member.isEqual(ignoringCase: "identity") else {
            if isChunked { hasBadCoding = true }  // The last coding must be chunked.
            return
        }
        if isChunked || !member.isEqual(ignoringCase: "chunked") { hasBadCoding = true }
        isChunked = true
    }
}
