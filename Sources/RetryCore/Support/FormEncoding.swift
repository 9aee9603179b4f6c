/// `application/x-www-form-urlencoded`; encodes everything except letters, digits and `-._~`.
public enum FormEncoding {
    /// Calls `body` with each byte of the encoded text.
    ///
    /// | bytes       | encoded           |
    /// |-------------|-------------------|
    /// | `a b+c`     | `a%20b%2Bc`       |
    /// | `é`         | `%C3%A9`          |
    public static func encode(_ bytes: UnsafeRawBufferPointer, _ body: (UInt8) -> Void) {
        for byte in bytes {
            if isUnreserved(byte) {
                body(byte)
            } else {
                body(UInt8(ascii: "%"))
                body(digit(byte >> 4))
                body(digit(byte & 0xF))
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
