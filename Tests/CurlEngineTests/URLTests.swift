import CShims
import Testing

@testable import CurlEngine

/// What is known of a URL before it is sent is what libcurl makes of it: plain URLs are read without it, and a scheme in
/// capitals is not one of theirs.
@Suite struct URLTests {
    private struct Parsed: Equatable {
        let origin: UInt64
        let needsLookup: Bool
        let hasTLS: Bool
        let isLocal: Bool
    }

    private func parsed(_ url: String) -> Parsed? {
        var found = shim_url()
        var problem: UnsafePointer<CChar>?
        guard shim_url_check(url, &found, &problem) == SHIM_URL_GOOD else { return nil }
        return Parsed(
            origin: found.origin, needsLookup: found.needs_lookup, hasTLS: found.has_tls,
            isLocal: found.is_local)
    }

    private static let hosts = [
        "example.org", "localhost", "localhost.", "a", "xn--bcher-kva.example", "-", ".", "a..b", "a-.b",
        "1password.com",
        "127.0.0.1", "127.1.2.3", "127.1", "127.0.0.01", "0x7f.1", "10.0.0.1", "256.1.1.1", "1.2.3.4.", "1", "[::1]",
        "[::2]",
        "[fe80::1%25eth0]", "Example.org", "ex%61mple.org", "ex_ample.org", "user@example.org", "user:word@127.0.0.1",
        "", "a b", "bücher.example", "a.1", "host,", String(repeating: "a", count: 63),
        String(repeating: "a", count: 64),
        String(repeating: "a.", count: 200) + "org",
    ]

    private static let ports = [
        "", ":", ":80", ":443", ":1", ":0", ":080", ":65535", ":65536", ":99999", ":123456", ":8o", ":-1",
    ]

    private static let paths = ["", "/", "?a=b", "#part", "/path?query#part", "/%zz", "\\", "/a@b", "x", ";", "/ü"]

    @Test(arguments: hosts)
    func plainURLsAreWhatLibcurlTakesThemFor(host: String) {
        for port in Self.ports {
            for path in Self.paths {
                let rest = "://\(host)\(port)\(path)"
                #expect(parsed("http\(rest)") == parsed("HTTP\(rest)"), "http\(rest)")
                #expect(parsed("https\(rest)") == parsed("HTTPS\(rest)"), "https\(rest)")
            }
        }
    }

    @Test func whatIsKnown() {
        #expect(parsed("http://127.0.0.1/") == parsed("http://127.0.0.1:80/x?y"))
        #expect(parsed("http://example.org")?.needsLookup == true)
        #expect(parsed("http://127.0.0.1")?.needsLookup == false)
        #expect(parsed("http://localhost")?.isLocal == true)
        #expect(parsed("http://example.org")?.isLocal == false)
        #expect(parsed("https://example.org")?.hasTLS == true)
        #expect(parsed("http://example.org:81")?.origin != parsed("http://example.org")?.origin)
        #expect(parsed("ftp://example.org") == nil)
    }
}
