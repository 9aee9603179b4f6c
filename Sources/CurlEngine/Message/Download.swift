import CShims
import RetryCore

/// A download into a file that continues where it broke off (beyond the source; `is_resumable`).
///
/// What has come is kept if the response was a 200 with a strong ETag: then the next attempt asks for the rest with
/// Range, and with If-Range, so that a server whose file has changed sends all of it.
struct Download {
    /// The strong ETag of what is in the file; nil: the download cannot continue.
    private var etag: UnsafeMutablePointer<CChar>?
    /// Bytes that the next attempt asks to leave out, or the present one asked to; 0: none.
    private(set) var offset: Int64 = 0
    /// How long the whole file is; nil: the server has not said.
    private var wholeLength: Int64?
    /// Where the part that comes at present ends, as its head says; nil: it is not a part.
    private var partEnd: Int64?

    struct Range {
        let offset: Int64
        let etag: UnsafePointer<CChar>

        /// Lends the values of Range and If-Range.
        func withHeaders(_ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Bool) -> Bool {
            var text: [32 of CChar] = .init(repeating: 0)
            var span = text.mutableSpan
            return span.withUnsafeMutableBufferPointer { buffer in
                guard let start = buffer.baseAddress else { return false }
                shim_write_range(start, 32, offset)
                return body(UnsafePointer(start), etag)
            }
        }
    }

    var range: Range? {
        guard offset > 0, let etag else { return nil }
        return Range(offset: offset, etag: UnsafePointer(etag))
    }

    enum Answer {
        /// The body begins at the beginning.
        case whole
        /// It is the rest that was asked for.
        case rest
        /// It is neither.
        case wrong
    }

    /// Looks at the head of a 2xx response, whose body has `length` bytes, if its head says so.
    mutating func received(status: Int32, _ headers: HeaderList, length: Int64?) -> Answer {
        partEnd = nil
        let isCoded = headers.firstValue(of: "Content-Encoding") != nil
        if range != nil, status == 206, !isCoded {
            guard let value = headers.firstValue(of: "Content-Range"), let part = ContentRange(value),
                part.start == offset
            else { return .wrong }
            // It may be shorter than what was asked for (W7), but then it must be known where the file ends.
            guard let length = wholeLength ?? part.wholeLength, part.end <= length,
                (part.wholeLength ?? length) == length
            else { return .wrong }
            // A server that does not know If-Range, and whose file has changed.
            if let etag, let other = headers.firstValue(of: "ETag"), !shim_is_equal(etag, other) { return .wrong }
            wholeLength = length
            partEnd = part.end
            return .rest
        }
        guard status != 206 else { return .wrong }  // No part was requested.
        forget()
        if status == 200, !isCoded,
            let value = headers.firstValue(of: "ETag"), value.pointee == CChar(bitPattern: UInt8(ascii: "\""))
        {
            etag = shim_copy_string(value)
            wholeLength = length
        }
        return .whole
    }

    /// What a body that has ended has brought, with this number of bytes in the file.
    func end(at length: Int64) -> AttemptMachine.DownloadEnd {
        guard range != nil, let partEnd else { return .whole }
        guard length == partEnd else { return .wrongLength }
        return length == wholeLength ? .whole : .part
    }

    /// An attempt ended with this number of bytes in the file, which is not complete. If there is no rest to ask for,
    /// or more came than was announced, it starts over.
    mutating func ended(at length: Int64) {
        offset = etag == nil || length >= wholeLength ?? .max || length > partEnd ?? .max ? 0 : length
    }

    /// The file starts over.
    mutating func forget() {
        shim_free(etag)
        etag = nil
        offset = 0
        wholeLength = nil
        partEnd = nil
    }
}

/// The value of Content-Range: `bytes 100-199/200`, or `bytes 100-199/*`.
struct ContentRange {
    let start: Int64
    /// Behind its last byte.
    let end: Int64
    /// nil: the server does not say.
    let wholeLength: Int64?

    /// nil if it cannot be read.
    init?(_ value: UnsafePointer<CChar>) {
        var text = ByteCursor(cString: value)
        guard text.take("bytes "), let start = text.takeInteger(), text.take(UInt8(ascii: "-")),
            let last = text.takeInteger(), last >= start, last < .max, text.take(UInt8(ascii: "/"))
        else { return nil }
        self.start = start
        end = last + 1
        guard !text.take(UInt8(ascii: "*")) else {
            wholeLength = nil
            return
        }
        guard let length = text.takeInteger() else { return nil }
        wholeLength = length
    }
}
