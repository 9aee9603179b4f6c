import CShims
import RetryCore

/// multipart/form-data: parts in memory and files, put together by libcurl. It keeps a handle of libcurl's for the whole
/// call, so that every attempt has the same boundary, and with it the same bytes (R5): libcurl would let another handle
/// send the form, but only the one that has sent it before goes back to its first byte.
public final class MultipartSource: BodySource {
    /// Nil once the call has ended.
    private(set) var handle: OpaquePointer?
    private var memory: [UnsafeMutableRawPointer] = []
    private var failure: FailureReason?

    /// Takes over the handle, which its transport has set up.
    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        close()
        for bytes in memory { shim_free(bytes) }
    }

    /// On the loop: the last reference to a call may be dropped on any thread, at any time (W8).
    public func close() {
        failure = reason
        // Once the process exits, its memory goes with it (W8).
        if let handle, shim_libcurl_enter() {
            shim_easy_free(handle)
            shim_libcurl_leave()
        }
        handle = nil
    }

    /// The transport reads it.
    public var length: Int64 { -1 }
    public var wasRead: Bool { false }
    public var canRewind: Bool { true }
    public func read(
        _ handle: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int
    ) -> BodyRead { .failed }
    public func rest() {}

    /// The transport goes back to the first byte by itself. False: a part cannot be read, or is not what it was before.
    public func rewind() -> Bool { handle.map { shim_easy_check_parts($0) } ?? false }

    /// The part whose file cannot be read, and why.
    public var reason: FailureReason? {
        guard let handle else { return failure }
        let failure = shim_easy_part_failure(handle)
        guard failure.number >= 0 else { return nil }
        return FailureReason(
            "parts", index: Int64(failure.number), "path",
            failure.error == 0 ? .fileBecameShorter : .system(failure.error))
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
        var lines: UnsafeMutablePointer<shim_lines>?
        var isComplete = true
        headers.forEach { name, value in
            isComplete = isComplete && OwnedHeaders.add(name, value, to: &lines)
        }
        if part.path == nil, !isBorrowed, part.data_length > 0 {
            guard let copy = shim_copy_bytes(part.data, part.data_length) else {
                shim_lines_free(lines)
                return .outOfMemory
            }
            memory.append(copy)
            part.data = UnsafeRawPointer(copy)
        }
        part.headers = lines
        let added = add(&part)
        return added == .added && !isComplete ? .outOfMemory : added
    }

    /// The part's header lines become the handle's; its data must live as long as the handle.
    private func add(_ part: inout shim_part) -> Added {
        guard let handle else { return .outOfMemory }
        switch Int(shim_easy_add_part(handle, &part)) {
        case SHIM_PART_ADDED: return .added
        case SHIM_PART_UNREADABLE: return .unreadable
        default: return .outOfMemory
        }
    }
}
