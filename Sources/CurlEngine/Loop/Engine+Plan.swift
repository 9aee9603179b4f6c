import CShims
import RetryCore

enum PlanFailure: Error {
    case outOfMemory
    /// The caller's hook has failed.
    case hook
}

/// What the sendings of a call are to be.
extension Engine {
    /// Plans the next sending; runs the caller's hook.
    func plan(_ call: Call) throws(PlanFailure) -> AttemptPlan {
        var lines: UnsafeMutablePointer<shim_lines>?
        var isDeclined = false
        if call.target !== call.request.target || call.download?.range != nil || call.settings.beforeAttempt != nil {
            let headers = try changedHeaders(of: call)
            if let beforeAttempt = call.settings.beforeAttempt {
                let sending = Sending(
                    to: call.target, attemptNumber: call.attemptNumber, userPointer: call.userPointer,
                    headers: headers)
                beforeAttempt(sending)
                guard !sending.hasFailed else { throw .hook }
                isDeclined = sending.hasNoAuthorization
            }
            lines = call.request.lines(headers, to: call.target)
            guard lines != nil else { throw .outOfMemory }
        }
        guard let token = call.auth?.token,
            case .token(let isDirect) = carriage(call, with: lines ?? call.request.ownLines, isDeclined: isDeclined)
        else {
            return plan(call, lines, authorization: nil)
        }
        guard
            let authorization = shim_header_add_secret(
                "Authorization: Bearer ", token.secret.start, lines ?? call.request.ownLines)
        else {
            shim_header_free_lines(lines)
            throw .outOfMemory
        }
        return plan(call, lines, authorization: authorization, isDirect: isDirect)
    }

    /// The plan of a sending that is over before it begins.
    func planOfNothing(_ call: Call) -> AttemptPlan {
        plan(call, nil, authorization: nil)
    }

    private func plan(
        _ call: Call, _ lines: UnsafeMutablePointer<shim_lines>?, authorization: UnsafeMutablePointer<shim_lines>?,
        isDirect: Bool = false
    ) -> AttemptPlan {
        AttemptPlan(
            of: call, attemptNumber: call.attemptNumber, isFresh: call.isFresh,
            isDirect: isDirect || call.settings.hasSecretBody,
            renewsToken: authorization != nil && call.auth?.source.isRenewable == true,
            lines: lines, authorization: authorization)
    }

    private func carriage(
        _ call: Call, with lines: UnsafeMutablePointer<shim_lines>, isDeclined: Bool
    ) -> TokenCarriage {
        settings.transport.carriage(
            to: call.target.parsedURL, allowsInsecure: call.settings.allowsInsecureToken,
            isOwnOrigin: !call.target.isForeign, hasAuthorization: shim_header_has_authorization(lines),
            isDeclined: isDeclined)
    }

    /// The request's headers, without what may not go to another place, and with what asks for the rest of a download.
    private func changedHeaders(of call: Call) throws(PlanFailure) -> OwnedHeaders {
        guard let headers = OwnedHeaders.copy(of: call.request.headers) else { throw .outOfMemory }
        if call.target.isForeign {
            headers.remove { RequestChecks.isSecretHeader($0) || settings.isSecret($0) }
        }
        if call.request.hasBody, !call.target.hasBody { headers.remove { RequestChecks.isContentHeader($0) } }
        if let range = call.download?.range {
            let isSet = range.withHeaders { range, ifRange in
                headers.set("Range", range) && headers.set("If-Range", ifRange)
            }
            guard isSet else { throw .outOfMemory }
        }
        return headers
    }
}
