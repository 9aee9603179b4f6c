import RetryCore

/// Whom a provider answers. False: the answer comes too late.
protocol TokenAsker: AnyObject {
    func answered(_ call: UInt64, _ token: SecretBytes?, life: Double) -> Bool

    func failed(_ call: UInt64, _ failure: ProviderFailure, isRetryable: Bool, leastDelay: Double) -> Bool

    /// The call could not be made, or its answer ends the fetch.
    func ended(_ call: UInt64, with failure: TokenFailure)
}

/// One call of a provider, which is to be answered exactly once (T4). Any thread.
public final class TokenRequest {
    private let source: any TokenAsker
    private let call: UInt64
    /// The caller drives the provider's loop: the provider must not start a thread.
    let isHosted: Bool

    init(source: any TokenAsker, call: UInt64, isHosted: Bool = false) {
        self.source = source
        self.call = call
        self.isHosted = isHosted
    }

    /// Tells token sources apart.
    public var sourceIdentity: UnsafeMutableRawPointer { Unmanaged.passUnretained(source as AnyObject).toOpaque() }

    public enum Taken {
        case taken
        /// It was answered before, or has timed out, or its source was freed.
        case refused
        case outOfMemory
    }

    /// The bytes are copied; what cannot be a token is judged by T6.
    public func succeed(_ bytes: UnsafeRawBufferPointer, life: Double) -> Taken {
        guard let trimmed = TokenText.trimmed(bytes) else { return taken(source.answered(call, nil, life: life)) }
        guard let token = SecretBytes.copy(of: trimmed) else { return .outOfMemory }
        return taken(source.answered(call, token, life: life))
    }

    /// `leastDelay`: seconds before which the provider is not to be called again (T7).
    public func fail(_ failure: ProviderFailure, isRetryable: Bool, leastDelay: Double = 0) -> Taken {
        taken(source.failed(call, failure, isRetryable: isRetryable, leastDelay: leastDelay))
    }

    /// There is an answer, but it ends the fetch.
    func end(with failure: TokenFailure) {
        source.ended(call, with: failure)
    }

    private func taken(_ isTaken: Bool) -> Taken { isTaken ? .taken : .refused }
}

/// Gets tokens. Called once for each token that is needed, and by one source only when the call before has been answered or
/// has timed out (T3).
public protocol TokenProvider: AnyObject {
    /// Whether `provide` may block: then each call runs on its own thread.
    var mayBlock: Bool { get }

    /// The loop that its requests run on; nil: none.
    var loop: (any ProviderLoop)? { get }

    /// Answers the request, now or later.
    func provide(_ request: TokenRequest)
}

extension TokenProvider {
    public var loop: (any ProviderLoop)? { nil }
}

/// For a fixed token. The source never drops it, so it never asks for another one (T12).
public final class NoTokenProvider: TokenProvider {
    public init() {}

    public var mayBlock: Bool { false }

    public func provide(_ request: TokenRequest) {
        _ = request.fail(.unanswered, isRetryable: false)
    }
}
