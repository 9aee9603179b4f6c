import CShims
import RetryCore

/// multipart/form-data: parts in memory and files, put together by the transport. It keeps a carrier for the whole
/// call, so that every attempt has the same boundary, and with it the same bytes (R5): libcurl would let another handle
/// send the form, but only the one that has sent it before goes back to its first byte.
public final class MultipartSource: BodySource {
    /// Nil once the call has ended.
    private(set) var carrier: (any FormCarrier)?
    private var memory: [UnsafeMutableRawPointer] = []
    private var failure: FailureReason?

    init(_ carrier: any FormCarrier) {
        self.carrier = carrier
    }

    deinit {
        close()
        for bytes in memory { shim_free(bytes) }
    }

    /// On the loop: the last reference to a call may be dropped on any thread, at any time (W8).
    public func close() {
        failure = reason
        carrier = nil
    }

    /// The transport reads it.
    public var length: Int64 { -1 }
    public var wasRead: Bool { false }
    public var canRewind: Bool { true }
    public func read(_ call: Call, _ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int) -> BodyRead { .failed }
    public func rest() {}

    /// The transport goes back to the first byte by itself.
    public func rewind() -> Bool { carrier?.checkParts() ?? false }

    /// The part whose file cannot be read, and why.
    public var reason: FailureReason? { carrier.map { $0.partFailure } ?? failure }

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
        let added = carrier?.add(part) ?? .outOfMemory
        return added == .added && !isComplete ? .outOfMemory : added
    }
}
