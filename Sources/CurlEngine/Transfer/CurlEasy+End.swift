import CShims
import RetryCore

/// How a transfer ended that libcurl ended with that code (B2). docs/curl-codes.md has the table.
func transportEnd(_ code: CURLcode, of transfer: Transfer, _ easy: CurlEasy?) -> TransportEnd {
    if code != CURLE_OK, transfer.isConnecting, let easy {
        let status = shim_easy_proxy_status(easy.handle)
        if status != 0, !(200..<300).contains(status) { return .refusedByProxy(status: status) }
    }
    switch code {
    case CURLE_OK: return .done
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
        return .failed(.resolve)
    case CURLE_OPERATION_TIMEDOUT:
        // The kernel gave up; or the loop was late, and libcurl looked at the clock before our timers did.
        transfer.call.time.read()
        let timeout = transfer.call.nextTimeout
        return timeout.left <= 0 ? .timedOut(timeout.cause) : .failed(.connect)
    case CURLE_PROXY: return .refusedByProxy(status: 0)
    case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_NO_CONNECTION_AVAILABLE:
        return .failed(.connect)
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
        CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED,
        CURLE_SSL_SHUTDOWN_FAILED:
        return .failed(.tls)
    case CURLE_SEND_ERROR:
        // With HTTP/2 it may be an acknowledgement that could not be sent, long after the request was.
        // From libcurl 8.0 on it may be a connection with HTTP/2 that was closed before the request could be written to it.
        let isMultiplexed = transfer.call.attempt.exchange.isMultiplexed
        return .writeFailed(
            hasSentAll: easy?.hasSentAll == true, mayBeDead: isMultiplexed && easy?.isOnReusedConnection == true)
    case CURLE_RECV_ERROR where easy.map({ shim_easy_has_long_trailer($0.handle) }) == true: return .lineTooLong
    case CURLE_RECV_ERROR, CURLE_GOT_NOTHING:
        return .failed(.receive)
    // libcurl does not want to send the request again if a connection with HTTP/2 was closed before a byte of the response
    // came.
    case CURLE_PARTIAL_FILE: return .lost(mayBeDead: easy?.isOnReusedConnection == true)
    // It wanted to, but could not rewind the body.
    case CURLE_SEND_FAIL_REWIND: return .deadConnection
    case CURLE_WRITE_ERROR: return .aborted
    case CURLE_OUT_OF_MEMORY:
        // libcurl says the same of a header line that is longer than it takes.
        return transfer.isReadingHead && easy?.hasSentHead == true ? .lineTooLong : .local(.outOfMemory)
    case CURLcode(UInt32(SHIM_CURLE_TOO_LARGE)):  // from 8.6 on; before anything was sent, of the request
        return easy?.hasSentHead == true ? .lineTooLong : .local(.setting)
    case CURLE_HTTP2 where easy?.hasLostConnection == true: return .lost(mayBeDead: easy?.isOnReusedConnection == true)
    // A head that begins with a continuation line, as libcurl before 8.2 reports it.
    case CURLE_BAD_FUNCTION_ARGUMENT where !transfer.isConnecting:
        return .failed(.protocol)
    case CURLE_READ_ERROR, CURLE_ABORTED_BY_CALLBACK:
        return .local(.source)
    case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
        CURLE_SSL_CRL_BADFILE, CURLE_FAILED_INIT, CURLE_UNKNOWN_OPTION, CURLE_BAD_FUNCTION_ARGUMENT,
        CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN:
        return .local(.setting)
    default:
        return .failed(.protocol)
    }
}

/// Whether that code of a setting that failed may mean that libcurl could not read the client's certificate or private key.
private func isOfClientKey(_ code: CURLcode) -> Bool {
    // From 8.16 on it has another code for the key.
    code == CURLE_SSL_CERTPROBLEM || code == CURLE_BAD_FUNCTION_ARGUMENT && shim_curl_is_at_least(0x081000)
}

extension Transfer {
    /// The request has been sent, and the head of its response is not whole.
    fileprivate var isReadingHead: Bool { !isConnecting && !call.attempt.isHeadWhole }
}

extension CurlEasy {
    /// The request's head, or a part of it, is on its way.
    fileprivate var hasSentHead: Bool { shim_easy_head_sent(handle) > 0 }

    /// The connection was there before.
    fileprivate var isOnReusedConnection: Bool { shim_easy_is_reused(handle) }

    /// What `CURLE_HTTP2` means from libcurl 8.0 on, if libcurl says nothing more of it: the connection was closed, or
    /// ended by GOAWAY. Of frames that are invalid it says more (from 8.13 on, of all that end the connection).
    fileprivate var hasLostConnection: Bool {
        shim_curl_is_at_least(0x080000) && !shim_easy_has_message(handle)
    }
}

/// What more there is to say of a setting that libcurl does not take.
func reasonOfSetting(_ code: CURLcode, _ settings: TransportSettings) -> FailureReason? {
    if isOfClientKey(code), let reason = settings.keyProblem { return reason }
    return FailureReason(nil, .text(shim_curl_code_text(Int32(code.rawValue))))
}
