import CShims
import RetryCore
import Testing

@testable import CurlEngine

/// Redirects, in virtual time.
@Suite struct RedirectTests {
    @Test("a redirect is followed within its attempt, and recorded") func followed() throws {
        let scene = try Scene(.status(302, "Location: /b?c"), .status(200, body: "there"))
        let result = try scene.perform()
        #expect(result.status == 200 && result.bodyText == "there")
        #expect(result.records.count == 1 && result.records[0].redirects == 1)
        #expect(result.redirects.map { String(cString: $0.url) } == ["http://127.0.0.1/b?c"])
        #expect(String(cString: result.url) == "http://127.0.0.1/b?c")
    }

    @Test("F12, B7: a redirect does not lend its Retry-After to where it leads") func retryAfter() throws {
        let scene = try Scene(.status(302, "Retry-After: 9", "Location: /busy"), .status(503), .status(200))
        let result = try scene.perform()
        #expect(result.waits == [2])
        #expect(
            scene.transport.sent == ["GET http://127.0.0.1/", "GET http://127.0.0.1/busy", "GET http://127.0.0.1/"])
    }

    @Test("too many redirects end the call, which is not retried (B2)") func tooMany() throws {
        let scene = try Scene(.status(302, "Location: /"))
        let result = try scene.perform { $0.maxRedirects = 3 }
        #expect(result.ending == .local(.tooManyRedirects))
        #expect(result.redirects.count == 3 && result.records.count == 1 && scene.transport.begun.count == 4)
    }

    @Test("where redirects are off, or lead nowhere, they are the response") func notFollowed() throws {
        #expect(try Scene(.status(302, "Location: /b")).perform { $0.maxRedirects = 0 }.status == 302)
        for location in ["ftp://a/", "file:///etc/passwd", "javascript:x", "http://", "//"] {
            #expect(try Scene(.status(302, "Location: " + location)).perform().status == 302, "\(location)")
        }
        #expect(try Scene(.status(302)).perform().status == 302)
        #expect(try Scene(.status(304, "Location: /b")).perform().status == 304)
    }

    @Test(
        "the method changes as in browsers",
        arguments: [
            (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"),
            (308, "POST", "POST"), (301, "PUT", "PUT"), (302, "DELETE", "DELETE"), (303, "PUT", "GET"),
            (303, "HEAD", "HEAD"), (301, "HEAD", "HEAD"), (303, "GET", "GET"),
        ])
    func methods(status: Int, method: String, after: String) throws {
        let scene = try Scene(.status(status, "Location: /b"), .status(200))
        _ = try scene.perform(method: method)
        #expect(scene.transport.sent.last == after + " http://127.0.0.1/b")
    }

    @Test(
        "F58, T13: what is secret goes to no other scheme, host or port",
        arguments: [
            ("http://127.0.0.1/b", true), ("/b", true), ("http://127.0.0.1:80/b", true),
            ("http://127.0.0.1:81/", false), ("http://127.0.0.2/", false), ("https://127.0.0.1/", false),
            ("//127.0.0.2/", false),
        ])
    func secrets(location: String, isSame: Bool) throws {
        let scene = try Scene(.status(302, "Location: " + location), .status(200))
        let headers = OwnedHeaders()
        for name in ["Authorization", "Cookie", "X-Box-Secret", "Accept"] { #expect(headers.append(name, "1")) }
        _ = try scene.perform(headers: headers)
        let expected =
            isSame ? ["Authorization: 1", "Cookie: 1", "X-Box-Secret: 1", "Accept: 1"] : ["Accept: 1"]
        #expect(scene.transport.headerLines[1].filter { !$0.hasPrefix("Expect") } == expected)
    }

    @Test("F107, R3: a redirect that wants a body again that is gone is the response, and no success") func oneShot()
        throws
    {
        let source = CallbackSource(length: -1, read: { _, _, _ in .bytes(3) }, rewind: nil, close: {})
        let scene = try Scene(.status(307, "Location: /b"), .status(200))
        scene.transport.readsBodies = true
        let result = try scene.perform(method: "PUT", source: source)
        #expect(result.ending == .response && result.status == 307)
        #expect(result.records.map { $0.decision?.action } == [.stop])
        #expect(result.records.map { $0.decision?.reason } == [.notReplayable])
    }
}
