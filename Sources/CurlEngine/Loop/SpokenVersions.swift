import CShims

/// What hosts and ports have spoken: HTTP/2, in which many requests share a connection, or HTTP/1.
struct SpokenVersions {
    /// So many are remembered; then it begins anew.
    private static let maximumCount = 256

    private var places: [(origin: UInt64, isMultiplexed: Bool)] = []

    /// Nil: nothing is known.
    func isMultiplexed(_ place: shim_url) -> Bool? {
        for known in places where known.origin == place.origin { return known.isMultiplexed }
        return nil
    }

    mutating func note(_ place: shim_url, isMultiplexed: Bool) {
        for index in places.indices where places[index].origin == place.origin {
            places[index].isMultiplexed = isMultiplexed
            return
        }
        if places.count >= Self.maximumCount { places.removeAll(keepingCapacity: true) }
        places.append((place.origin, isMultiplexed))
    }
}
