import CShims
import RetryCore

/// Attempts that wait for their turn: first come, first served among those of one host; hosts take turns.
///
/// A limited number run at once, and the others wait here, where it costs nothing. A look-up takes a thread of
/// libcurl's for as long as its name server likes: only a limited number are in progress, for one host and in all, and
/// those that wait for one do not hold up those that need none.
///
/// Of a host that may speak HTTP/2, or not, the first attempt finds out: the others wait until it is connected, but no
/// longer than a second, so that they can share its connection.
///
/// Attempts to a host that has a gate wait here as long as the gate holds them (C3).
///
/// No operation searches the hosts: a table finds one by its origin, and those from which an attempt may begin are in
/// a queue.
struct StartQueue {
    private static let maximumLookupsForOneHost = 8
    private static let longestProbe: Int64 = 1_000_000_000

    /// Attempts that no limit for one host holds up.
    private var ready = CallQueue()
    /// The others, by host.
    var hosts = HostTable()
    /// Hosts from which an attempt may begin: those that need no look-up, and those that do.
    private var eligible = HostQueue()
    private var eligibleForLookup = HostQueue()
    /// Hosts of which an attempt finds out what they speak. It has equally long for each, so the first is due first.
    private var probed = HostQueue()
    /// Attempts in `ready` and of all hosts.
    private var waiting = 0
    private var running = 0
    /// Hosts that have a gate.
    var gates = 0
    private var lookups = 0
    private var maximumForOneHost = Int.max
    /// When attempts that wait for another one's connection need not wait any longer; nil: there are none.
    private(set) var nextRelease: Int64?

    /// `probes`: it is not known whether connections to the call's target can be shared.
    @inline(__always)  // Otherwise, the settings are copied.
    mutating func append(_ call: Call, _ settings: EngineSettings, probes: Bool) {
        waiting += 1
        maximumForOneHost = settings.maxTransfersForOneHost
        call.isCountedByHost =
            probes || call.target.parsedURL.needs_lookup || maximumForOneHost != .max || settings.sharesRetryAfter
        guard call.isCountedByHost else { return ready.append(call) }
        let index = hosts.index(for: call.target.parsedURL)
        if probes, hosts[index].running == 0, hosts[index].queue.isEmpty { hosts[index].isUnknown = true }
        hosts[index].queue.append(call)
        requeue(index)
    }

    /// The next attempt that may begin. It counts as running until `ended`.
    @inline(__always)  // Otherwise, the settings are copied.
    mutating func next(_ settings: EngineSettings, now: Int64) -> Call? {
        nextRelease = nil
        guard waiting > 0, running < settings.transport.maxTransfers else { return nil }
        if let call = ready.takeFirst() {
            waiting -= 1
            running += 1
            return call
        }
        releaseProbed(now: now)
        if let index = eligible.first { return begin(index, now: now) }
        if lookups < settings.maxLookups, let index = eligibleForLookup.first {
            return begin(index, now: now)
        }
        if let index = probed.first { nextRelease = hosts[index].probedUntil }
        return nil
    }

    private mutating func begin(_ index: Int, now: Int64) -> Call? {
        guard let call = hosts[index].queue.takeFirst() else { return nil }
        if hosts[index].parsedURL.needs_lookup {
            hosts[index].lookups += 1
            lookups += 1
        }
        if hosts[index].isUnknown {
            hosts[index].isUnknown = false
            hosts[index].probedUntil = now + Self.longestProbe
        }
        call.gatePass = hosts[index].gate?.pass(now: now)
        hosts[index].running += 1
        waiting -= 1
        running += 1
        dequeue(index)  // It goes behind the others.
        requeue(index)
        return call
    }

    /// The attempt's look-up is over, or it needed none.
    mutating func opened(_ target: Target) {
        guard target.parsedURL.needs_lookup, let index = hosts.knownIndex(for: target.parsedURL) else { return }
        hosts[index].lookups -= 1
        lookups -= 1
        requeue(index)
    }

    /// An attempt has its connection: what it speaks is known.
    mutating func connected(_ target: Target) {
        guard let index = hosts.knownIndex(for: target.parsedURL) else { return }
        hosts[index].probedUntil = 0
        requeue(index)
    }

    /// `pass`: it goes back to the gate; nil: the attempt has none, or the gate has it already.
    mutating func ended(_ target: Target, isCounted: Bool, pass: GatePass? = nil) {
        running -= 1
        guard isCounted, let index = hosts.knownIndex(for: target.parsedURL) else { return }
        if let pass { _ = pass.gate.value.gaveUp(pass.pass) }
        hosts[index].running -= 1
        hosts[index].probedUntil = 0
        requeue(index)
        forgetIfUnused(index)
    }

    /// No attempt waits for its turn.
    var isEmpty: Bool { waiting == 0 }

    /// The call will not begin any more.
    mutating func remove(_ call: Call) {
        waiting -= 1
        guard call.isCountedByHost, let index = hosts.knownIndex(for: call.target.parsedURL) else {
            return ready.remove(call)
        }
        hosts[index].queue.remove(call)
        requeue(index)
        forgetIfUnused(index)
    }

    mutating func forgetIfUnused(_ index: Int) {
        guard hosts[index].isIdle, hosts[index].gate == nil else { return }
        dequeue(index)
        hosts.remove(index)
    }

    // MARK: - Which queue a host is in

    private mutating func releaseProbed(now: Int64) {
        while let index = probed.first, hosts[index].probedUntil <= now {
            hosts[index].probedUntil = 0
            requeue(index)
        }
    }

    /// Something has changed for a host: moves it to its queue, where it keeps its place if it is there already.
    @inline(never)
    mutating func requeue(_ index: Int) {
        let wanted = standing(of: index)
        guard hosts[index].standing != wanted else { return }
        dequeue(index)
        switch wanted {
        case .nowhere: break
        case .eligible: eligible.append(index, in: &hosts)
        case .eligibleForLookup: eligibleForLookup.append(index, in: &hosts)
        case .probed: probed.append(index, in: &hosts)
        }
        hosts[index].standing = wanted
    }

    private mutating func dequeue(_ index: Int) {
        switch hosts[index].standing {
        case .nowhere: return
        case .eligible: eligible.remove(index, in: &hosts)
        case .eligibleForLookup: eligibleForLookup.remove(index, in: &hosts)
        case .probed: probed.remove(index, in: &hosts)
        }
        hosts[index].standing = .nowhere
    }

    private func standing(of index: Int) -> WaitingHost.Standing {
        guard hosts[index].probedUntil == 0 else { return .probed }
        guard !hosts[index].queue.isEmpty, hosts[index].running < maximumForOneHost,
            hosts[index].gate?.value.places != 0
        else { return .nowhere }
        guard hosts[index].parsedURL.needs_lookup else { return .eligible }
        return hosts[index].lookups < Self.maximumLookupsForOneHost ? .eligibleForLookup : .nowhere
    }
}
