/// A 401 whose body tells that the access token has expired (R1).
public enum TokenRejection {
    /// Longer bodies are not checked.
    public static let maximumBodySize = 65_536

    /// Whether a body is a JSON object whose `code` is one of those.
    public static func isExpiry(_ body: UnsafeRawBufferPointer, codes: [UnsafeMutablePointer<CChar>]) -> Bool {
        guard body.count <= maximumBodySize, let object = JSONObject(body),
            case .string(let code) = object.member("code")
        else { return false }
        for candidate in codes where code.equals(UnsafePointer(candidate)) { return true }
        return false
    }
}
