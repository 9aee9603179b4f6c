/// Details in error responses: Box's JSON errors, RFC 9457's problem details as January uses them, and OAuth's
/// `{"error", "error_description"}`.
public enum ErrorDetail: Int {
    case code = 1
    case message = 2
    case requestID = 3
    case helpURL = 4
    case retryAfter = 5

    public enum Text {
        case json(JSONString)
        case header(UnsafePointer<CChar>)
    }

    /// From its name in the C interface; nil if there is no such name.
    public static func named(_ name: UnsafePointer<CChar>) -> ErrorDetail? {
        if isSame(name, "code") { return .code }
        if isSame(name, "message") { return .message }
        if isSame(name, "request_id") { return .requestID }
        if isSame(name, "help_url") { return .helpURL }
        if isSame(name, "retry_after") { return .retryAfter }
        return nil
    }

    /// The first of the members and headers that may contain it. A member that occurs twice is skipped. Nil: there is
    /// none, or the status is below 400.
    public func text(status: Int32, body: UnsafeRawBufferPointer, headers: HeaderList) -> Text? {
        guard status >= 400 else { return nil }
        switch self {
        case .code: return Self.member("code", body) ?? Self.member("error", body)
        case .message:
            return Self.member("message", body) ?? Self.member("detail", body)
                ?? Self.member("error_description", body) ?? Self.member("title", body)
        case .requestID:
            return Self.member("request_id", body) ?? Self.header("X-Request-Id", headers)
                ?? Self.header("Box-Request-Id", headers)
        case .helpURL: return Self.member("help_url", body)
        case .retryAfter: return Self.header("Retry-After", headers)
        }
    }

    private static func member(_ name: StaticString, _ body: UnsafeRawBufferPointer) -> Text? {
        guard case .string(let text) = JSONObject(body)?.onlyMember(name), text.count > 0 else { return nil }
        return .json(text)
    }

    private static func header(_ name: StaticString, _ headers: HeaderList) -> Text? {
        let name = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        guard let value = headers.firstValue(of: name), value.pointee != 0 else { return nil }
        return .header(value)
    }

    private static func isSame(_ text: UnsafePointer<CChar>, _ name: StaticString) -> Bool {
        for index in 0..<name.utf8CodeUnitCount where UInt8(bitPattern: text[index]) != name.utf8Start[index] {
            return false
        }
        return text[name.utf8CodeUnitCount] == 0
    }
}
