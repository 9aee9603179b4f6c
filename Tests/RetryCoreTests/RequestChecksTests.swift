import RetryCore
import Testing

/// What a request may contain, to the byte.
@Suite struct RequestChecksTests {
    @Test("a method is a token of at most 32 characters") func methods() {
        for method in ["GET", "M-SEARCH", "!#$%&'*+-.^_`|~09az", String(repeating: "M", count: 32)] {
            #expect(RequestChecks.isMethod(method), "\(method)")
        }
        for method in ["", "G ET", "GET\t", "GET\r", "G/ET", "GÉT", "G\u{7F}", String(repeating: "M", count: 33)] {
            #expect(!RequestChecks.isMethod(method), "\(method)")
        }
    }

    @Test("a header's name is a token of at most 256 characters") func names() {
        for name in ["X", "x-y", String(repeating: "n", count: 256)] { #expect(RequestChecks.isHeaderName(name)) }
        for name in ["", "X:", "X Y", "X\n", "(X)", String(repeating: "n", count: 257)] {
            #expect(!RequestChecks.isHeaderName(name), "\(name)")
        }
    }

    @Test("a header's value has no control character but the tab") func values() {
        for value in ["", " ", "a\tb", "é", "\u{80}"] { #expect(RequestChecks.isHeaderValue(value), "\(value)") }
        for byte in (UInt8(1)...0x1F).filter({ $0 != 0x09 }) + [0x7F] {
            let value = "a" + String(UnicodeScalar(byte)) + "b"
            #expect(!RequestChecks.isHeaderValue(value), "\(byte)")
        }
    }

    @Test("a URL has no white space and no control character, and at most 65536 bytes") func urls() {
        #expect(RequestChecks.isURL("http://é/"))
        #expect(RequestChecks.isURL(String(repeating: "u", count: 65_536)))
        #expect(!RequestChecks.isURL(String(repeating: "u", count: 65_537)))
        for byte in Array(UInt8(1)...0x20) + [0x7F] {
            #expect(!RequestChecks.isURL("http://a" + String(UnicodeScalar(byte))), "\(byte)")
        }
        #expect(!RequestChecks.isURL(""))
        #expect(says("", "is empty"))
        #expect(says("http://a b", "has white space or a control character"))
        #expect(says(String(repeating: "u", count: 65_537), "is longer than 65536 bytes"))
    }

    private func says(_ url: String, _ problem: String) -> Bool {
        RequestChecks.urlProblem(url)?.description == problem
    }

    @Test("B13: which methods may be sent again although something was sent") func idempotent() {
        for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"] {
            #expect(RequestChecks.isIdempotent(method: method), "\(method)")
        }
        for method in ["POST", "PATCH", "CONNECT", "REPORT", "GETX", ""] {
            #expect(!RequestChecks.isIdempotent(method: method), "\(method)")
        }
    }

    @Test("headers that the library writes itself, in any case") func reserved() {
        for name in ["Content-Length", "TRANSFER-ENCODING", "expect"] { #expect(RequestChecks.isReservedHeader(name)) }
        for name in ["Content-Type", "Expects", "TE"] { #expect(!RequestChecks.isReservedHeader(name)) }
    }
}
