import RetryCore

/// Attempts that wait for their turn, first come first served, so that neither connections nor look-ups pile up.
///
/// A look-up may take as long as its name server likes, and takes a thread of libcurl's: only so many run at once, for
/// one host and in all. An origin whose address is known, or which is waiting on nothing, is not held up by others.
struct StartQueue {
    private var waiting: [(call: Call, fresh: Bool)] = []
    private var first = 0
    private(set) var running = 0

    mutating func append(_ call: Call, fresh: Bool) {
        waiting.append((call, fresh))
    }

    /// The next attempt that may begin.
    mutating func next(_ settings: EngineSettings) -> (call: Call, fresh: Bool)? {
        guard first < waiting.count, running < settings.maxTransfers else { return nil }
        let next = waiting[first]
        first += 1
        if first == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            first = 0
        }
        return next
    }

    mutating func begun(_ call: Call) {
        running += 1
    }

    mutating func ended(_ call: Call) {
        running -= 1
    }

    /// The call will not begin any more.
    mutating func remove(_ call: Call) {
        guard call.isQueued else { return }
        call.isQueued = false
        guard let index = waiting[first...].firstIndex(where: { $0.call === call }) else { return }
        waiting.remove(at: index)
    }
}

/// What a client's options say of its engine.
public struct EngineSettings {
    public var userAgent: UnsafeMutablePointer<CChar>?
    public var proxy: UnsafeMutablePointer<CChar>?
    public var caFile: UnsafeMutablePointer<CChar>?
    /// Attempts under way at once; the others wait.
    public var maxTransfers = 512

    /// Lets go of what C has of a call, where there is nobody to give it to.
    public var dropHandle: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

    public init() {}
}
