import CShims
import RetryCore

/// The header lines of a response: the bytes as they came, cut into strings where they stand.
struct ResponseHead {
    private var bytes: shim_buffer
    private var pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    private var count = 0

    /// Without any.
    init() {
        bytes = shim_buffer()
    }

    /// Takes the buffer over. Nil if there is no memory: lines that are missing would read as if they had never come.
    init?(_ buffer: shim_buffer) {
        bytes = buffer
        guard bytes.count > 0, let data = bytes.data else { return }
        var lines = 0
        for index in 0..<bytes.count where data[index] == Self.newline { lines += 1 }
        guard lines > 0 else { return }
        guard let memory = shim_allocate(lines * 2 * MemoryLayout<UnsafePointer<CChar>?>.stride) else {
            shim_buffer_free(&bytes)
            return nil
        }
        let pairs = memory.bindMemory(to: UnsafePointer<CChar>?.self, capacity: lines * 2)
        self.pairs = pairs
        // The first line is the status line.
        var start = (0..<bytes.count).first { data[$0] == Self.newline }.map { $0 + 1 } ?? bytes.count
        for end in start..<bytes.count where data[end] == Self.newline {
            if Self.isBlank(data[start]), start < end, count > 0 {
                fold(data, start, end)
            } else if let (name, value) = Self.cut(data, start, end) {
                pairs[2 * count] = UnsafePointer(name)
                pairs[2 * count + 1] = UnsafePointer(value)
                count += 1
            }
            start = end + 1
        }
    }

    /// A line that begins with a blank goes on with the value before it, after one blank (RFC 9112, 5.2).
    private func fold(_ data: UnsafeMutablePointer<CChar>, _ start: Int, _ end: Int) {
        guard let pairs, let value = pairs[2 * count - 1] else { return }
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

    private static let newline = CChar(bitPattern: UInt8(ascii: "\n"))

    /// Ends name and value of the line from `start` to before the newline at `end`; nil if it is no header line.
    private static func cut(
        _ data: UnsafeMutablePointer<CChar>, _ start: Int, _ end: Int
    ) -> (UnsafeMutablePointer<CChar>, UnsafeMutablePointer<CChar>)? {
        var last = end
        while last > start, isSpace(data[last - 1]) { last -= 1 }
        data[last] = 0  // There is room: at `end` stands the newline.
        // What somebody passes on must stay one line (RFC 9112, 2.2).
        for index in start..<last where data[index] == carriageReturn { data[index] = 0x20 }
        guard let colon = (start..<last).first(where: { data[$0] == CChar(bitPattern: UInt8(ascii: ":")) }) else {
            return nil
        }
        var nameEnd = colon
        while nameEnd > start, isSpace(data[nameEnd - 1]) { nameEnd -= 1 }
        data[nameEnd] = 0
        var value = colon + 1
        while value < last, isSpace(data[value]) { value += 1 }
        return nameEnd > start ? (data + start, data + value) : nil
    }

    private static let carriageReturn = CChar(bitPattern: UInt8(ascii: "\r"))

    private static func isSpace(_ byte: CChar) -> Bool { byte == 0x20 || byte == 0x09 || byte == carriageReturn }

    var list: HeaderList { HeaderList(pairs: pairs, count: count) ?? .empty }

    mutating func free() {
        shim_free(pairs)
        shim_buffer_free(&bytes)
        pairs = nil
        count = 0
    }
}
