/// The answer of a token endpoint (T12).
public enum TokenEndpointAnswer {
    /// A token as it is in the document, and its lifetime in seconds (nil if missing). T6 decides whether they are
    /// valid.
    case token(JSONString?, life: Double?, refreshToken: JSONString?)
    case failure(ProviderFailure, isRetryable: Bool)

    public init(status: Int32, body: UnsafeRawBufferPointer) {
        let object = JSONObject(body)
        guard (200...299).contains(status) else {
            let isRetryable = status == 408 || status == 429 || status >= 500
            // For a retryable failure, none of the server's text is shown (T6).
            let failure: ProviderFailure =
                isRetryable ? .unavailable(Self.text(status, nil)) : .failed(Self.text(status, object))
            self = .failure(failure, isRetryable: isRetryable)
            return
        }
        guard let object else {
            self = .failure(.failed(Self.text("the answer is not a JSON object")), isRetryable: false)
            return
        }
        guard object.member("error") == nil else {
            self = .failure(.failed(Self.text(status, object)), isRetryable: false)
            return
        }
        for name: StaticString in ["access_token", "token", "expires_in", "expiresIn", "refresh_token"] {
            guard case .repeated = object.member(name) else { continue }
            self = .failure(.failed(Self.text("the answer has a name twice")), isRetryable: false)
            return
        }
        self = .token(
            Self.string(object.member("access_token") ?? object.member("token")),
            life: (object.member("expires_in") ?? object.member("expiresIn")).map { Self.seconds($0) },
            refreshToken: Self.string(object.member("refresh_token")))
    }

    private static func string(_ value: JSONObject.Value?) -> JSONString? {
        if case .string(let string) = value { string } else { nil }
    }

    /// The value of a number, or of a string with a number; else NaN.
    private static func seconds(_ value: JSONObject.Value) -> Double {
        switch value {
        case .number(let number): return number
        case .string(let string):
            guard string.count <= 32 else { return .nan }
            var digits: [32 of UInt8] = .init(repeating: 0)
            var count = 0
            string.forEachByte { byte in
                digits[count] = byte
                count += 1
            }
            return digits.span.withUnsafeBufferPointer { bytes in
                guard let start = bytes.baseAddress else { return .nan }
                return DecimalNumber.parse(ByteCursor(start: start, count: count).trimmed()) ?? .nan
            }
        case .other, .repeated: return .nan
        }
    }

    /// `status 400: invalid_grant`: the error code, if it is valid, and nothing else from the server, to keep secrets
    /// out.
    private static func text(_ status: Int32, _ object: JSONObject?) -> ProviderText {
        var text: [CChar] = []
        append("status ", &text)
        let digits = [status / 100 % 10, status / 10 % 10, status % 10]
        for digit in digits { text.append(CChar(truncatingIfNeeded: 0x30 + digit)) }
        if let code = string(object?.member("error")), isCode(code) {
            append(": ", &text)
            code.forEachByte { text.append(CChar(bitPattern: $0)) }
        }
        text.append(0)
        return text.withUnsafeBufferPointer { ProviderText($0.baseAddress) }
    }

    private static func text(_ text: StaticString) -> ProviderText {
        ProviderText(UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self))
    }

    private static func append(_ part: StaticString, _ text: inout [CChar]) {
        for index in 0..<part.utf8CodeUnitCount { text.append(CChar(bitPattern: part.utf8Start[index])) }
    }

    /// A short word, like OAuth's error codes.
    private static func isCode(_ code: JSONString) -> Bool {
        var isCode = true
        var count = 0
        code.forEachByte { byte in
            count += 1
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                break
            default: isCode = false
            }
        }
        return isCode && (1...64).contains(count)
    }
}
