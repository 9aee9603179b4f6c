import CShims
import RetryCore

/// Where a request is sent, and how: as it says, or as a redirect has changed it. Never changes.
final class Target {
    let method: UnsafeMutablePointer<CChar>
    let url: UnsafeMutablePointer<CChar>
    /// The URL as it is shown, without user and password; nil: as it is.
    private let withoutUser: UnsafeMutablePointer<CChar>?
    /// Host and port, hashed; and whether the host has to be looked up.
    let place: shim_url
    /// The body of the request is sent along.
    let hasBody: Bool
    /// Another scheme, host or port than the request was for: what is secret does not go there (T13).
    let isForeign: Bool

    /// Nil if there is no memory. Takes copies.
    init?(
        method: UnsafePointer<CChar>, url: UnsafePointer<CChar>, place: shim_url, hasBody: Bool, isForeign: Bool
    ) {
        guard let methodCopy = shim_copy_string(method) else { return nil }
        guard let urlCopy = shim_copy_string(url) else {
            shim_free(methodCopy)
            return nil
        }
        self.method = methodCopy
        self.url = urlCopy
        withoutUser = shim_url_without_user(url)
        self.place = place
        self.hasBody = hasBody
        self.isForeign = isForeign
    }

    deinit {
        shim_free(method)
        shim_free(url)
        shim_free(withoutUser)
    }

    /// A body is sent, or that there is none is said by a length of 0.
    var saysLength: Bool { hasBody || RequestChecks.expectsBody(method: method) }

    /// For events, records and hooks, which have no secrets in them (T1).
    var shownURL: UnsafePointer<CChar> { UnsafePointer(withoutUser ?? url) }

    /// Where a response with that status and Location leads to. Nil: nowhere that we can go, or there is no memory.
    func followed(
        status: Int32, location: UnsafePointer<CChar>, from request: Target
    ) -> Target? {
        guard let url = shim_url_follow(url, location) else { return nil }
        defer { shim_free(url) }
        var place = shim_url()
        guard RequestChecks.isURL(url), shim_url_check(url, &place) == nil else { return nil }
        let becomesGet = Redirect.becomesGet(status, method: method)
        return Target(
            method: becomesGet ? StaticString("GET").cString : UnsafePointer(method), url: url, place: place,
            hasBody: hasBody && !becomesGet, isForeign: !shim_url_same_origin(request.url, url))
    }
}
