import CShims
import RetryCore

enum PlanFailure: Error {
    case outOfMemory
    /// The caller's hook has failed.
    case hook
}

extension Call {
    /// Plans the next sending; runs the caller's hook.
    func plan(_ engineSettings: EngineSettings) throws(PlanFailure) -> AttemptPlan {
        var lines: UnsafeMutablePointer<shim_lines>?
        var isDeclined = false
        if target !== request.target || download?.range != nil || settings.beforeAttempt != nil {
            let headers = try changedHeaders(engineSettings)
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
        guard let token = auth?.token,
            carriesToken(engineSettings, with: lines ?? request.ownLines, isDeclined: isDeclined)
        else {
            return plan(lines, authorization: nil)
        }
        guard
            let authorization = shim_header_add_secret(
                "Authorization: Bearer ", token.secret.start, lines ?? request.ownLines)
        else {
            shim_header_free_lines(lines)
            throw .outOfMemory
        }
        return plan(lines, authorization: authorization)
    }

    /// The plan of a sending that is over before it begins.
    func planOfNothing() -> AttemptPlan {
        plan(nil, authorization: nil)
    }

    private func plan(
        _ lines: UnsafeMutablePointer<shim_lines>?, authorization: UnsafeMutablePointer<shim_lines>?
    ) -> AttemptPlan {
        AttemptPlan(
            of: self, attemptNumber: attemptNumber, isFresh: isFresh, renewsToken: auth?.source.isRenewable == true,
            lines: lines, authorization: authorization)
    }

    private func carriesToken(
        _ engineSettings: EngineSettings, with lines: UnsafeMutablePointer<shim_lines>, isDeclined: Bool
    ) -> Bool {
        let carriage = engineSettings.transport.carriage(
            to: target.parsedURL, allowsInsecure: settings.allowsInsecureToken, isOwnOrigin: !target.isForeign,
            hasAuthorization: shim_header_has_authorization(lines), isDeclined: isDeclined)
        if case .token = carriage { return true }
        return false
    }

    /// The request's headers, without what may not go to another place, and with what asks for the rest of a download.
    private func changedHeaders(_ engineSettings: EngineSettings) throws(PlanFailure) -> OwnedHeaders {
        guard let headers = OwnedHeaders.copy(of: request.headers) else { throw .outOfMemory }
        if target.isForeign {
            headers.remove { RequestChecks.isSecretHeader($0) || engineSettings.isSecret($0) }
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
