/// The name of a header in an option, compared without regard to ASCII case.
struct OwnedHeaderName {
    static let maximumLength = 256

    /// In lower case.
    private let bytes: [UInt8]

    /// Nil if it is not a valid header name: 1 to 256 visible ASCII characters without a colon.
    init?(_ name: UnsafePointer<CChar>) {
        var lowercased: [UInt8] = []
        var text = ByteCursor(cString: name)
        while !text.isAtEnd {
            let byte = text.next()
            guard byte > UInt8(ascii: " "), byte < 0x7F, byte != UInt8(ascii: ":"),
                lowercased.count < Self.maximumLength
            else { return nil }
            lowercased.append(ASCII.lowercased(byte))
        }
        guard !lowercased.isEmpty else { return nil }
        bytes = lowercased
    }

    /// Lends the name.
    func withName(_ body: (HeaderName) -> Void) {
        bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            body(HeaderName(borrowing: start, count: bytes.count))
        }
    }
}
