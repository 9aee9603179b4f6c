import RetryCore
import Testing

@Suite struct TokenTextTests {
    private func trimmed(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { bytes in TokenText.trimmed(bytes).map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test("T6, F72: white space around a token is dropped; text that a header cannot have is refused") func tokens() {
        #expect(trimmed("  abc\n") == "abc")
        #expect(trimmed("\t\r\n\u{0B}\u{0C} a!~Z ") == "a!~Z")
        for text in ["", " \n", "abc\r\nX-Evil: 1", "a b", "a\0", "\0", "a\u{7F}", "tokené", "a\u{1F}b"] {
            #expect(trimmed(text) == nil)
        }
    }

    @Test("T6: a token has at most 16 KiB, white space not counted") func length() {
        let longest = String(repeating: "x", count: 16_384)
        #expect(trimmed(" \(longest) ") == longest)
        #expect(trimmed(longest + "x") == nil)
        #expect(trimmed(String(repeating: "x", count: 20_480)) == nil)
    }

    @Test("T6: the provider's text is short, has no control characters, and no half character at its end")
    func providerText() {
        func shown(_ text: String) -> String { ProviderText(text).withCString { String(cString: $0!) } }
        #expect(shown("no\r\nsuch\u{7F}user") == "no  such user")
        #expect(ProviderText(nil).isEmpty && ProviderText("").isEmpty)
        #expect(shown(String(repeating: "x", count: 1_000)).utf8.count == ProviderText.maximumLength)
        let cut = shown(String(repeating: "é", count: 79) + "x" + "éé")
        #expect(cut == String(repeating: "é", count: 79) + "x")
        #expect(shown(String(repeating: "é", count: 100)) == String(repeating: "é", count: 80))
        #expect(shown(String(repeating: "€", count: 100)) == String(repeating: "€", count: 53))
        #expect(shown(String(repeating: "😀", count: 100)) == String(repeating: "😀", count: 40))
        #expect(shown("xx" + String(repeating: "😀", count: 100)) == "xx" + String(repeating: "😀", count: 39))
    }
}
