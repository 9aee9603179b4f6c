/// Why there is no token.
public enum TokenFailure: Error, Equatable {
    /// The provider's token is empty, too long, or has a byte that no header may have (T6).
    case invalidToken
    /// Its life is no number, or too short (T6).
    case invalidExpiration
    /// A token endpoint does not say it, and there is no default (T12).
    case missingExpiration
    /// The provider has failed for good, or often enough.
    case provider(ProviderFailure, attempts: Int32)
    /// The source has been freed (T10).
    case closed
    /// No thread can be had to call the provider.
    case exhausted
    /// So many calls of the provider have not returned that it is not called again.
    case hanging
}

/// How a call of the provider ended without a token.
public enum ProviderFailure: Equatable, Sendable {
    case failed(ProviderText)
    /// A ready-made provider could not reach its server, or was told to come back: what the last call came to. These are
    /// our own words, with no secret in them, so that they are shown although the failure is retryable (T6).
    case unavailable(ProviderText)
    /// By the provider, which is no caller's cancel (T4).
    case cancelled
    /// It returned, or let go of its request, without an answer.
    case unanswered
    /// `providerTimeout` has passed.
    case timedOut
    /// `fetchTimeout` has passed.
    case fetchTimedOut
}

/// What a provider has to say of its failure: a short text that ends in NUL, without control characters.
public struct ProviderText: Equatable, Sendable {
    public static let maximumLength = 160

    private var bytes: [CChar]

    /// NULL and an empty text are none.
    public init(_ text: UnsafePointer<CChar>?) {
        bytes = []
        guard let text else { return }
        var cursor = ByteCursor(cString: text)
        while !cursor.isAtEnd, bytes.count < Self.maximumLength {
            let byte = cursor.next()
            bytes.append(CChar(bitPattern: byte < 0x20 || byte == 0x7F ? UInt8(ascii: " ") : byte))
        }
        dropIncompleteCharacter()
        bytes.append(0)
    }

    public static var none: ProviderText { ProviderText(nil) }

    public var isEmpty: Bool { bytes.count <= 1 }

    public func withCString<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { body($0.baseAddress) }
    }

    /// A text that was cut may end in the middle of a character of UTF-8.
    private mutating func dropIncompleteCharacter() {
        guard bytes.count == Self.maximumLength else { return }
        func fromEnd(_ index: Int) -> UInt8 { UInt8(bitPattern: bytes[bytes.count - 1 - index]) }
        var tail = 0
        while tail < 3, fromEnd(tail) & 0xC0 == 0x80 { tail += 1 }
        let first = fromEnd(tail)
        let needed = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0
        if needed > tail { bytes.removeLast(tail + 1) }
    }
}
