import CShims
import RetryCore

/// What is known of an attempt, once it has ended.
public struct AttemptRecord {
    public var status: Int32
    /// The exception's cause; none for a response.
    public var cause: NetworkExceptionCause
    /// What was decided; nil if the call ended before anybody was asked.
    public var decision: Decision?
    /// Nanoseconds since the call began.
    public var startedAt: Int64
    public var endedAt: Int64
    /// Times that the request was sent again at once on a new connection, since the old one was dead (B13).
    public var reconnects: Int32
    /// libcurl's own code; 0 if all was well.
    public var curlCode: Int32
    public var number: Int32
    /// 0 if the attempt ended in a response.
    public var exceptionNumber: Int32
    public var redirects: Int32
    /// Over all of its sendings (B12).
    public var requestSent: RequestSent
    /// Bytes that a resumed download had before.
    public var resumedFrom: Int64
    /// How its last sending went.
    public var report: shim_report
}

extension shim_report {
    /// Nothing was sent.
    static var none: shim_report {
        shim_report(
            http_version: 0, sent: 0, received: 0, lookup: -1, connect: -1, tls: -1, first_byte: -1, proxy_status: 0,
            tls_problem: nil, is_proxy_tls: false, has_bad_framing: false, system_error: 0)
    }
}

/// A redirect that was followed.
public struct RedirectRecord {
    public var attemptNumber: Int32
    public var status: Int32
    let target: Target

    public var url: UnsafePointer<CChar> { target.shownURL }
}

/// A request that was sent again at once on a new connection, since the old one was dead (B13).
public struct ReconnectRecord {
    public var attemptNumber: Int32
    public var cause: NetworkExceptionCause
    /// Nanoseconds since the call began.
    public var at: Int64
}
