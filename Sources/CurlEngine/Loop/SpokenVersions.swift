import CShims

/// The versions of HTTP that origins have spoken: HTTP/2, in which many requests share a connection, or HTTP/1.
struct SpokenVersions {
    /// Number of origins remembered; beyond it, all are forgotten.
    private static let maximumCount = 256

    private var origins: [(key: UInt64, versions: Versions)] = []

    enum Versions {
        case serial
        case multiplexed
        /// Some connections speak HTTP/2 and some do not: several servers share the address.
        case mixed
    }

    /// Nil: nothing is known. Answers to requests with prior knowledge say nothing about others.
    func versions(of place: shim_url, _ version: HTTPVersion) -> Versions? {
        let key = Self.key(place, version)
        for known in origins where known.key == key { return known.versions }
        return nil
    }

    mutating func record(_ place: shim_url, _ version: HTTPVersion, _ versions: Versions) {
        guard version != .http1 else { return }
        let key = Self.key(place, version)
        for index in origins.indices where origins[index].key == key {
            if origins[index].versions != versions { origins[index].versions = .mixed }
            return
        }
        if origins.count >= Self.maximumCount { origins.removeAll(keepingCapacity: true) }
        origins.append((key, versions))
    }

    private static func key(_ place: shim_url, _ version: HTTPVersion) -> UInt64 {
        version == .http2PriorKnowledge ? ~place.origin : place.origin
    }
}
