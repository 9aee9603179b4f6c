/// Checks what a request may contain. Characters that could end a line, and so inject another header or request, are
/// rejected.
public enum RequestChecks {
    /// A method: a token (RFC 9110, 5.6.2).
    public static func isMethod(_ text: UnsafePointer<CChar>) -> Bool { isToken(text, maximumLength: 32) }

    public static func isHeaderName(_ text: UnsafePointer<CChar>) -> Bool { isToken(text, maximumLength: 256) }

    /// Control characters except the tab are rejected; bytes above 0x7F are the caller's business.
    public static func isHeaderValue(_ text: UnsafePointer<CChar>) -> Bool {
        var text = ByteCursor(cString: text)
        while !text.isAtEnd {
            let byte = text.next()
            if byte < 0x20 && byte != UInt8(ascii: "\t") || byte == 0x7F { return false }
        }
        return true
    }

    /// White space, control characters and long URLs are rejected.
    public static func isURL(_ text: UnsafePointer<CChar>) -> Bool { urlProblem(text) == nil }

    /// What is wrong with the characters of a URL; nil: nothing.
    @_optimize(speed)
    public static func urlProblem(_ text: UnsafePointer<CChar>) -> StaticString? {
        var length = 0
        while true {
            let byte = UInt8(bitPattern: text[length])
            if byte <= 0x20 || byte == 0x7F {
                guard byte == 0 else { return "has white space or a control character" }
                return length > 0 ? nil : "is empty"
            }
            length &+= 1
            if length > maximumURLLength { return "is longer than 65536 bytes" }
        }
    }

    private static var maximumURLLength: Int { 65_536 }

    /// The engine writes these itself.
    public static func isReservedHeader(_ name: UnsafePointer<CChar>) -> Bool {
        isNamed(name, "content-length") || isNamed(name, "transfer-encoding")
            || isNamed(name, "expect")
    }

    public static func isContentType(_ name: UnsafePointer<CChar>) -> Bool { isNamed(name, "content-type") }

    public static func isSameHeader(_ name: UnsafePointer<CChar>, _ other: UnsafePointer<CChar>) -> Bool {
        ASCII.isEqual(name, other)
    }

    /// Headers that are sent only to the original origin (T13); Host belongs to that origin.
    public static func isSecretHeader(_ name: UnsafePointer<CChar>) -> Bool {
        isNamed(name, "authorization") || isNamed(name, "cookie")
            || isNamed(name, "proxy-authorization") || isNamed(name, "host")
    }

    /// Headers that describe the body, and are dropped with it.
    public static func isContentHeader(_ name: UnsafePointer<CChar>) -> Bool {
        isNamed(name, "content-type") || isNamed(name, "content-encoding")
            || isNamed(name, "content-language") || isNamed(name, "content-location")
            || isNamed(name, "digest") || isNamed(name, "content-digest")
            || isNamed(name, "repr-digest") || isNamed(name, "content-md5")
    }

    /// A key of 1 to 255 visible characters.
    public static func isIdempotencyKey(_ text: UnsafePointer<CChar>) -> Bool {
        var text = ByteCursor(cString: text)
        var length = 0
        while !text.isAtEnd {
            let byte = text.next()
            length += 1
            guard (0x21...0x7E).contains(byte), length <= 255 else { return false }
        }
        return length > 0
    }

    /// Whether a request without a body must have a Content-Length of 0 (RFC 9110, 8.6).
    public static func expectsBody(method: UnsafePointer<CChar>) -> Bool {
        isNamed(method, "post") || isNamed(method, "put") || isNamed(method, "patch")
    }

    public static func isGet(method: UnsafePointer<CChar>) -> Bool { isExactly(method, "GET") }

    public static func isHead(method: UnsafePointer<CChar>) -> Bool { isExactly(method, "HEAD") }

    /// Methods are case-sensitive (RFC 9110, 9.1).
    private static func isExactly(_ method: UnsafePointer<CChar>, _ name: StaticString) -> Bool {
        var text = ByteCursor(cString: method)
        return text.take(name) && text.isAtEnd
    }

    /// Whether the method may be sent again on a reconnect even if something was sent (B13, RFC 9110, 9.2.2).
    public static func isIdempotent(method: UnsafePointer<CChar>) -> Bool {
        isNamed(method, "get") || isNamed(method, "head") || isNamed(method, "put")
            || isNamed(method, "delete") || isNamed(method, "options")
            || isNamed(method, "trace")
    }

    /// Whether it is this text, which must be in lower case, without regard to ASCII case. Not inline: there are many of
    /// these.
    @inline(never)
    private static func isNamed(_ text: UnsafePointer<CChar>, _ name: StaticString) -> Bool {
        HeaderName(name).matches(text)
    }

    private static func isToken(_ text: UnsafePointer<CChar>, maximumLength: Int) -> Bool {
        var text = ByteCursor(cString: text)
        var length = 0
        while !text.isAtEnd {
            let byte = text.next()
            length += 1
            guard isTokenByte(byte), length <= maximumLength else { return false }
        }
        return length > 0
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            return true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            return true
        default:
            return false
        }
    }
}
