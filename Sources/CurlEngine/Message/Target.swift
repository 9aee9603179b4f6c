import CShims
import RetryCore

/// Where a request is sent, and how: as it says, or as a redirect has changed it. Never changes.
public final class Target {
    /// Method and URL, in one block.
    let method: UnsafeMutablePointer<CChar>
    let url: UnsafeMutablePointer<CChar>
    /// The URL as it is shown, without user and password; nil: as it is.
    private let withoutUser: UnsafeMutablePointer<CChar>?
    /// Host and port, hashed; and whether the host has to be looked up.
    let parsedURL: shim_url
    /// The body of the request is sent along.
    let hasBody: Bool
    /// A body is sent, or Content-Length: 0 says that there is none.
    let saysLength: Bool
    /// Another scheme, host or port than the request was for: what is secret does not go there (T13).
    let isForeign: Bool

    /// Nil if out of memory. Takes copies.
    public static func make(
        method: UnsafePointer<CChar>, url: UnsafePointer<CChar>, parsedURL: shim_url, hasBody: Bool,
        isForeign: Bool = false
    ) -> Target? {
        guard let copies = shim_copy_strings(method, url) else { return nil }
        var withoutUser: UnsafeMutablePointer<CChar>?
        // What is shown may not have the password in it because there was no memory to leave it out.
        guard shim_url_without_user(url, &withoutUser) else {
            shim_free(copies)
            return nil
        }
        return Target(
            method: copies, url: copies + shim_length(method) + 1, withoutUser: withoutUser, parsedURL: parsedURL,
            hasBody: hasBody, isForeign: isForeign)
    }

    private init(
        method: UnsafeMutablePointer<CChar>, url: UnsafeMutablePointer<CChar>,
        withoutUser: UnsafeMutablePointer<CChar>?, parsedURL: shim_url, hasBody: Bool, isForeign: Bool
    ) {
        self.method = method
        self.url = url
        self.withoutUser = withoutUser
        self.parsedURL = parsedURL
        self.hasBody = hasBody
        self.isForeign = isForeign
        saysLength = hasBody || RequestChecks.expectsBody(method: method)
    }

    deinit {
        shim_free(method)
        shim_free(withoutUser)
    }

    /// For events, records and hooks, which have no secrets in them (T1).
    var shownURL: UnsafePointer<CChar> { UnsafePointer(withoutUser ?? url) }

    /// The URL names a user, perhaps with a password.
    var hasUser: Bool { withoutUser != nil }

    enum Followed {
        case to(Target)
        /// It is nowhere that we can go.
        case nowhere
        case outOfMemory

        fileprivate init(failure: Int32) {
            self = Int(failure) == SHIM_URL_NO_MEMORY ? .outOfMemory : .nowhere
        }
    }

    /// Where a response with that status and Location leads to.
    func followed(status: Int32, location: UnsafePointer<CChar>, from request: Target) -> Followed {
        var url: UnsafeMutablePointer<CChar>?
        defer { shim_free(url) }
        let result = shim_url_follow(self.url, location, &url)
        guard Int(result) == SHIM_URL_GOOD, let url else { return Followed(failure: result) }
        guard RequestChecks.isURL(url) else { return .nowhere }
        var parsedURL = shim_url()
        var problem: UnsafePointer<CChar>?
        let checked = shim_url_check(url, &parsedURL, &problem)
        guard Int(checked) == SHIM_URL_GOOD else { return Followed(failure: checked) }
        var isSame = false
        let compared = shim_url_same_origin(request.url, url, &isSame)
        guard Int(compared) == SHIM_URL_GOOD else { return Followed(failure: compared) }
        let becomesGet = Redirect.becomesGet(status, method: method)
        let target = Target.make(
            method: becomesGet ? StaticString("GET").cString : UnsafePointer(method), url: url, parsedURL: parsedURL,
            hasBody: hasBody && !becomesGet, isForeign: !isSame)
        return target.map { .to($0) } ?? .outOfMemory
    }
}
