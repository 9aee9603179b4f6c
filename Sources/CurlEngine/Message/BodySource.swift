import RetryCore

/// A body that is read while it is sent. Only the holder of the loop touches it, once its call has begun.
public protocol BodySource: AnyObject {
    /// Bytes; -1: not known.
    var length: Int64 { get }

    /// Something was read since the last rewind.
    var wasRead: Bool { get }

    /// It can go back to its first byte.
    var canRewind: Bool { get }

    /// Why it has failed, once it has.
    var reason: FailureReason? { get }

    /// Goes to the first byte, to be read from there. False: that cannot be.
    func rewind() -> Bool

    /// `handle`: the C handle of the call, to be lent to a callback.
    func read(_ handle: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int) -> BodyRead

    /// An attempt is over: what is only needed while one is sent is let go.
    func rest()

    /// The call is over.
    func close()
}

public enum BodyRead {
    /// The number of bytes; 0: that was all.
    case bytes(Int)
    /// Nothing at the moment.
    case pause
    case failed
}

extension BodySource {
    /// Whether it could be sent once more, from its first byte (R3).
    var canBeSentAgain: Bool { !wasRead || canRewind }
}

extension FailureReason.Why {
    static var fileBecameShorter: FailureReason.Why { .words("the file has become shorter while it was sent") }
}
