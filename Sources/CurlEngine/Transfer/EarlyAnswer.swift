import CShims
import RetryCore

/// A server may answer before it has read the request, and need not read the rest (RFC 9113, 8.1; RFC 9112, 9.3).
extension Transfer {
    /// When libcurl 7.88 has got the bytes that Content-Length says, it reads nothing more from a connection of HTTP/2, not
    /// even that it may go on sending. So the length is looked at here. (From 300 on it stops sending, too.)
    func letItGoOn() {
        if isMultiplexed, status < 300, let easy { shim_easy_ignore_length(easy) }
    }

    /// libcurl 7.88 does not see it when a stream of HTTP/2 ends with the last byte that it sends on it: it has to be told to
    /// look.
    var mayHaveEnded: Bool { isAnsweredEarly && isMultiplexed && !isHeld }

    /// The server has answered in full, as far as it said how long its answer is.
    var isAnswered: Bool {
        guard isAnsweredEarly, !isHeld, call.keepHead(self), let easy else { return false }
        if status == 204 || status == 304 { return true }
        return call.received.head.list.contentLength == shim_easy_body_received(easy)
    }

    /// It has ended before its length.
    var isAnswerShort: Bool {
        guard isAnsweredEarly, isMultiplexed, call.keepHead(self), let easy else { return false }
        guard (200..<300).contains(status), status != 204, let length = call.received.head.list.contentLength else {
            return false
        }
        return shim_easy_body_received(easy) < length
    }
}

extension HeaderList {
    /// In bytes; nil if it is not said, or cannot be read.
    var contentLength: Int64? {
        guard let value = firstValue(of: "Content-Length") else { return nil }
        var text = ByteCursor(cString: value)
        return text.takeInteger()
    }
}
