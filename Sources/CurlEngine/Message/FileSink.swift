import CShims
import RetryCore

/// A file, written beside its target and renamed when it is whole.
public final class FileSink: BodySink {
    private let path: UnsafeMutablePointer<CChar>
    private var file = shim_new_file(descriptor: -1, target: nil, temporary: nil)
    public let isResumable: Bool
    public private(set) var length: Int64 = 0
    public private(set) var reason: FailureReason?

    public var hasBegun: Bool { length > 0 }
    public var canRestart: Bool { true }
    public var isFile: Bool { true }
    public var takesErrors: Bool { false }

    /// Nil if out of memory.
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

    public func start(_ head: DeliveredHead) -> Bool {
        length = 0
        return isDone(file.descriptor < 0 ? shim_new_file_open(&file, path) : shim_new_file_restart(&file))
    }

    public func write(
        _ handle: UnsafeMutableRawPointer?, _ data: UnsafePointer<CChar>, _ count: Int
    ) -> BodyWrite {
        guard isDone(shim_new_file_write(&file, data, count)) else { return .failed }
        length += Int64(count)
        return .taken
    }

    public func finish() -> Bool { isDone(shim_new_file_finish(&file)) }

    public func discard() -> Bool { true }

    private func isDone(_ error: Int32) -> Bool {
        guard error != 0 else { return true }
        reason = FailureReason("sink", "path", .system(error))
        return false
    }

    public func close() { shim_new_file_drop(&file) }
}
