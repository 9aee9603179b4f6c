import CShims
import RetryCore

/// A request, copied from the caller. Never changes, but for how far a streamed body has been read.
public final class RequestCopy {
    let target: Target
    private let ownHeaders: OwnedHeaders?
    /// For libcurl, if nothing is changed.
    let ownLines: UnsafeMutablePointer<shim_lines>
    public let body: Body
    let isIdempotent: Bool
    /// Accept and User-Agent are sent even if the request has none.
    private let addsDefaults: Bool
    let isUnsafe: Bool
    /// The request as custom strategies see it, if there is one; freed with this copy.
    public var description: UnsafeMutableRawPointer?

    /// The body of a request.
    public enum Body {
        case none
        /// Freed with the request, if it is a copy.
        case memory(UnsafeRawPointer, count: Int, isCopy: Bool)
        case stream(any BodySource)
        case form(MultipartSource)

        /// For a body of which no request has come.
        public func free() {
            if case .memory(let bytes, _, isCopy: true) = self { shim_free(UnsafeMutableRawPointer(mutating: bytes)) }
        }
    }

    /// Nil if there is no memory: then the body is still the caller's. All parts have been checked.
    public static func make(
        method: UnsafePointer<CChar>, url: UnsafePointer<CChar>, parsedURL: shim_url, headers: OwnedHeaders?,
        body: Body,
        isUnsafe: Bool, addsDefaults: Bool = true
    ) -> RequestCopy? {
        var hasBody = false
        if case .none = body {} else { hasBody = true }
        return Target.make(method: method, url: url, parsedURL: parsedURL, hasBody: hasBody).flatMap {
            make(to: $0, headers: headers, body: body, isUnsafe: isUnsafe, addsDefaults: addsDefaults)
        }
    }

    /// The same, to a target that has the method and the URL. `body`: there is one if the target says so.
    public static func make(
        to target: Target, headers: OwnedHeaders?, body: Body, isUnsafe: Bool, addsDefaults: Bool
    ) -> RequestCopy? {
        guard let lines = lines(headers, to: target, body, addsDefaults: addsDefaults) else { return nil }
        return RequestCopy(target, headers, lines, body, isUnsafe: isUnsafe, addsDefaults: addsDefaults)
    }

    private init(
        _ target: Target, _ headers: OwnedHeaders?, _ lines: UnsafeMutablePointer<shim_lines>, _ body: Body,
        isUnsafe: Bool, addsDefaults: Bool
    ) {
        self.target = target
        ownLines = lines
        ownHeaders = headers
        self.body = body
        isIdempotent = RequestChecks.isIdempotent(method: target.method)
        self.isUnsafe = isUnsafe
        self.addsDefaults = addsDefaults
    }

    /// Header lines as libcurl shall send them to a target; nil if there is no memory.
    func lines(_ headers: OwnedHeaders, to target: Target) -> UnsafeMutablePointer<shim_lines>? {
        Self.lines(headers, to: target, body, addsDefaults: addsDefaults)
    }

    private static func lines(
        _ headers: OwnedHeaders?, to target: Target, _ body: Body, addsDefaults: Bool
    ) -> UnsafeMutablePointer<shim_lines>? {
        // The transport writes the Content-Type of a form.
        var isForm = false
        if case .form = body { isForm = true }
        return OwnedHeaders.lines(
            headers?.list ?? .empty, hasBody: target.saysLength && !isForm, addsDefaults: addsDefaults)
    }

    deinit {
        shim_header_free_lines(ownLines)
        body.free()
        shim_free(description)
    }

    public var method: UnsafePointer<CChar> { UnsafePointer(target.method) }
    public var url: UnsafePointer<CChar> { UnsafePointer(target.url) }
    public var parsedURL: shim_url { target.parsedURL }
    public var headers: HeaderList { ownHeaders?.list ?? .empty }

    /// The caller's own Authorization wins over any access token (T13).
    public var hasAuthorization: Bool { headers.firstValue(of: "Authorization") != nil }

    var source: (any BodySource)? {
        switch body {
        case .stream(let source): source
        case .form(let form): form
        case .none, .memory: nil
        }
    }

    var form: MultipartSource? {
        if case .form(let form) = body { return form }
        return nil
    }

    var isForm: Bool { form != nil }

    var hasBody: Bool { target.hasBody }

    /// Bytes; nil: not known before they have been read.
    var bodyLength: Int64? {
        switch body {
        case .none: 0
        case .memory(_, let count, _): Int64(count)
        case .stream(let source): source.length < 0 ? nil : source.length
        case .form: nil
        }
    }

    var isHead: Bool { RequestChecks.isHead(method: method) }

    /// The caller has not asked for a part of what there is.
    var asksForWhole: Bool {
        headers.firstValue(of: "Range") == nil && headers.firstValue(of: "If-Range") == nil
    }

    /// So that we may.
    var mayBeResumed: Bool { RequestChecks.isGet(method: method) && asksForWhole }

    /// As the transport shall send it, with these header lines.
    func attempt(
        to target: Target, lines: UnsafeMutablePointer<shim_lines>, isLarge: Bool
    ) -> shim_attempt {
        var attempt = shim_attempt()
        attempt.method = UnsafePointer(target.method)
        attempt.url = UnsafePointer(target.url)
        attempt.headers = lines
        attempt.large = isLarge
        switch body {
        case .memory(let bytes, let count, _) where target.hasBody:
            attempt.body_kind = Int32(SHIM_BODY_MEMORY)
            attempt.body = bytes
            attempt.body_length = Int64(count)
        case .stream(let source) where target.hasBody:
            attempt.body_kind = Int32(SHIM_BODY_STREAM)
            attempt.body_length = source.length
            attempt.large = true
        case .form where target.hasBody:
            attempt.body_kind = Int32(SHIM_BODY_MULTIPART)
            attempt.body_length = -1
            attempt.large = true
        default:
            attempt.body_kind = Int32(target.saysLength ? SHIM_BODY_EMPTY : SHIM_BODY_NONE)
        }
        return attempt
    }
}
