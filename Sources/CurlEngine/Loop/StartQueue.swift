import CShims
import RetryCore

/// Attempts that wait for their turn: first come, first served among those of one host.
///
/// So many run at once, and the others wait here, where it costs nothing. A look-up takes a thread of libcurl's for as
/// long as its name server likes: only so many are under way at once, for one host and in all, and those that wait for
/// one do not hold up those that need none.
struct StartQueue {
    private static let maximumLookupsForOneHost = 8

    /// Attempts that no limit for one host holds up.
    private var ready = Line()
    /// The others, by host.
    private var hosts: [Host] = []
    private var running = 0
    private var lookups = 0

    private struct Host {
        let place: shim_url
        var line = Line()
        var lookups = 0
        var running = 0
    }

    mutating func append(_ call: Call, _ settings: EngineSettings) {
        guard isCounted(call.target, settings) else { return ready.append(call) }
        hosts[host(of: call.target)].line.append(call)
    }

    /// Whether attempts to this place are counted by host.
    private func isCounted(_ target: Target, _ settings: EngineSettings) -> Bool {
        target.place.needs_lookup || settings.maxTransfersForOneHost != .max
    }

    /// The next attempt that may begin. It counts as running until `ended`.
    mutating func next(_ settings: EngineSettings) -> Call? {
        guard running < settings.maxTransfers else { return nil }
        if let call = ready.takeFirst() {
            running += 1
            return call
        }
        for index in hosts.indices where hosts[index].running < settings.maxTransfersForOneHost {
            let needsLookup = hosts[index].place.needs_lookup
            let mayLookUp = hosts[index].lookups < Self.maximumLookupsForOneHost && lookups < settings.maxLookups
            guard !needsLookup || mayLookUp, let call = hosts[index].line.takeFirst() else { continue }
            if needsLookup {
                hosts[index].lookups += 1
                lookups += 1
            }
            hosts[index].running += 1
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

    mutating func ended(_ target: Target) {
        running -= 1
        guard let index = knownHost(of: target) else { return }
        hosts[index].running -= 1
        if hosts[index].running == 0, hosts[index].line.isEmpty {
            hosts.swapAt(index, hosts.count - 1)
            hosts.removeLast()
        }
    }

    /// The call will not begin any more.
    mutating func remove(_ call: Call) {
        guard let index = knownHost(of: call.target) else { return ready.remove(call) }
        hosts[index].line.remove(call)
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

    /// First in, first out.
    private struct Line {
        private var calls: [Call?] = []
        private var first = 0

        var isEmpty: Bool { first == calls.count }

        mutating func append(_ call: Call) {
            calls.append(call)
        }

        mutating func takeFirst() -> Call? {
            while first < calls.count {
                let call = calls[first]
                calls[first] = nil
                first += 1
                if first == calls.count {
                    calls.removeAll(keepingCapacity: true)
                    first = 0
                }
                if let call { return call }
            }
            return nil
        }

        mutating func remove(_ call: Call) {
            for index in first..<calls.count where calls[index] === call { calls[index] = nil }
        }
    }
}
