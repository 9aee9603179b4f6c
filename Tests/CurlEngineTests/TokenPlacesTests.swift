import RetryCore
import Testing

@testable import CurlEngine

/// T13 in whole calls: which sendings carry the access token, for each origin, scheme, proxy, redirect, hook and header of
/// the caller's. (`TokenCarriageTests` has the rule itself.)
@Suite struct TokenPlacesTests {
    private static let urls = ["http://127.0.0.1/", "https://127.0.0.1/", "http://192.0.2.1/", "https://192.0.2.1/"]
    private static let elsewhere = ["http://127.0.0.1:81/", "https://192.0.2.2/"]

    enum Hook: CaseIterable {
        case none
        case looks
        case setsAuthorization
        case declines
    }

    @Test("T13: each sending carries what it is allowed to carry", arguments: urls, Hook.allCases)
    func sendings(url: String, hook: Hook) throws {
        for proxy in [nil, "http://192.0.2.9:3128"] {
            for allowsInsecure in [false, true] {
                for ownHeader in [false, true] {
                    for redirect in [nil, url + "again"] + Self.elsewhere {
                        let (sent, areDirect) = try send(url, hook, proxy, allowsInsecure, ownHeader, redirect)
                        let safe =
                            url.hasPrefix("https:") || allowsInsecure || url.contains("127.0.0.1") && proxy == nil
                        let own = ownHeader ? "Basic own" : safe && hook != .declines ? "Bearer secret" : ""
                        let isSame = redirect.map { $0.hasPrefix(url) } ?? true
                        let what = "\(url) \(hook) \(proxy ?? "-") \(allowsInsecure) \(ownHeader) \(redirect ?? "-")"
                        switch hook {
                        case .setsAuthorization: #expect(sent.allSatisfy { $0 == "Basic hook" }, "\(what): \(sent)")
                        case .declines where ownHeader: #expect(sent.allSatisfy { $0.isEmpty }, "\(what): \(sent)")
                        case .none, .looks, .declines:
                            #expect(sent.first == own, "\(what): \(sent)")
                            #expect(sent.last == (isSame ? own : ""), "\(what): \(sent)")
                        }
                        #expect(sent.count == (redirect == nil ? 1 : 2))
                        let mayBeDirect = url.hasPrefix("http:") && !allowsInsecure
                        #expect(areDirect == sent.map { mayBeDirect && $0 == "Bearer secret" }, "\(what): \(areDirect)")
                    }
                }
            }
        }
    }

    /// The Authorization of each sending, and whether it goes past the environment's proxies.
    private func send(
        _ url: String, _ hook: Hook, _ proxy: String?, _ allowsInsecure: Bool, _ ownHeader: Bool, _ redirect: String?
    ) throws -> ([String], [Bool]) {
        let scripts = redirect.map { [Script.status(307, "Location: \($0)"), .status(200)] } ?? [.status(200)]
        let scene = try Scene(scripts, proxy: proxy)
        let headers = OwnedHeaders()
        if ownHeader {
            #expect("Authorization".withCString { name in "Basic own".withCString { headers.append(name, $0) } })
        }
        let secret = try #require(Array("secret".utf8).withUnsafeBytes { SecretBytes.copy(of: $0) })
        let source = try #require(TokenSource.make(fixed: secret, clock: .system(SystemClock())) { $0 })
        _ = try scene.perform(url: url, headers: headers, tokens: source) { settings in
            settings.allowsInsecureToken = allowsInsecure
            guard hook != .none else { return }
            settings.beforeAttempt = { sending in
                let name: StaticString = "Authorization"
                let value: StaticString = "Basic hook"
                switch hook {
                case .setsAuthorization: sending.hasFailed = !sending.headers.set(name.cString, value.cString)
                case .declines:
                    sending.headers.remove { RequestChecks.isSameHeader($0, name.cString) }
                    sending.hasNoAuthorization = true
                case .none, .looks: break
                }
            }
        }
        return (scene.authorizations, scene.transport.areDirect)
    }
}
