import CShims
import RetryCore

/// Where the body of a response goes, if not to memory. Only the holder of the loop touches it, once its call has begun.
public class BodySink {
    public enum WriteResult {
        case taken
        /// Nothing was taken: the same is to be offered again.
        case pause
        case failed
    }

    /// Bytes of this delivery that it has.
    fileprivate(set) final var length: Int64 = 0
    /// Why it has failed, once it has.
    fileprivate(set) final var reason: FailureReason?

    /// The delivery has begun, so that another one takes a restart.
    var hasBegun: Bool { length > 0 }

    /// Bodies of other responses than a 2xx are for it, too.
    var takesErrors: Bool { false }

    /// A delivery that broke off can begin anew.
    var canRestart: Bool { true }

    /// A delivery begins, with its first byte. False: that cannot be.
    func start(_ call: Call, _ head: DeliveredHead) -> Bool { false }

    func write(_ call: Call, _ data: UnsafePointer<CChar>, _ count: Int) -> WriteResult { .failed }

    /// The body is whole. False: it could not be kept.
    func finish() -> Bool { true }

    /// The response that the call ended with is not for it, so that it forgets what it has of one before. False: it cannot.
    func discard() -> Bool { true }

    /// The call is over. What has not been finished goes.
    func close() {}
}

/// The head of a response whose body is about to be delivered, lent.
public struct DeliveredHead {
    public let status: Int32
    /// 10, 11, 20.
    public let httpVersion: Int32
    public let reasonPhrase: UnsafePointer<CChar>
    public let headers: HeaderList
}

/// A file, written beside its target and renamed when it is whole.
public final class FileSink: BodySink {
    private let path: UnsafeMutablePointer<CChar>
    private var file = shim_new_file(descriptor: -1, target: nil, temporary: nil)
    let isResumable: Bool

    /// Nil if there is no memory.
    public static func make(path: UnsafePointer<CChar>, isResumable: Bool) -> FileSink? {
        shim_copy_string(path).map { FileSink($0, isResumable: isResumable) }
    }

    private init(_ path: UnsafeMutablePointer<CChar>, isResumable: Bool) {
        self.path = path
        self.isResumable = isResumable
    }

    deinit {
        shim_new_file_drop(&file)
        shim_free(path)
    }

    /// An error as of shim_file.h if no file could be made there, as far as that is known beforehand; 0.
    public static func check(path: UnsafePointer<CChar>) -> Int32 { shim_new_file_check(path) }

    override func start(_ call: Call, _ head: DeliveredHead) -> Bool {
        length = 0
        return isDone(file.descriptor < 0 ? shim_new_file_open(&file, path) : shim_new_file_restart(&file))
    }

    override func write(_ call: Call, _ data: UnsafePointer<CChar>, _ count: Int) -> WriteResult {
        guard isDone(shim_new_file_write(&file, data, count)) else { return .failed }
        length += Int64(count)
        return .taken
    }

    override func finish() -> Bool { isDone(shim_new_file_finish(&file)) }

    private func isDone(_ error: Int32) -> Bool {
        guard error != 0 else { return true }
        reason = FailureReason("sink", "path", .system(error))
        return false
    }

    override func close() { shim_new_file_drop(&file) }
}

/// The caller's functions.
public final class CallbackSink: BodySink {
    private let onWrite: (Call, UnsafePointer<CChar>, Int) -> WriteResult
    private let onRestart: (() -> Bool)?
    private let onBegin: ((Call, DeliveredHead) -> Bool)?
    private let onClose: () -> Void
    override final var takesErrors: Bool { mayTakeErrors }
    private let mayTakeErrors: Bool
    /// The caller has been told of the delivery.
    private var isAnnounced = false

    /// `restart`: nil if a delivery that broke off cannot begin anew. `begin`: nil if its head is not asked for.
    public init(
        write: @escaping (Call, UnsafePointer<CChar>, Int) -> WriteResult, restart: (() -> Bool)?,
        begin: ((Call, DeliveredHead) -> Bool)?, close: @escaping () -> Void, takesErrors: Bool = false
    ) {
        mayTakeErrors = takesErrors
        onWrite = write
        onRestart = restart
        onBegin = begin
        onClose = close
    }

    override var hasBegun: Bool { length > 0 || isAnnounced }

    override var canRestart: Bool { onRestart != nil }

    override func start(_ call: Call, _ head: DeliveredHead) -> Bool {
        guard discard() else { return false }
        guard let onBegin else { return true }
        isAnnounced = true
        return onBegin(call, head) || hasFailed("begin")
    }

    override func discard() -> Bool {
        guard hasBegun else { return true }
        guard let onRestart, onRestart() else { return hasFailed("restart") }
        length = 0
        isAnnounced = false
        return true
    }

    override func write(_ call: Call, _ data: UnsafePointer<CChar>, _ count: Int) -> WriteResult {
        let result = onWrite(call, data, count)
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

    override func close() { onClose() }
}
