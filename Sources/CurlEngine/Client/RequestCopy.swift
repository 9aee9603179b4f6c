import CShims
import RetryCore

/// A request, copied from the caller, as libcurl wants it. Never changes.
public final class RequestCopy {
    public let method: UnsafeMutablePointer<CChar>
    public let url: UnsafeMutablePointer<CChar>
    /// For libcurl, with what keeps it from adding headers of its own.
    private let headerLines: UnsafeMutablePointer<curl_slist>?
    /// name, value, name, value, …
    private let pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    private let headerCount: Int
    public let body: UnsafeMutableRawPointer?
    public let bodyLength: Int
    private let hasEmptyBody: Bool
    let isIdempotent: Bool
    let isUnsafe: Bool
    /// Host and port, hashed; and whether the host has to be looked up.
    let origin: UInt64
    let needsLookup: Bool
    /// The request as custom strategies see it; freed with this copy.
    public var description: UnsafeMutableRawPointer?

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
        hasEmptyBody = body == nil && RequestChecks.expectsBody(method: method)
        let bodyCopy = body.flatMap { shim_copy_bytes($0, bodyLength) }
        let methodCopy = shim_copy_string(method)
        let urlCopy = shim_copy_string(url)
        let pairs = Self.copy(list)
        let lines = Self.lines(list, hasBody: body != nil || hasEmptyBody)
        guard let methodCopy, let urlCopy, let pairs, let lines, body == nil || bodyCopy != nil else {
            shim_free(methodCopy)
            shim_free(urlCopy)
            Self.free(pairs, list.count)
            curl_slist_free_all(lines)
            shim_free(bodyCopy)
            return nil
        }
        self.method = methodCopy
        self.url = urlCopy
        self.pairs = pairs
        headerCount = list.count
        headerLines = lines
        self.body = bodyCopy
    }

    deinit {
        shim_free(method)
        shim_free(url)
        Self.free(pairs, headerCount)
        curl_slist_free_all(headerLines)
        shim_free(body)
        shim_free(description)
    }

    public var headers: HeaderList { HeaderList(pairs: pairs, count: headerCount) ?? .empty }

    /// As libcurl shall send it.
    func attempt(_ settings: EngineSettings, fresh: Bool, errorText: UnsafeMutablePointer<CChar>?) -> shim_attempt {
        shim_attempt(
            method: method, url: url, headers: headerLines, body: body, body_length: Int64(bodyLength),
            has_empty_body: hasEmptyBody,
            user_agent: settings.userAgent, proxy: settings.proxy, ca_file: settings.caFile, error_text: errorText,
            fresh: fresh)
    }

    /// Nil if there is no memory.
    private static func copy(_ list: HeaderList) -> UnsafeMutablePointer<UnsafePointer<CChar>?>? {
        let count = 2 * list.count
        let memory = shim_allocate(max(count, 1) * MemoryLayout<UnsafePointer<CChar>?>.stride)
        guard let pairs = memory?.bindMemory(to: UnsafePointer<CChar>?.self, capacity: max(count, 1)) else {
            return nil
        }
        for index in 0..<count { pairs[index] = nil }
        for index in 0..<count {
            guard let copy = shim_copy_string(list.pairs?[index]) else {
                free(pairs, list.count)
                return nil
            }
            pairs[index] = UnsafePointer(copy)
        }
        return pairs
    }

    private static func free(_ pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?, _ count: Int) {
        guard let pairs else { return }
        for index in 0..<2 * count { shim_free(UnsafeMutableRawPointer(mutating: pairs[index])) }
        shim_free(pairs)
    }

    /// As libcurl's list, with what keeps libcurl from adding headers of its own. Nil if there is no memory.
    private static func lines(_ list: HeaderList, hasBody: Bool) -> UnsafeMutablePointer<curl_slist>? {
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
