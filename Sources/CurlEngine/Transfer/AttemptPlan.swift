import CShims
import RetryCore

/// What one sending is to be: where it goes, with which header lines, whether it carries the access token and needs a new
/// connection, and where the body of its response goes. Made once, by `Call.plan`, and handed down.
struct AttemptPlan: ~Copyable {
    let target: Target
    /// On a new connection.
    let isFresh: Bool
    /// Compressed responses are asked for. Not for a part of a file: a part of a stream cannot be unpacked.
    let isCompressed: Bool
    /// From 1.
    let attemptNumber: Int32
    /// What has to be known of it when the response comes.
    let request: Exchange.Request
    /// Header lines in place of the request's own.
    private let lines: UnsafeMutablePointer<shim_lines>?
    /// The access token's line, before the others; overwritten in the end (T1).
    private let authorization: UnsafeMutablePointer<shim_lines>?
    private let requestLines: UnsafeMutablePointer<shim_lines>

    /// Takes over both kinds of lines.
    fileprivate init(
        of call: Call, lines: UnsafeMutablePointer<shim_lines>?, authorization: UnsafeMutablePointer<shim_lines>?
    ) {
        let target = call.target
        self.lines = lines
        self.authorization = authorization
        requestLines = call.request.ownLines
        isFresh = call.isFresh
        attemptNumber = call.attemptNumber
        let asksForRest = call.download?.range != nil
        isCompressed = call.settings.isCompressed && !asksForRest && call.request.asksForWhole
        var request = Exchange.Request()
        request.hasBody = target.hasBody
        request.isHead = call.request.isHead
        request.hasSink = call.sink != nil
        request.sinkTakesErrors = call.sink?.takesErrors == true
        request.renewsToken = authorization != nil && call.auth?.source.isRenewable == true
        request.asksForRest = asksForRest
        request.mayMultiplex = call.settings.httpVersion.mayMultiplex(hasTLS: target.parsedURL.has_tls)
        request.negotiatesHTTP2 = call.settings.httpVersion == .http2 && target.parsedURL.has_tls
        self.request = request
        self.target = target
    }

    deinit {
        shim_header_free_secret(authorization)
        shim_header_free_lines(lines)
    }

    var headerLines: UnsafeMutablePointer<shim_lines> { authorization ?? lines ?? requestLines }

    /// It carries the call's access token (T13).
    var usesToken: Bool { authorization != nil }
}

enum PlanFailure: Error {
    case outOfMemory
    /// The caller's hook has failed.
    case hook
}

extension Call {
    /// Plans the next sending; runs the caller's hook.
    func plan() throws(PlanFailure) -> AttemptPlan {
        var lines: UnsafeMutablePointer<shim_lines>?
        var isDeclined = false
        if target !== request.target || download?.range != nil || settings.beforeAttempt != nil {
            let headers = try changedHeaders()
            if let beforeAttempt = settings.beforeAttempt {
                let sending = Sending(
                    to: target, attemptNumber: attemptNumber, userPointer: userPointer, headers: headers)
                beforeAttempt(sending)
                guard !sending.hasFailed else { throw .hook }
                isDeclined = sending.hasNoAuthorization
            }
            lines = request.lines(headers, to: target)
            guard lines != nil else { throw .outOfMemory }
        }
        guard let token = auth?.token, carriesToken(with: lines ?? request.ownLines, isDeclined: isDeclined) else {
            return AttemptPlan(of: self, lines: lines, authorization: nil)
        }
        guard
            let authorization = shim_header_add_secret(
                "Authorization: Bearer ", token.secret.start, lines ?? request.ownLines)
        else {
            shim_header_free_lines(lines)
            throw .outOfMemory
        }
        return AttemptPlan(of: self, lines: lines, authorization: authorization)
    }

    /// The plan of a sending that is over before it begins.
    func planOfNothing() -> AttemptPlan {
        AttemptPlan(of: self, lines: nil, authorization: nil)
    }

    private func carriesToken(with lines: UnsafeMutablePointer<shim_lines>, isDeclined: Bool) -> Bool {
        let carriage = engine.settings.transport.carriage(
            to: target.parsedURL, allowsInsecure: settings.allowsInsecureToken, isOwnOrigin: !target.isForeign,
            hasAuthorization: shim_header_has_authorization(lines), isDeclined: isDeclined)
        if case .token = carriage { return true }
        return false
    }

    /// The request's headers, without what may not go to another place, and with what asks for the rest of a download.
    private func changedHeaders() throws(PlanFailure) -> OwnedHeaders {
        guard let headers = OwnedHeaders.copy(of: request.headers) else { throw .outOfMemory }
        if target.isForeign {
            headers.remove { RequestChecks.isSecretHeader($0) || engine.settings.isSecret($0) }
        }
        if request.hasBody, !target.hasBody { headers.remove { RequestChecks.isContentHeader($0) } }
        if let range = download?.range {
            let isSet = range.withHeaders { range, ifRange in
                headers.set("Range", range) && headers.set("If-Range", ifRange)
            }
            guard isSet else { throw .outOfMemory }
        }
        return headers
    }
}
