import CBoxRetry
import CShims
import CurlEngine
import RetryCore

/// `boxretry_token_request`: if the last reference is released without an answer, the request has failed (T4).
final class TokenRequestHandle: Handle, HandleClass {
    static var kind: HandleKind { .tokenRequest }

    let request: TokenRequest

    init(_ request: TokenRequest) {
        self.request = request
        super.init(.tokenRequest)
    }

    deinit {
        // Ignored if there was an answer.
        _ = request.fail(.unanswered, isRetryable: false)
    }
}

/// The caller's provider: runs its callback on a thread that does nothing else meanwhile.
final class CallbackTokenProvider: TokenProvider {
    typealias Callback = @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void

    private let callback: Callback
    private let context: UnsafeMutableRawPointer?
    /// Nil until the provider owns the context.
    var contextFree: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

    init(_ callback: @escaping Callback, _ context: UnsafeMutableRawPointer?) {
        self.callback = callback
        self.context = context
    }

    deinit {
        guard let contextFree else { return }
        called { contextFree(context) }
    }

    var mayBlock: Bool { true }

    func provide(_ request: TokenRequest) {
        let forks = shim_fork_generation()
        let handle = Unmanaged.passRetained(TokenRequestHandle(request))
        called {
            shim_provider_enter(request.sourceIdentity)
            callback(context, OpaquePointer(handle.toOpaque()))
            shim_provider_leave()
        }
        // In a child process created by the callback's fork(), nothing of the parent is touched.
        if shim_fork_generation() == forks { handle.release() }
    }
}

extension TokenRequestHandle {
    /// Retained: after an answer, another thread may release the last reference meanwhile.
    fileprivate static func request(behind pointer: OpaquePointer?) throws(Failure) -> TokenRequest {
        try retained(try required(pointer, "request"), "request").request
    }
}

extension TokenRequest.Taken {
    fileprivate func check() throws(Failure) {
        switch self {
        case .taken: return
        case .refused: throw .tokenRequestEnded
        case .outOfMemory: throw .outOfMemory
        }
    }
}

@_cdecl("boxretry_token_request_succeed") @implementation
public func boxretry_token_request_succeed(
    _ request: OpaquePointer!, _ token: UnsafePointer<CChar>!, _ length: Int, _ expires_in: Double
) -> boxretry_error {
    answer { () throws(Failure) in
        let request = try TokenRequestHandle.request(behind: request)
        guard length >= 0 else { throw .invalidArgument("length", "must be below 2^63") }
        let token = try required(token, "token")
        try request.succeed(UnsafeRawBufferPointer(start: token, count: length), life: expires_in).check()
    }
}

@_cdecl("boxretry_token_request_fail") @implementation
public func boxretry_token_request_fail(
    _ request: OpaquePointer!, _ message: UnsafePointer<CChar>!, _ retryable: Int32
) -> boxretry_error {
    answer { () throws(Failure) in
        let request = try TokenRequestHandle.request(behind: request)
        try request.fail(.failed(ProviderText(message)), isRetryable: retryable != 0).check()
    }
}

@_cdecl("boxretry_token_request_cancel") @implementation
public func boxretry_token_request_cancel(_ request: OpaquePointer!) -> boxretry_error {
    answer { () throws(Failure) in
        let request = try TokenRequestHandle.request(behind: request)
        try request.fail(.cancelled, isRetryable: false).check()
    }
}

@_cdecl("boxretry_token_request_retain") @implementation
public func boxretry_token_request_retain(_ request: OpaquePointer!) {
    guard let request else { return }
    _ = TokenRequestHandle.with(request, "request") { handle in _ = Unmanaged.passUnretained(handle).retain() }
}

@_cdecl("boxretry_token_request_release") @implementation
public func boxretry_token_request_release(_ request: OpaquePointer!) {
    TokenRequestHandle.take(request)
}
