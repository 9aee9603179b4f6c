import CShims
import RetryCore

/// Attempts that wait for their turn: first come, first served among those of one host.
///
/// So many run at once, and the others wait here, where it costs nothing. A look-up takes a thread of libcurl's for as
/// long as its name server likes: only so many are under way at once, for one host and in all, and those that wait for
/// one do not hold up those that need none.
///
/// Of a host that may speak HTTP/2, or not, the first attempt finds out: the others wait until it is connected, but no
/// longer than a second, so that they can share its connection.
struct StartQueue {
    private static let maximumLookupsForOneHost = 8
    private static let longestProbe: Int64 = 1_000_000_000

    /// Attempts that no limit for one host holds up.
    private var ready = CallLine()
    /// The others, by host.
    private var hosts: [Host] = []
    /// Of all lines.
    private var waiting = 0
    private var running = 0
    private var lookups = 0
    /// When attempts that wait for another one's connection need not wait any longer; nil: there are none.
    private(set) var nextRelease: Int64?

    private struct Host {
        let place: shim_url
        var line = CallLine()
        var lookups = 0
        var running = 0
        /// Nobody knows whether its connections can be shared.
        var isUnknown = false
        /// Until then, the others wait for an attempt that is to find out.
        var probedUntil: Int64 = 0
    }

    /// `probes`: it is not known whether connections to the call's target can be shared.
    mutating func append(_ call: Call, _ settings: EngineSettings, probes: Bool) {
        waiting += 1
        call.isCountedByHost = probes || call.target.place.needs_lookup || settings.maxTransfersForOneHost != .max
        guard call.isCountedByHost else { return ready.append(call) }
        let index = host(of: call.target)
        if probes, hosts[index].running == 0, hosts[index].line.isEmpty { hosts[index].isUnknown = true }
        hosts[index].line.append(call)
    }

    /// The next attempt that may begin. It counts as running until `ended`.
    mutating func next(_ settings: EngineSettings, now: Int64) -> Call? {
        nextRelease = nil
        guard waiting > 0, running < settings.maxTransfers else { return nil }
        if let call = ready.takeFirst() {
            waiting -= 1
            running += 1
            return call
        }
        for index in hosts.indices where hosts[index].running < settings.maxTransfersForOneHost {
            guard hosts[index].probedUntil <= now else {
                if !hosts[index].line.isEmpty { nextRelease = min(nextRelease ?? .max, hosts[index].probedUntil) }
                continue
            }
            let needsLookup = hosts[index].place.needs_lookup
            let mayLookUp = hosts[index].lookups < Self.maximumLookupsForOneHost && lookups < settings.maxLookups
            guard !needsLookup || mayLookUp, let call = hosts[index].line.takeFirst() else { continue }
            if needsLookup {
                hosts[index].lookups += 1
                lookups += 1
            }
            if hosts[index].isUnknown {
                hosts[index].isUnknown = false
                hosts[index].probedUntil = now + Self.longestProbe
            }
            hosts[index].running += 1
            waiting -= 1
            running += 1
            return call
        }
        return nil
    }

    /// The attempt's look-up is over, or it needed none.
    mutating func opened(_ target: Target) {
        guard target.place.needs_lookup else { return }
        let index = host(of: target)
        hosts[index].lookups -= 1
        lookups -= 1
    }

    /// An attempt has its connection: what it speaks is known.
    mutating func connected(_ target: Target) {
        if let index = knownHost(of: target) { hosts[index].probedUntil = 0 }
    }

    mutating func ended(_ target: Target, isCounted: Bool) {
        running -= 1
        guard isCounted, let index = knownHost(of: target) else { return }
        hosts[index].running -= 1
        hosts[index].probedUntil = 0
        forgetIfUnused(index)
    }

    /// No attempt waits for its turn.
    var isEmpty: Bool { waiting == 0 }

    /// The call will not begin any more.
    mutating func remove(_ call: Call) {
        waiting -= 1
        guard call.isCountedByHost, let index = knownHost(of: call.target) else { return ready.remove(call) }
        hosts[index].line.remove(call)
        forgetIfUnused(index)
    }

    private mutating func forgetIfUnused(_ index: Int) {
        guard hosts[index].running == 0, hosts[index].line.isEmpty else { return }
        hosts.swapAt(index, hosts.count - 1)
        hosts.removeLast()
    }

    private func knownHost(of target: Target) -> Int? {
        for index in hosts.indices where hosts[index].place.origin == target.place.origin { return index }
        return nil
    }

    private mutating func host(of target: Target) -> Int {
        if let index = knownHost(of: target) { return index }
        hosts.append(Host(place: target.place))
        return hosts.count - 1
    }
}
