import CShims
import RetryCore

/// Host and port of the proxies that requests go by, without user and password, to be named in errors (W6).
final class ProxyNames {
    private let forHTTP: ProviderText
    private let forHTTPS: ProviderText

    /// `proxy`: the one that was given; nil: as the environment says now; empty: none.
    init(given proxy: UnsafePointer<CChar>?) {
        forHTTP = Self.name(proxy ?? shim_environment_proxy(false))
        forHTTPS = Self.name(proxy ?? shim_environment_proxy(true))
    }

    func name(hasTLS: Bool) -> ProviderText { hasTLS ? forHTTPS : forHTTP }

    private static func name(_ url: UnsafePointer<CChar>?) -> ProviderText {
        guard let url, url.pointee != 0 else { return .none }
        let name = shim_url_proxy_name(url)
        defer { shim_free(name) }
        return ProviderText(name)
    }
}
