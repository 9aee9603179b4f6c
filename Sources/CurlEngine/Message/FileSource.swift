import CShims
import RetryCore

/// A part of a regular file.
public final class FileSource: BodySource {
    private let path: UnsafeMutablePointer<CChar>?
    /// Below 0: not open.
    private var descriptor: Int32
    private let offset: Int64
    /// -1: up to the file's end.
    private let wantedLength: Int64
    public private(set) var length: Int64 = -1
    public private(set) var wasRead = false
    public private(set) var reason: FailureReason?
    private var position: Int64 = 0
    /// The file as the first attempt found it.
    private var firstState: shim_file_state?

    /// The file at a path, which is opened for each attempt. Nil if out of memory.
    public static func make(path: UnsafePointer<CChar>, offset: Int64, length: Int64) -> FileSource? {
        shim_copy_string(path).map { FileSource($0, descriptor: -1, offset: offset, length: length) }
    }

    /// The file behind a descriptor, which is taken over.
    public convenience init(descriptor: Int32, offset: Int64, length: Int64) {
        self.init(nil, descriptor: descriptor, offset: offset, length: length)
    }

    private init(_ path: UnsafeMutablePointer<CChar>?, descriptor: Int32, offset: Int64, length: Int64) {
        self.path = path
        self.descriptor = descriptor
        self.offset = offset
        wantedLength = length
    }

    deinit {
        shim_close(descriptor)
        shim_free(path)
    }

    public var canRewind: Bool { true }

    public func rewind() -> Bool {
        if descriptor < 0, let path {
            descriptor = shim_file_open(path)
            guard descriptor >= 0 else { return failed(.system(-descriptor)) }
        }
        var state = shim_file_state()
        guard shim_file_get_state(descriptor, &state) else { return failed(.system(Int32(SHIM_NOT_REGULAR))) }
        // Every attempt has to send the same bytes (R5).
        if var firstState, !shim_file_is_same_state(&firstState, &state) {
            return failed(.system(Int32(SHIM_FILE_CHANGED)))
        }
        firstState = state
        if let problem = Self.problem(offset: offset, length: wantedLength, inFileOf: state.length) {
            reason = problem
            return false
        }
        length = wantedLength < 0 ? state.length - offset : wantedLength
        position = 0
        wasRead = false
        return true
    }

    /// What is wrong with a part of a file of that length; nil: nothing. None of the numbers is below 0, but `length`
    /// may be -1.
    public static func problem(offset: Int64, length: Int64, inFileOf fileLength: Int64) -> FailureReason? {
        guard offset <= fileLength else {
            return FailureReason("body_source", "offset", .words("is beyond the end of the file"))
        }
        guard length <= fileLength - offset else {
            return FailureReason("body_source", "length", .words("goes beyond the end of the file"))
        }
        return nil
    }

    private func failed(_ why: FailureReason.Why) -> Bool {
        reason = FailureReason("body_source", path == nil ? "descriptor" : "path", why)
        return false
    }

    public func read(
        _ handle: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int
    ) -> BodyRead {
        wasRead = true
        let wanted = min(Int64(capacity), length - position)
        guard wanted > 0 else { return .bytes(0) }
        let count = shim_file_read(descriptor, buffer, Int(wanted), offset + position)
        // A file that has become shorter would leave the server waiting for the rest.
        guard count > 0 else {
            _ = failed(count < 0 ? .system(Int32(clamping: -count)) : .fileBecameShorter)
            return .failed
        }
        position += count
        return .bytes(Int(count))
    }

    public func close() {}

    public func rest() {
        guard path != nil else { return }
        shim_close(descriptor)
        descriptor = -1
    }
}
