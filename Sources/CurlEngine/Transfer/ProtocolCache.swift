import CShims

/// The HTTP versions that origins have used: HTTP/2, in which many requests share a connection, or HTTP/1.
struct ProtocolCache {
    /// Number of origins remembered; beyond it, all are forgotten.
    private static let maximumCount = 16_384

    private var origins = OriginTable()

    enum Versions: Int {
        case serial
        case multiplexed
        /// Some connections speak HTTP/2 and some do not: several servers share the address.
        case mixed
        /// Over HTTP/2 the server has answered that this origin needs HTTP/1.1 (RFC 9113, 7: HTTP_1_1_REQUIRED).
        case http1Needed
    }

    /// Nil: nothing is known. Answers to requests with prior knowledge say nothing about others.
    func versions(of parsedURL: shim_url, _ version: HTTPVersion) -> Versions? {
        origins.value(of: Self.key(parsedURL, version)).flatMap { Versions(rawValue: $0) }
    }

    mutating func record(_ parsedURL: shim_url, _ version: HTTPVersion, _ versions: Versions) {
        guard version != .http1 else { return }
        let key = Self.key(parsedURL, version)
        if let known = self.versions(of: parsedURL, version), versions != .http1Needed {
            let stays = known == versions || known == .http1Needed
            if !stays { origins.set(key, to: Versions.mixed.rawValue) }
            return
        }
        if origins.count >= Self.maximumCount { origins.removeAll() }
        origins.set(key, to: versions.rawValue)
    }

    private static func key(_ parsedURL: shim_url, _ version: HTTPVersion) -> UInt64 {
        version == .http2PriorKnowledge ? ~parsedURL.origin : parsedURL.origin
    }
}
