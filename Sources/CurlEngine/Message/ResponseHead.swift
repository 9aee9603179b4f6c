import CShims
import RetryCore

/// The header lines of a response: the bytes as they came, cut into strings where they stand.
struct ResponseHead {
    private var bytes: shim_buffer
    private var pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    private var count = 0
    /// The reason phrase of the status line; "" if there is none.
    private(set) var reasonPhrase = StaticString("").cString

    /// Without any.
    init() {
        bytes = shim_buffer()
    }

    /// Takes over the buffer, which has at most that many lines after the status line. Nil if out of memory: lines that
    /// are missing would read as if they had never come.
    @_optimize(speed)
    init?(_ buffer: shim_buffer, lines: Int) {
        bytes = buffer
        defer { cutStatusLine() }
        guard lines > 0 else { return }
        // The pointers stand behind what they point to.
        guard let memory = shim_buffer_room(&bytes, lines * 2 * MemoryLayout<UnsafePointer<CChar>?>.stride),
            let data = bytes.data
        else {
            shim_buffer_free(&bytes)
            return nil
        }
        let pairs = memory.bindMemory(to: UnsafePointer<CChar>?.self, capacity: lines * 2)
        self.pairs = pairs
        // The first line is the status line. (Copies of the fields: what is written to the bytes might change these.)
        let length = bytes.count
        var found = 0
        var start = shim_find(data, Self.newline, length) + 1
        while start < length, found < lines {
            let end = start + shim_find(data + start, Self.newline, length - start)
            guard end < length else { break }
            if Self.isBlank(data[start]), start < end, found > 0 {
                Self.fold(data, start, end, onto: pairs[2 * found - 1])
            } else if Self.cut(data + start, data + end, into: pairs + 2 * found) {
                found += 1
            }
            start = end + 1
        }
        count = found
    }

    /// Finds the reason phrase in "HTTP/1.1 404 Not Found", and ends it (RFC 9112, 4).
    @_optimize(speed)
    private mutating func cutStatusLine() {
        guard let data = bytes.data else { return }
        var end = shim_find(data, Self.newline, bytes.count)
        guard end < bytes.count else { return }
        while end > 0, Self.isSpace(data[end - 1]) { end -= 1 }
        data[end] = 0
        var start = 0
        if end == 12 || end > 12 && Self.isBlank(data[12]), StatusLine(data, end + 1).isPlain {
            start = 12
            while start < end, Self.isBlank(data[start]) { start += 1 }
        } else {
            for _ in 0..<2 {  // The version, and the status.
                while start < end, !Self.isBlank(data[start]) { start += 1 }
                while start < end, Self.isBlank(data[start]) { start += 1 }
            }
        }
        reasonPhrase = UnsafePointer(data + start)
    }

    /// A line that begins with a blank continues the value before it, after one blank (RFC 9112, 5.2).
    private static func fold(
        _ data: UnsafeMutablePointer<CChar>, _ start: Int, _ end: Int, onto value: UnsafePointer<CChar>?
    ) {
        guard let value else { return }
        var last = end
        while last > start, Self.isSpace(data[last - 1]) { last -= 1 }
        let valueStart = value - UnsafePointer(data)
        let valueEnd = valueStart + shim_length(value)
        var first = start
        while first < last, Self.isSpace(data[first]) { first += 1 }
        guard first < last else { return }
        var target = valueEnd
        if valueEnd > valueStart {
            data[target] = 0x20
            target += 1
        }
        for index in first..<last {
            data[target + index - first] = data[index] == Self.carriageReturn ? 0x20 : data[index]
        }
        data[target + last - first] = 0
    }

    private static func isBlank(_ byte: CChar) -> Bool { byte == 0x20 || byte == 0x09 }

    private static var newline: CChar { CChar(bitPattern: UInt8(ascii: "\n")) }
    private static var colon: CChar { CChar(bitPattern: UInt8(ascii: ":")) }

    /// Ends name and value of the line from `start` to before the newline at `end`. False if it is not a header line.
    /// Another carriage return than the one before the newline has ended the transfer (RFC 9112, 2.2).
    @inline(__always)
    private static func cut(
        _ start: UnsafeMutablePointer<CChar>, _ end: UnsafeMutablePointer<CChar>,
        into pair: UnsafeMutablePointer<UnsafePointer<CChar>?>
    ) -> Bool {
        var last = end
        while last > start, isSpace((last - 1).pointee) { last -= 1 }
        last.pointee = 0  // There is room: at `end` stands the newline.
        let colon = start + shim_find(start, Self.colon, last - start)
        guard colon < last else { return false }
        var nameEnd = colon
        while nameEnd > start, isSpace((nameEnd - 1).pointee) { nameEnd -= 1 }
        nameEnd.pointee = 0
        var value = colon + 1
        while value < last, isSpace(value.pointee) { value += 1 }
        pair[0] = UnsafePointer(start)
        pair[1] = UnsafePointer(value)
        return nameEnd > start
    }

    private static let carriageReturn = CChar(bitPattern: UInt8(ascii: "\r"))

    private static func isSpace(_ byte: CChar) -> Bool { byte == 0x20 || byte == 0x09 || byte == carriageReturn }

    var list: HeaderList { HeaderList(whole: pairs, count: count) }

    mutating func free() {
        shim_buffer_free(&bytes)
        pairs = nil
        count = 0
        reasonPhrase = StaticString("").cString
    }
}
