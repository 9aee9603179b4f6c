import CShims
import RetryCore

/// What a client's options say about its connections.
public struct TransportSettings {
    public typealias Text = UnsafeMutablePointer<CChar>

    private let texts = OwnedTexts()
    public var userAgent: Text?
    /// Nil: as the environment says; empty: none.
    public var proxy: Text?
    public var caFile: Text?
    public var caPath: Text?
    /// Certificates are not checked.
    public var trustsAnyCertificate = false
    public var clientCertificate: Text?
    public var clientKey: Text?
    public var clientKeyPassword: Text?
    public var unixSocket: Text?
    /// Attempts under way at once; the others wait.
    public var maxTransfers = 512
    /// Gets libcurl's handle before each sending. Runs on the loop, and must not block.
    public var onTransfer: ((UnsafeMutableRawPointer?) -> Void)?

    public init() {}

    /// What libcurl has to know.
    var easySettings: shim_easy_settings {
        shim_easy_settings(
            user_agent: userAgent, proxy: proxy, environment_has_none: false, ca_file: caFile, ca_path: caPath,
            trusts_any_certificate: trustsAnyCertificate, client_certificate: clientCertificate, client_key: clientKey,
            client_key_password: clientKeyPassword,
            unix_socket: unixSocket)
    }

    /// Whether a secret goes along to a place (T12, T13).
    public func carriage(
        to parsedURL: shim_url, allowsInsecure: Bool, isOwnOrigin: Bool = true, hasAuthorization: Bool = false,
        isDeclined: Bool = false
    ) -> TokenCarriage {
        TokenCarriage(
            TokenCarriage.Context(
                hasTLS: parsedURL.has_tls, isLocal: parsedURL.is_local,
                hasProxy: proxy.map { $0.pointee != 0 } ?? false,
                allowsInsecure: allowsInsecure, isOwnOrigin: isOwnOrigin, hasAuthorization: hasAuthorization,
                isDeclined: isDeclined))
    }

    /// Why the client's private key cannot be used, if that is for want of the right password.
    var keyProblem: FailureReason? {
        guard let file = clientKey ?? clientCertificate, shim_file_has_encrypted_key(file) else { return nil }
        return FailureReason(
            "options", "client_key_password",
            .words(
                clientKeyPassword == nil ? "is needed: the private key is encrypted" : "does not fit the private key"))
    }

    /// Takes over a text that `shim_copy_string` made: it lives as long as these settings and their copies.
    public func own(_ text: Text?) -> Text? {
        if let text { texts.append(text) }
        return text
    }
}
