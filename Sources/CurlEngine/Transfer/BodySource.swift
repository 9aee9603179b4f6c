import CShims
import RetryCore

/// A body that is read while it is sent. Only the holder of the loop touches it, once its call has begun.
public class BodySource {
    public enum ReadResult {
        /// So many bytes; 0: that was all.
        case bytes(Int)
        /// Nothing at the moment.
        case pause
        case failed
    }

    /// Bytes; -1: not known.
    var length: Int64 { -1 }

    /// libcurl builds and reads it, and says what it is.
    var writesContentType: Bool { false }

    /// Something was read since the last rewind.
    fileprivate(set) final var wasRead = false

    /// Why it has failed, once it has.
    fileprivate(set) final var failure: FailureReason?
    public var reason: FailureReason? { failure }

    /// Whether it could be sent once more, from its first byte (R3).
    final var canBeSentAgain: Bool { !wasRead || canRewind }

    var canRewind: Bool { true }

    /// Goes to the first byte, to be read from there. False: that cannot be.
    func rewind() -> Bool { true }

    func read(_ call: Call, _ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int) -> ReadResult { .failed }

    /// An attempt is over: what is only needed while one is sent is let go.
    func rest() {}

    /// The call is over.
    func close() {}

    fileprivate static var becameShorter: FailureReason.Why {
        .words("the file has become shorter while it was sent")
    }
}

/// A part of a regular file.
public final class FileSource: BodySource {
    private let path: UnsafeMutablePointer<CChar>?
    /// Below 0: not open.
    private var descriptor: Int32
    private let offset: Int64
    /// -1: up to the file's end.
    private let wantedLength: Int64
    private var knownLength: Int64 = -1
    private var position: Int64 = 0
    /// The file as the first attempt found it.
    private var firstState: shim_file_state?

    /// The file at a path, which is opened for each attempt. Nil if there is no memory.
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

    override var length: Int64 { knownLength }

    override func rewind() -> Bool {
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
            failure = problem
            return false
        }
        knownLength = wantedLength < 0 ? state.length - offset : wantedLength
        position = 0
        wasRead = false
        return true
    }

    /// What is wrong with a part of a file of that length; nil: nothing. None of the numbers is below 0, but `length` may
    /// be -1.
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
        failure = FailureReason("body_source", path == nil ? "descriptor" : "path", why)
        return false
    }

    override func read(_ call: Call, _ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int) -> ReadResult {
        wasRead = true
        let wanted = min(Int64(capacity), knownLength - position)
        guard wanted > 0 else { return .bytes(0) }
        let count = shim_file_read(descriptor, buffer, Int(wanted), offset + position)
        // A file that has become shorter would leave the server waiting for the rest.
        guard count > 0 else {
            _ = failed(count < 0 ? .system(Int32(clamping: -count)) : BodySource.becameShorter)
            return .failed
        }
        position += count
        return .bytes(Int(count))
    }

    override func rest() {
        guard path != nil else { return }
        shim_close(descriptor)
        descriptor = -1
    }
}

/// A body that the caller's functions give.
public final class CallbackSource: BodySource {
    public typealias Read = (Call, UnsafeMutablePointer<CChar>, Int) -> ReadResult

    private let declaredLength: Int64
    private let onRead: Read
    private let onRewind: (() -> Bool)?
    private let onClose: () -> Void
    private var given: Int64 = 0

    /// `length`: -1 if it is not known. `rewind`: nil if the body can be sent only once.
    public init(length: Int64, read: @escaping Read, rewind: (() -> Bool)?, close: @escaping () -> Void) {
        declaredLength = length
        onRead = read
        onRewind = rewind
        onClose = close
    }

    override var length: Int64 { declaredLength }

    override var canRewind: Bool { onRewind != nil }

    override func rewind() -> Bool {
        guard wasRead else { return true }
        guard let onRewind, onRewind() else {
            failure = FailureReason("body_source", "rewind", .words("failed, or did not answer"))
            return false
        }
        wasRead = false
        given = 0
        return true
    }

    override func read(_ call: Call, _ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int) -> ReadResult {
        var wanted = capacity
        if declaredLength >= 0 { wanted = Int(min(Int64(capacity), declaredLength - given)) }
        guard wanted > 0 else { return .bytes(0) }
        let result = onRead(call, buffer, wanted)
        guard case .bytes(let count) = result else {
            if case .failed = result { _ = failed("failed, or did not answer") }
            return result
        }
        // What ends too early would leave the server waiting for the rest.
        if count == 0, declaredLength >= 0 { return failed("ended before there were `length` bytes") }
        guard count <= wanted else { return failed("has written more than was asked for") }
        if count > 0 { wasRead = true }
        given += Int64(count)
        return result
    }

    private func failed(_ why: StaticString) -> ReadResult {
        failure = FailureReason("body_source", "read", .words(why))
        return .failed
    }

    override func close() { onClose() }
}

/// multipart/form-data: parts in memory and files, put together by libcurl. It keeps a handle of libcurl's for the whole
/// call, so that every attempt has the same boundary, and with it the same bytes (R5): libcurl would let another handle
/// send the form, but only the one that has sent it before goes back to its first byte.
public final class MultipartSource: BodySource {
    /// Nil once the call has ended.
    private(set) var easy: OpaquePointer?
    private var memory: [UnsafeMutableRawPointer] = []

    public static func make(_ engine: Engine) throws(Engine.HandleFailure) -> MultipartSource {
        MultipartSource(try engine.makeEasy())
    }

    private init(_ easy: OpaquePointer) {
        self.easy = easy
    }

    deinit {
        close()
        for bytes in memory { shim_free(bytes) }
    }

    /// On the loop: the last reference to a call may go on any thread, at any time (W8).
    override func close() {
        failure = reason
        if let easy, shim_libcurl_enter() {
            shim_easy_free(easy)
            shim_libcurl_leave()
        }
        easy = nil
    }

    override var writesContentType: Bool { true }

    /// libcurl goes back to the first byte by itself.
    override func rewind() -> Bool { shim_easy_check_parts(easy) }

    /// The part whose file cannot be read, and why.
    public override var reason: FailureReason? {
        guard let easy else { return failure }
        let failure = shim_easy_part_failure(easy)
        guard failure.number >= 0 else { return nil }
        return FailureReason(
            "parts", index: Int64(failure.number), "path",
            failure.error == 0 ? Self.becameShorter : .system(failure.error))
    }

    public enum Added {
        case added
        case outOfMemory
        /// There is not a regular file at the part's path, or it cannot be read.
        case unreadable
    }

    /// `headers` have been checked.
    public func add(_ part: shim_part, headers: HeaderList, isBorrowed: Bool) -> Added {
        var part = part
        var lines: UnsafeMutablePointer<curl_slist>?
        var isComplete = true
        headers.forEach { name, value in
            isComplete = isComplete && OwnedHeaders.add(name, value, to: &lines)
        }
        if part.path == nil, !isBorrowed, part.data_length > 0 {
            guard let copy = shim_copy_bytes(part.data, part.data_length) else {
                curl_slist_free_all(lines)
                return .outOfMemory
            }
            memory.append(copy)
            part.data = UnsafeRawPointer(copy)
        }
        part.headers = lines
        switch Int(shim_easy_add_part(easy, &part)) {
        case SHIM_PART_ADDED: return isComplete ? .added : .outOfMemory
        case SHIM_PART_UNREADABLE: return .unreadable
        default: return .outOfMemory
        }
    }
}
