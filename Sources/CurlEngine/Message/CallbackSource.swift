import RetryCore

/// A body that the caller's functions give.
public final class CallbackSource: BodySource {
    public typealias Read = (UnsafeMutableRawPointer?, UnsafeMutablePointer<CChar>, Int) -> BodyRead

    public let length: Int64
    public private(set) var wasRead = false
    public private(set) var reason: FailureReason?
    private let onRead: Read
    private let onRewind: (() -> Bool)?
    private let onClose: () -> Void
    private var given: Int64 = 0

    /// `length`: -1 if it is not known. `rewind`: nil if the body can be sent only once.
    public init(length: Int64, read: @escaping Read, rewind: (() -> Bool)?, close: @escaping () -> Void) {
        self.length = length
        onRead = read
        onRewind = rewind
        onClose = close
    }

    public var canRewind: Bool { onRewind != nil }

    public func rewind() -> Bool {
        guard wasRead else { return true }
        guard let onRewind, onRewind() else {
            reason = FailureReason("body_source", "rewind", .words("failed, or did not answer"))
            return false
        }
        wasRead = false
        given = 0
        return true
    }

    public func read(
        _ handle: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int
    ) -> BodyRead {
        var wanted = capacity
        if length >= 0 { wanted = Int(min(Int64(capacity), length - given)) }
        guard wanted > 0 else { return .bytes(0) }
        let result = onRead(handle, buffer, wanted)
        guard case .bytes(let count) = result else {
            if case .failed = result { _ = failed("failed, or did not answer") }
            return result
        }
        // What ends too early would leave the server waiting for the rest.
        if count == 0, length >= 0 { return failed("ended before there were `length` bytes") }
        guard count <= wanted else { return failed("has written more than was asked for") }
        if count > 0 { wasRead = true }
        given += Int64(count)
        return result
    }

    private func failed(_ why: StaticString) -> BodyRead {
        reason = FailureReason("body_source", "read", .words(why))
        return .failed
    }

    public func rest() {}

    public func close() { onClose() }
}
