/// Whether a sending carries its call's access token (T13). Only this type decides that: when the request is submitted,
/// and each time it is sent again.
public enum TokenCarriage: Equatable {
    /// `isDirect`: without the environment's proxies, which could read data that is meant only for this machine.
    case token(isDirect: Bool)
    case noToken
    /// Others on the network could read the token.
    case refused

    /// The properties of a sending that determine the result.
    public struct Context {
        /// The URL's scheme is https.
        public var hasTLS: Bool
        /// The host is always this machine, with any resolver.
        public var isLocal: Bool
        /// The client has an explicit proxy.
        public var hasProxy: Bool
        /// `allow_insecure_token`
        public var allowsInsecure: Bool
        /// The target has the scheme, host and port of the original request.
        public var isOwnOrigin: Bool
        /// The caller has set Authorization, in the request or in a hook; that header replaces the token.
        public var hasAuthorization: Bool
        /// The caller's hook has declined the token.
        public var isDeclined: Bool

        public init(
            hasTLS: Bool, isLocal: Bool, hasProxy: Bool, allowsInsecure: Bool, isOwnOrigin: Bool,
            hasAuthorization: Bool,
            isDeclined: Bool
        ) {
            self.hasTLS = hasTLS
            self.isLocal = isLocal
            self.hasProxy = hasProxy
            self.allowsInsecure = allowsInsecure
            self.isOwnOrigin = isOwnOrigin
            self.hasAuthorization = hasAuthorization
            self.isDeclined = isDeclined
        }
    }

    /// ```
    /// another origin, the caller's own Authorization, or declined   noToken
    /// https, or allow_insecure_token                                token
    /// http to this machine, without an explicit proxy               token, without the environment's proxies
    /// any other http                                                refused
    /// ```
    public init(_ context: Context) {
        guard context.isOwnOrigin, !context.hasAuthorization, !context.isDeclined else {
            self = .noToken
            return
        }
        guard !context.hasTLS, !context.allowsInsecure else {
            self = .token(isDirect: false)
            return
        }
        self = context.isLocal && !context.hasProxy ? .token(isDirect: true) : .refused
    }
}
