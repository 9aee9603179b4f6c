import CShims
import Testing

@testable import CurlEngine

/// A client keeps the target of its last request, for the next one to the same place.
@Suite struct LastTargetTests {
    private static let url = "http://example.org/path"

    private func target(_ method: String = "GET", _ url: String = url, hasBody: Bool = false) throws -> Target {
        var parsedURL = shim_url()
        var problem: UnsafePointer<CChar>?
        #expect(Int(shim_url_check(url, &parsedURL, &problem)) == SHIM_URL_GOOD)
        return try #require(Target.make(method: method, url: url, parsedURL: parsedURL, hasBody: hasBody))
    }

    @Test("A target is given for the same method, the same URL and the same kind of body, and for no other")
    func matches() throws {
        let last = LastTarget()
        #expect(last.matching(method: "GET", url: Self.url, hasBody: false) == nil)
        let kept = try target()
        last.keep(kept)
        for _ in 0..<2 { #expect(last.matching(method: "GET", url: Self.url, hasBody: false) === kept) }
        #expect(last.matching(method: "get", url: Self.url, hasBody: false) == nil)
        #expect(last.matching(method: "GETS", url: Self.url, hasBody: false) == nil)
        #expect(last.matching(method: "GET", url: Self.url + "?", hasBody: false) == nil)
        #expect(last.matching(method: "GET", url: "http://example.org/pat", hasBody: false) == nil)
        #expect(last.matching(method: "GET", url: Self.url, hasBody: true) == nil)
    }

    @Test("The last target takes the place of the one before it, which goes")
    func replaces() throws {
        let last = LastTarget()
        weak var first: Target?
        do {
            let kept = try target()
            first = kept
            last.keep(kept)
        }
        #expect(first != nil)
        let second = try target("POST", hasBody: true)
        last.keep(second)
        #expect(first == nil)
        #expect(last.matching(method: "GET", url: Self.url, hasBody: false) == nil)
        #expect(last.matching(method: "POST", url: Self.url, hasBody: true) === second)
    }

    @Test("T1: A URL with a user is not kept, and neither is a long one")
    func keepsNoPasswords() throws {
        let last = LastTarget()
        for url in ["http://user:word@example.org/path", Self.url + String(repeating: "a", count: 2_048)] {
            last.keep(try target("GET", url))
            #expect(last.matching(method: "GET", url: url, hasBody: false) == nil)
        }
    }
}
