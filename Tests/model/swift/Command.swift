import Foundation

/// One line of the text format, cut into its words.
struct Command {
    let name: String
    /// The plain words after the name.
    private let values: [String]
    /// Those with a `=`; their texts are still percent-encoded.
    let fields: [(key: String, text: String)]

    init(_ line: String) {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        var values: [String] = []
        var fields: [(key: String, text: String)] = []
        for word in words.dropFirst() {
            if let equals = word.firstIndex(of: "=") {
                fields.append((String(word[..<equals]), String(word[word.index(after: equals)...])))
            } else {
                values.append(String(word))
            }
        }
        name = String(words.first ?? "")
        self.values = values
        self.fields = fields
    }

    func text(at index: Int) -> String {
        guard index < values.count else { fail("a value is missing", name) }
        return values[index]
    }

    func integer<Number: FixedWidthInteger>(at index: Int) -> Number { number(text(at: index)) }
    func double(at index: Int) -> Double { number(text(at: index)) }

    func texts(of key: String) -> [String] {
        fields.filter { $0.key == key }.map(\.text)
    }
}

func number<Number: FixedWidthInteger>(_ text: String) -> Number {
    guard let number = Number(text) else { fail("this is not a number, or too large", text) }
    return number
}

func number(_ text: String) -> Double { strtod(text, nil) }

func isTrue(_ text: String) -> Bool { number(text) as Int32 != 0 }

/// Percent-decoded bytes, with the NUL that C strings end in.
func decoded(_ text: String) -> [CChar] {
    var bytes: [CChar] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), let value = UInt8(Substring(rest.prefix(2)), radix: 16) {
            bytes.append(CChar(bitPattern: value))
            rest = rest.dropFirst(2)
        } else {
            bytes.append(CChar(bitPattern: byte))
        }
    }
    return bytes + [0]
}

/// NAME:VALUE; the name is decoded, the value as it stands.
func pair(_ text: String) -> (name: [CChar], value: String) {
    guard let colon = text.firstIndex(of: ":") else { fail("a pair has no colon", text) }
    return (decoded(String(text[..<colon])), String(text[text.index(after: colon)...]))
}

/// Prints a line, at once, so that a trap loses nothing that was answered before it.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

func fail(_ what: String, _ text: String) -> Never {
    fatalError("\(what): \(text)")
}
