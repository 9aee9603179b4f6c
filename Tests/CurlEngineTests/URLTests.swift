import CShims
import Testing

@testable import CurlEngine

/// What is known of a URL before it is sent is what libcurl makes of it: plain URLs are read without it, and a scheme in
/// capitals is not one of theirs.
@Suite struct URLTests {
    private struct Facts: Equatable {
        let origin: UInt64
        let needsLookup: Bool
        let hasTLS: Bool
        let isLocal: Bool
    }

    private func facts(_ url: String) -> Facts? {
        var found = shim_url()
        var problem: UnsafePointer<CChar>?
        guard shim_url_check(url, &found, &problem) == SHIM_URL_GOOD else { return nil }
        return Facts(
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
                #expect(facts("http\(rest)") == facts("HTTP\(rest)"), "http\(rest)")
                #expect(facts("https\(rest)") == facts("HTTPS\(rest)"), "https\(rest)")
            }
        }
    }

    @Test func whatIsKnown() {
        #expect(facts("http://127.0.0.1/") == facts("http://127.0.0.1:80/x?y"))
        #expect(facts("http://example.org")?.needsLookup == true)
        #expect(facts("http://127.0.0.1")?.needsLookup == false)
        #expect(facts("http://localhost")?.isLocal == true)
        #expect(facts("http://example.org")?.isLocal == false)
        #expect(facts("https://example.org")?.hasTLS == true)
        #expect(facts("http://example.org:81")?.origin != facts("http://example.org")?.origin)
        #expect(facts("ftp://example.org") == nil)
    }
}
