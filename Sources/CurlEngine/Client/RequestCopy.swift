import CShims
import RetryCore

/// A request, copied from the caller, as libcurl wants it. Never changes.
public final class RequestCopy {
    let method: UnsafeMutablePointer<CChar>
    let url: UnsafeMutablePointer<CChar>
    let headers: UnsafeMutablePointer<curl_slist>?
    let body: UnsafeMutableRawPointer?
    let bodyLength: Int
    let isIdempotent: Bool
    let isUnsafe: Bool
    /// Host and port, hashed; and whether the host has to be looked up.
    let origin: UInt64
    let needsLookup: Bool

    /// Nil if there is no memory. All parts have been checked.
    public init?(
        method: UnsafePointer<CChar>, url: UnsafePointer<CChar>, headers list: HeaderList, body: UnsafeRawPointer?,
        bodyLength: Int, safety: RequestSafety, origin: UInt64, needsLookup: Bool
    ) {
        isIdempotent = RequestChecks.isIdempotent(method: method)
        isUnsafe = safety.isUnsafe(method: method)
        self.origin = origin
        self.needsLookup = needsLookup
        self.bodyLength = bodyLength
        let headers = Self.copy(list, hasBody: body != nil)
        let bodyCopy = body.flatMap { shim_copy_bytes($0, bodyLength) }
        guard let methodCopy = shim_copy_string(method), let urlCopy = shim_copy_string(url), let headers,
            body == nil || bodyCopy != nil
        else { return nil }  // What was copied so far is lost with the memory that was not there.
        self.method = methodCopy
        self.url = urlCopy
        self.headers = headers
        self.body = bodyCopy
    }

    /// As libcurl shall send it.
    func attempt(_ settings: EngineSettings, fresh: Bool, errorText: UnsafeMutablePointer<CChar>?) -> shim_attempt {
        shim_attempt(
            method: method, url: url, headers: headers, body: body, body_length: Int64(bodyLength),
            user_agent: settings.userAgent, proxy: settings.proxy, ca_file: settings.caFile, error_text: errorText,
            fresh: fresh)
    }

    deinit {
        shim_free(method)
        shim_free(url)
        curl_slist_free_all(headers)
        shim_free(body)
    }

    /// As libcurl's list, with what keeps libcurl from adding headers of its own. Nil if there is no memory.
    private static func copy(_ list: HeaderList, hasBody: Bool) -> UnsafeMutablePointer<curl_slist>? {
        // No second is lost on a 100 that does not come (F57).
        var headers = curl_slist_append(nil, "Expect:")
        var hasContentType = false
        list.forEach { name, value in
            guard headers != nil else { return }
            var line = shim_buffer()
            defer { shim_buffer_free(&line) }
            let isEmpty = value.pointee == 0
            let terminator: CChar = 0
            let ok =
                shim_buffer_append(&line, name, shim_length(name))
                && shim_buffer_append(&line, isEmpty ? ";" : ": ", isEmpty ? 1 : 2)
                && shim_buffer_append(&line, value, shim_length(value))
                && withUnsafePointer(to: terminator) { shim_buffer_append(&line, $0, 1) }
            headers = ok ? curl_slist_append(headers, line.data) ?? headers : headers
            if RequestChecks.isContentType(name) { hasContentType = true }
        }
        if hasBody, !hasContentType { headers = curl_slist_append(headers, "Content-Type:") ?? headers }
        return headers
    }
}
