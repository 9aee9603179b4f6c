import CShims
import RetryCore

/// What a code of libcurl means for the call (B2). docs/curl-codes.md has the table.
func attemptResult(_ code: CURLcode, of transfer: Transfer) -> CallMachine.AttemptResult {
    if let failure = transfer.localFailure { return .local(failure) }
    if transfer.problem != nil { return .notSent }
    if transfer.isBodyCutOff || transfer.isComplete { return .response }
    if transfer.isWrongRange || transfer.isMalformed { return .exception(.protocol) }
    // The server may have ended the exchange since it needs no more of the request.
    if code != CURLE_OK, transfer.isAnswered { return attemptResult(CURLE_OK, of: transfer) }
    // The refused stream has done nothing. The request goes over HTTP/1.1 at once, whatever its method.
    if transfer.isHTTP1Needed, transfer.status == 0 {
        return transfer.call.bodyCanBeSentAgain && !transfer.call.wasRefused ? .refused : .exception(.protocol)
    }
    if transfer.wasVetoed || isDeadConnection(code, of: transfer) {
        return .vetoed(isSafe: transfer.call.mayBeSentAgain)
    }
    if code != CURLE_OK, transfer.sendings == 0, let easy = transfer.easy {
        let status = shim_easy_proxy_status(easy)
        if status != 0, !(200..<300).contains(status) {
            transfer.wasRefusedByProxy(status: status)
            return .exception(.connect)
        }
    }
    switch code {
    case CURLE_OK:
        // libcurl takes the end of the connection for the end of the head.
        if transfer.isReadingHead { return .exception(transfer.status > 0 ? .receive : .protocol) }
        if transfer.isAnswerShort || transfer.isCodingShort { return .exception(.receive) }
        switch transfer.downloadEnd {
        case .whole: return .response
        case .part: return .part
        case .wrongLength: return .exception(.receive)
        }
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
        return .exception(.resolve)
    case CURLE_OPERATION_TIMEDOUT:
        // The kernel gave up; or the loop was late, and libcurl looked at the clock before our timers did.
        let timeout = transfer.call.engine.nextTimeout(transfer.call, transfer)
        return timeout.left <= 0 ? transfer.timedOut(timeout.cause) : .exception(.connect)
    case CURLE_PROXY:
        transfer.wasRefusedByProxy(status: 0)
        return .exception(.connect)
    case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_NO_CONNECTION_AVAILABLE:
        return .exception(.connect)
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
        CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED, CURLE_SSL_SHUTDOWN_FAILED:
        return .exception(.tls)
    case CURLE_SEND_ERROR:
        // With HTTP/2 it may be an acknowledgement that could not be sent, long after the request was.
        return .exception(transfer.hasSentAll ? .receive : .send)
    case CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
        return .exception(.receive)
    case CURLE_OUT_OF_MEMORY:
        // libcurl says the same of a header line that is longer than it takes.
        return .local(transfer.sendings > 0 && transfer.isReadingHead ? .responseTooLarge : .outOfMemory)
    case CURLcode(UInt32(SHIM_CURLE_TOO_LARGE)) where transfer.isReadingHead:  // from 8.6 on
        return .local(.responseTooLarge)
    case CURLE_HTTP2 where transfer.hasLostConnection:
        return .exception(.receive)
    // A head that begins with a line that goes on with one before it, as libcurl before 8.2 sees it.
    case CURLE_BAD_FUNCTION_ARGUMENT where transfer.sendings > 0:
        return .exception(.protocol)
    case CURLE_READ_ERROR, CURLE_ABORTED_BY_CALLBACK:
        return .local(.source)
    case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
        CURLE_SSL_CRL_BADFILE, CURLE_FAILED_INIT, CURLE_UNKNOWN_OPTION, CURLE_BAD_FUNCTION_ARGUMENT,
        CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN:
        return .local(.setting)
    default:
        return .exception(.protocol)
    }
}

/// What B13 is about, and libcurl does not ask whether it may send the request again.
private func isDeadConnection(_ code: CURLcode, of transfer: Transfer) -> Bool {
    switch code {
    // It wanted to, but could not rewind the body.
    case CURLE_SEND_FAIL_REWIND: return true
    // It does not want to if a connection with HTTP/2 was closed before a byte of the response came.
    case CURLE_PARTIAL_FILE: return transfer.isOnDeadConnection
    // From 8.0 on it has other codes for that: the connection was closed, or the request could not be written to it.
    case CURLE_HTTP2: return transfer.hasLostConnection && transfer.isOnDeadConnection
    case CURLE_SEND_ERROR: return transfer.isMultiplexed && transfer.isOnDeadConnection
    default: return false
    }
}

extension Transfer {
    /// A connection that was there before has ended, and nothing of the response had come.
    fileprivate var isOnDeadConnection: Bool { status == 0 && isOnReusedConnection }

    /// What `CURLE_HTTP2` means from libcurl 8.0 on, if libcurl says nothing more of it: the connection was closed, or
    /// ended by GOAWAY. Of frames that are invalid it says more (from 8.13 on, of all that end the connection).
    fileprivate var hasLostConnection: Bool {
        guard let easy else { return false }
        return shim_curl_is_at_least(0x080000) && !shim_easy_has_message(easy)
    }
}
