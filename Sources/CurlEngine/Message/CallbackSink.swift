import RetryCore

/// The caller's functions.
public final class CallbackSink: BodySink {
    private let onWrite: (UnsafeMutableRawPointer?, UnsafePointer<CChar>, Int) -> BodyWrite
    private let onRestart: (() -> Bool)?
    private let onBegin: ((DeliveredHead) -> Bool)?
    private let onClose: () -> Void
    public let takesErrors: Bool
    public private(set) var length: Int64 = 0
    public private(set) var reason: FailureReason?
    /// The caller has got the head of the delivery.
    private var isAnnounced = false

    /// `restart`: nil if a delivery that broke off cannot start over. `begin`: nil if its head is not asked for.
    public init(
        write: @escaping (UnsafeMutableRawPointer?, UnsafePointer<CChar>, Int) -> BodyWrite, restart: (() -> Bool)?,
        begin: ((DeliveredHead) -> Bool)?, close: @escaping () -> Void, takesErrors: Bool = false
    ) {
        self.takesErrors = takesErrors
        onWrite = write
        onRestart = restart
        onBegin = begin
        onClose = close
    }

    public var hasBegun: Bool { length > 0 || isAnnounced }

    public var canRestart: Bool { onRestart != nil }
    public var isFile: Bool { false }
    public var isResumable: Bool { false }

    public func start(_ head: DeliveredHead) -> Bool {
        guard discard() else { return false }
        guard let onBegin else { return true }
        isAnnounced = true
        return onBegin(head) || hasFailed("begin")
    }

    public func discard() -> Bool {
        guard hasBegun else { return true }
        guard let onRestart, onRestart() else { return hasFailed("restart") }
        length = 0
        isAnnounced = false
        return true
    }

    public func write(
        _ handle: UnsafeMutableRawPointer?, _ data: UnsafePointer<CChar>, _ count: Int
    ) -> BodyWrite {
        let result = onWrite(handle, data, count)
        switch result {
        case .taken: length += Int64(count)
        case .pause: break
        case .failed: _ = hasFailed("write")
        }
        return result
    }

    /// False.
    private func hasFailed(_ callback: StaticString) -> Bool {
        reason = FailureReason("sink", callback, .words("failed, or did not answer"))
        return false
    }

    public func finish() -> Bool { true }

    public func close() { onClose() }
}
