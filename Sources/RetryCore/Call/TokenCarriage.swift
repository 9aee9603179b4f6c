/// Whether a sending carries its call's access token (T13). This is the one place where that is decided: for the request when
/// it is submitted, and for each sending of it again.
public enum TokenCarriage: Equatable {
    /// `isDirect`: past the proxies of the environment, which could read what is meant for this machine alone.
    case token(isDirect: Bool)
    case noToken
    /// Others could read it on the way.
    case refused

    /// What is known of the sending.
    public struct Facts {
        /// https
        public var hasTLS: Bool
        /// The host is this machine, whatever a resolver answers.
        public var isLocal: Bool
        /// The client was given a proxy.
        public var hasProxy: Bool
        /// `allow_insecure_token`
        public var allowsInsecure: Bool
        /// It goes to the scheme, host and port that the request was for.
        public var isOwnOrigin: Bool
        /// The caller has set an Authorization, in the request or in its hook: it wins.
        public var hasAuthorization: Bool
        /// The caller's hook wants none.
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
    /// another origin, an Authorization of the caller's, or none wanted   noToken
    /// https, or allow_insecure_token                                     token
    /// http to this machine, and no proxy was given                       token, past the environment's proxies
    /// any other http                                                     refused
    /// ```
    public init(_ facts: Facts) {
        guard facts.isOwnOrigin, !facts.hasAuthorization, !facts.isDeclined else {
            self = .noToken
            return
        }
        guard !facts.hasTLS, !facts.allowsInsecure else {
            self = .token(isDirect: false)
            return
        }
        self = facts.isLocal && !facts.hasProxy ? .token(isDirect: true) : .refused
    }
}
