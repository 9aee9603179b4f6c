import RetryCore

/// How a call follows redirects. All of it runs on the loop.
extension Engine {
    /// What to do with a response that may be a redirect.
    enum Followed {
        /// The response is not a redirect, or it redirects to nothing that can be requested.
        case nowhere
        /// The call has another target now.
        case redirected
        /// The redirect needs the body again, which cannot be sent again.
        case notReplayable
        case failed(LocalFailure)
    }

    /// Follows a redirect.
    func followed(_ call: Call) -> Followed {
        let target: Target
        switch call.redirectTarget {
        case .to(let followed): target = followed
        case .nowhere: return .nowhere
        case .outOfMemory: return .failed(.outOfMemory)
        }
        switch call.attempt.redirected(
            takesBody: target.hasBody, isReplayable: call.bodyCanBeSentAgain, maximum: call.settings.maxRedirects)
        {
        case .notReplayable: return .notReplayable
        case .tooMany: return .failed(.tooManyRedirects)
        case .followed: break
        }
        call.redirects.append(
            RedirectRecord(
                attemptNumber: call.attemptNumber, status: call.attempt.exchange.status, target: target))
        call.target = target
        return .redirected
    }
}
