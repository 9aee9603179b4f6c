import CShims

/// Hosts to which no connection could be made: the next attempt looks their names up again, instead of taking the
/// addresses that libcurl remembers for a minute (W5).
struct DoubtfulAddresses {
    /// Beyond this many, all are forgotten.
    private static let maximumCount = 16_384

    private var origins = OriginTable()

    mutating func record(_ parsedURL: shim_url) {
        if origins.count >= Self.maximumCount { origins.removeAll() }
        origins.set(parsedURL.origin, to: 1)
    }

    /// Whether the attempt that begins now looks the name up again. Those after it take what it finds.
    mutating func take(_ parsedURL: shim_url) -> Bool {
        guard origins.value(of: parsedURL.origin) != nil else { return false }
        origins.remove(parsedURL.origin)
        return true
    }
}
