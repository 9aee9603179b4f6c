import RetryCore

/// Attempts that wait for their turn: first come, first served among those of one host.
///
/// So many run at once, and the others wait here, where it costs nothing. A look-up takes a thread of libcurl's for as
/// long as its name server likes: only so many are under way at once, for one host and in all, and those that wait for
/// one do not hold up those that need none.
struct StartQueue {
    private static let maximumLookups = 64
    private static let maximumLookupsForOneHost = 8

    /// Attempts to hosts that need no look-up.
    private var ready = Line()
    /// Attempts to hosts that may need one, by host.
    private var hosts: [Host] = []
    private var running = 0
    private var lookups = 0

    private struct Host {
        let origin: UInt64
        var line = Line()
        var lookups = 0
    }

    mutating func append(_ call: Call) {
        guard call.request.needsLookup else { return ready.append(call) }
        hosts[host(of: call)].line.append(call)
    }

    /// The next attempt that may begin. It counts as running until `ended`.
    mutating func next(_ settings: EngineSettings) -> Call? {
        guard running < settings.maxTransfers else { return nil }
        if let call = ready.takeFirst() {
            running += 1
            return call
        }
        guard lookups < Self.maximumLookups else { return nil }
        for index in hosts.indices where hosts[index].lookups < Self.maximumLookupsForOneHost {
            if let call = hosts[index].line.takeFirst() {
                hosts[index].lookups += 1
                lookups += 1
                running += 1
                return call
            }
        }
        return nil
    }

    /// The attempt's look-up is over, or there was none.
    mutating func opened(_ call: Call) {
        guard call.request.needsLookup else { return }
        let index = host(of: call)
        hosts[index].lookups -= 1
        lookups -= 1
        if hosts[index].lookups == 0, hosts[index].line.isEmpty {
            hosts.swapAt(index, hosts.count - 1)
            hosts.removeLast()
        }
    }

    mutating func ended() {
        running -= 1
    }

    /// The call will not begin any more.
    mutating func remove(_ call: Call) {
        guard call.request.needsLookup else { return ready.remove(call) }
        hosts[host(of: call)].line.remove(call)
    }

    private mutating func host(of call: Call) -> Int {
        for index in hosts.indices where hosts[index].origin == call.request.origin { return index }
        hosts.append(Host(origin: call.request.origin))
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

/// What a client's options say of its engine.
public struct EngineSettings {
    public var userAgent: UnsafeMutablePointer<CChar>?
    public var proxy: UnsafeMutablePointer<CChar>?
    public var caFile: UnsafeMutablePointer<CChar>?
    /// Attempts under way at once; the others wait.
    public var maxTransfers = 512
    /// Runs on the loop, and must not block.
    public var onEvent: ((EngineEvent) -> Void)?
    /// Lets go of what C has of a call, where there is nobody to give it to.
    public var dropHandle: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

    public init() {}
}
