/// Which strings are valid tokens (T6).
public enum TokenText {
    public static let maximumLength = 16_384
    /// Including the white space around it. Longer texts are not checked.
    private static let longestLookedAt = 65_536

    /// The token without the white space around it; nil if the rest is empty, too long, or contains a byte that is not
    /// allowed in a header. Borrows the bytes.
    public static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard bytes.count <= longestLookedAt else { return nil }
        var first = 0
        var last = bytes.count
        while first < last, isWhiteSpace(bytes[first]) { first += 1 }
        while last > first, isWhiteSpace(bytes[last - 1]) { last -= 1 }
        guard first < last, last - first <= maximumLength else { return nil }
        for index in first..<last where !(0x21...0x7E).contains(bytes[index]) { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[first..<last])
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte)
    }
}
