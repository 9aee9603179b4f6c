import RetryCore

/// Where the body of a response goes, if not to memory. Only the holder of the loop touches it, once its call has
/// begun.
public protocol BodySink: AnyObject {
    /// Bytes of this delivery that it has.
    var length: Int64 { get }

    /// Why it has failed, once it has.
    var reason: FailureReason? { get }

    /// The delivery has begun, so that another one takes a restart.
    var hasBegun: Bool { get }

    /// Bodies of other responses than a 2xx are for it, too.
    var takesErrors: Bool { get }

    /// A delivery that broke off can start over.
    var canRestart: Bool { get }

    /// It is a file, which holds all of what was asked for, or nothing.
    var isFile: Bool { get }

    /// A delivery that broke off may be continued.
    var isResumable: Bool { get }

    /// A delivery begins, with its first byte. False: that cannot be.
    func start(_ head: DeliveredHead) -> Bool

    /// `handle`: the C handle of the call, to be lent to a callback.
    func write(_ handle: UnsafeMutableRawPointer?, _ data: UnsafePointer<CChar>, _ count: Int) -> BodyWrite

    /// The body is whole. False: it could not be kept.
    func finish() -> Bool

    /// The response that the call ended with is not for it, so that it forgets what it has of one before. False: it
    /// cannot.
    func discard() -> Bool

    /// The call is over. What has not been finished goes.
    func close()
}

public enum BodyWrite {
    case taken
    /// Nothing was taken: the same is to be offered again.
    case pause
    case failed
}

/// The head of a response whose body is about to be delivered, lent.
public struct DeliveredHead {
    /// The C handle of the call.
    public let handle: UnsafeMutableRawPointer?
    /// Where it came from, after redirects; without user and password.
    public let url: UnsafePointer<CChar>
    public let status: Int32
    /// 10, 11, 20.
    public let httpVersion: Int32
    public let reasonPhrase: UnsafePointer<CChar>
    public let headers: HeaderList
}
