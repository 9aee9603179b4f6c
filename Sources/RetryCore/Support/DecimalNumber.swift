/// Reads a decimal floating-point number: digits, a fraction (`0.5`, `.5`, `1.`), an exponent (`1e3`), a leading `+`.
///
/// | text     | value    | text            | value |
/// |----------|----------|-----------------|-------|
/// | `007`    | 7        | `-1`, `0x10`    | none  |
/// | `.5`     | 0.5      | `.`, `+`, ``    | none  |
/// | `1e3`    | 1000     | `1e`, `e3`      | none  |
/// | `1e400`  | infinity | `nan`, `inf`    | none  |
enum DecimalNumber {
    /// The value of the bytes; nil if they are not a number as a whole. Never negative or NaN; may be infinite.
    @inline(__always)
    static func parse(_ text: ByteCursor) -> Double? {
        var text = text
        _ = text.take(UInt8(ascii: "+"))
        guard var number = Digits(&text) else { return nil }
        if text.take(UInt8(ascii: "e")) || text.take(UInt8(ascii: "E")) {
            guard let exponent = takeExponent(&text) else { return nil }
            number.exponent += exponent
        }
        return text.isAtEnd ? number.value : nil
    }

    /// Far above the exponents of a Double, far below the maximum of an Int.
    private static let exponentLimit = 1_000_000_000

    private static func takeExponent(_ text: inout ByteCursor) -> Int? {
        let isNegative = text.take(UInt8(ascii: "-"))
        if !isNegative { _ = text.take(UInt8(ascii: "+")) }
        guard let first = text.takeDigit() else { return nil }
        var exponent = Int(first)
        while let digit = text.takeDigit() {
            if exponent < exponentLimit { exponent = exponent * 10 + Int(digit) }
        }
        return isNegative ? -exponent : exponent
    }

    /// `significand * 10^exponent`.
    private struct Digits {
        var significand: Int64 = 0
        var exponent = 0

        /// Takes digits with at most one decimal point; nil if there is no digit.
        init?(_ text: inout ByteCursor) {
            var sawDigit = false
            while let digit = text.takeDigit() {
                sawDigit = true
                if !append(digit) { exponent += 1 }
            }
            if text.take(UInt8(ascii: ".")) {
                while let digit = text.takeDigit() {
                    sawDigit = true
                    if append(digit) { exponent -= 1 }
                }
            }
            guard sawDigit else { return nil }
        }

        /// False if the significand is full: 18 digits are more than a Double can represent.
        private mutating func append(_ digit: UInt8) -> Bool {
            guard significand < 100_000_000_000_000_000 else { return false }
            significand = significand * 10 + Int64(digit)
            return true
        }

        @inline(__always)
        var value: Double {
            var value = Double(significand)
            guard exponent != 0 else { return value }
            var exponent = exponent
            // 10^22 is the largest power of ten that a Double represents exactly. Zero and infinity do not change.
            while exponent > 22, value > 0, value < .infinity {
                value *= 1e22
                exponent -= 22
            }
            while exponent < -22, value > 0 {
                value /= 1e22
                exponent += 22
            }
            guard value > 0, value < .infinity else { return value }
            var power = 1.0
            for _ in 0..<exponent.magnitude { power *= 10 }
            return exponent < 0 ? value / power : value * power
        }
    }
}
