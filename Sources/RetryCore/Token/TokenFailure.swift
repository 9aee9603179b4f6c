/// Why there is no token.
public enum TokenFailure: Error, Equatable {
    /// The provider's token is empty, too long, or contains a byte that is not allowed in a header (T6).
    case invalidToken
    /// Its lifetime is not a number, or too short (T6).
    case invalidExpiration
    /// The token endpoint's answer has no lifetime, and there is no default (T12).
    case missingExpiration
    /// The provider has failed permanently, or too often.
    case provider(ProviderFailure, attempts: Int32)
    /// The source has been freed (T10).
    case closed
    /// No thread is available to call the provider.
    case exhausted
    /// The maximum number of provider calls have not returned yet, so it is not called again.
    case hanging
}

/// How a call of the provider ended without a token.
public enum ProviderFailure: Equatable, Sendable {
    case failed(ProviderText)
    /// A built-in provider could not reach its server, or the server asked to come back later: the result of the last
    /// call. These texts are ours, and contain no secret, so they are shown although the failure is retryable (T6).
    case unavailable(ProviderText)
    /// Canceled by the provider, not by a caller (T4).
    case cancelled
    /// It returned, or released its request, without an answer.
    case unanswered
    /// `providerTimeout` has passed.
    case timedOut
    /// `fetchTimeout` has passed.
    case fetchTimedOut
}

/// The provider's text about its failure: short, ends in NUL, without control characters.
public struct ProviderText: Equatable, Sendable {
    public static let maximumLength = 160

    private var bytes: [CChar]

    /// NULL and an empty text mean that there is none.
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

    /// A truncated text may end in the middle of a UTF-8 character.
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
