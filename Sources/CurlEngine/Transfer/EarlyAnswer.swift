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
        guard isAnsweredEarly, !isHeld, isHeadWhole, let easy else { return false }
        return !mayHaveBody || framing.length == shim_easy_body_received(easy)
    }

    /// It has ended before its length.
    var isAnswerShort: Bool {
        guard isAnsweredEarly, isMultiplexed, isHeadWhole, let easy else { return false }
        guard (200..<300).contains(status), mayHaveBody, let length = framing.length else { return false }
        return shim_easy_body_received(easy) < length
    }
}
