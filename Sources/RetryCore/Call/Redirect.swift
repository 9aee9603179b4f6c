/// How a redirect changes a request (RFC 9110, 15.4), as in browsers and libcurl.
public enum Redirect {
    /// Whether a response with this status is a redirect if it has a Location.
    public static func isRedirect(_ status: Int32) -> Bool {
        status == 301 || status == 302 || status == 303 || status == 307 || status == 308
    }

    /// Whether the request becomes a GET without a body.
    ///
    /// ```
    /// 301, 302   POST → GET     others stay
    /// 303        all but HEAD → GET
    /// 307, 308   all stay
    /// ```
    public static func becomesGet(_ status: Int32, method: UnsafePointer<CChar>) -> Bool {
        switch status {
        case 301, 302: return HeaderName("post").matches(method)
        case 303: return !HeaderName("head").matches(method)
        default: return false
        }
    }
}
