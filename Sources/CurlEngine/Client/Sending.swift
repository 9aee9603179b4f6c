import CShims
import RetryCore

/// A request just before it is sent: its headers may still be changed, for this one sending.
public final class Sending {
    public let method: UnsafePointer<CChar>
    public let url: UnsafePointer<CChar>
    public let attemptNumber: Int32
    public let userPointer: UnsafeMutableRawPointer?
    public let headers: OwnedHeaders
    /// Set by the hook: there is to be no Authorization, the access token's neither.
    public var hasNoAuthorization = false
    /// Set by the hook: nothing is to be sent.
    public var hasFailed = false

    init(_ call: Call, headers: OwnedHeaders) {
        method = call.currentMethod
        url = call.currentURL
        attemptNumber = call.attemptNumber
        userPointer = call.userPointer
        self.headers = headers
    }
}

extension Call {
    enum HeaderLines {
        /// The request's own.
        case unchanged
        case changed(UnsafeMutablePointer<shim_lines>, withToken: Bool)
        case outOfMemory
        /// The hook has failed.
        case failed
    }

    /// The header lines of the next sending: the request's own, without what may not go to another place, with what asks
    /// for the rest of a download, and as the hook has changed them.
    func headerLines() -> HeaderLines {
        let range = download?.range
        guard target !== request.target || range != nil || settings.beforeAttempt != nil else { return .unchanged }
        guard let headers = OwnedHeaders.copy(of: request.headers) else { return .outOfMemory }
        if target.isForeign {
            headers.remove { RequestChecks.isSecretHeader($0) || engine.settings.isSecret($0) }
        }
        if request.hasBody, !target.hasBody { headers.remove { RequestChecks.isContentHeader($0) } }
        if let range {
            let isSet = range.withHeaders { range, ifRange in
                headers.set("Range", range) && headers.set("If-Range", ifRange)
            }
            guard isSet else { return .outOfMemory }
        }
        var withToken = true
        if let beforeAttempt = settings.beforeAttempt {
            let sending = Sending(self, headers: headers)
            beforeAttempt(sending)
            guard !sending.hasFailed else { return .failed }
            withToken = !sending.hasNoAuthorization
        }
        guard let lines = request.lines(headers, to: target) else { return .outOfMemory }
        return .changed(lines, withToken: withToken)
    }
}
