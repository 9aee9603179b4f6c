import CShims

/// A host and port with attempts that wait for their turn, or are under way.
struct WaitingHost {
    let parsedURL: shim_url
    var queue = CallQueue()
    var lookups = 0
    var running = 0
    /// It is not known whether its connections can be shared.
    var isUnknown = false
    /// Until then, the others wait for an attempt that finds out; 0: they do not.
    var probedUntil: Int64 = 0
    /// Holds its attempts (C3); nil: nothing does.
    var gate: HostGate?
    /// Which queue of the StartQueue it is in, and between which hosts; -1: none.
    var standing = Standing.nowhere
    fileprivate var before = -1
    fileprivate var after = -1

    enum Standing {
        case nowhere
        case eligible
        case eligibleForLookup
        case probed
    }

    /// No attempt to it waits or is under way.
    var isIdle: Bool { running == 0 && queue.isEmpty }

    init(_ parsedURL: shim_url) {
        self.parsedURL = parsedURL
    }
}

/// The hosts, each at an index that does not change while it is there.
struct HostTable {
    private var hosts: [WaitingHost] = []
    private var unused: [Int] = []
    private var indices = OriginTable()

    /// Not `_read`, which would allocate its frame.
    subscript(index: Int) -> WaitingHost {
        get { hosts[index] }
        _modify { yield &hosts[index] }
    }

    func knownIndex(for parsedURL: shim_url) -> Int? { indices.value(of: parsedURL.origin) }

    mutating func index(for parsedURL: shim_url) -> Int {
        if let index = knownIndex(for: parsedURL) { return index }
        let index: Int
        if let free = unused.popLast() {
            index = free
            hosts[index] = WaitingHost(parsedURL)
        } else {
            index = hosts.count
            hosts.append(WaitingHost(parsedURL))
        }
        indices.set(parsedURL.origin, to: index)
        return index
    }

    /// It is in no queue.
    mutating func remove(_ index: Int) {
        indices.remove(hosts[index].parsedURL.origin)
        guard indices.count > 0 else {
            hosts = []
            unused = []
            return
        }
        unused.append(index)
    }
}

/// Hosts, first in, first out; each can leave at any time. It is linked through the hosts themselves.
struct HostQueue {
    private var head = -1
    private var tail = -1

    var first: Int? { head < 0 ? nil : head }

    mutating func append(_ index: Int, in hosts: inout HostTable) {
        hosts[index].before = tail
        hosts[index].after = -1
        if tail < 0 { head = index } else { hosts[tail].after = index }
        tail = index
    }

    mutating func remove(_ index: Int, in hosts: inout HostTable) {
        let (before, after) = (hosts[index].before, hosts[index].after)
        if before < 0 { head = after } else { hosts[before].after = after }
        if after < 0 { tail = before } else { hosts[after].before = before }
    }
}
