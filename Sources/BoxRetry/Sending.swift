import CBoxRetry
import CShims
import CurlEngine
import RetryCore

/// `boxretry_sending`: exists while a hook runs.
final class SendingHandle: Handle, HandleClass {
    static var kind: HandleKind { .sending }

    let sending: Sending

    init(_ sending: Sending) {
        self.sending = sending
        super.init(.sending)
    }

    /// Reads a value for a hook; `otherwise` for NULL.
    static func read<Value>(_ pointer: OpaquePointer?, _ otherwise: Value, _ body: (Sending) -> Value) -> Value {
        read(pointer, "sending", otherwise) { body($0.sending) }
    }
}

typealias BeforeAttempt = @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void

/// A hook of the caller, wrapped for the engine.
func hook(_ callback: BeforeAttempt?, _ context: UnsafeMutableRawPointer?) -> ((Sending) -> Void)? {
    guard let callback else { return nil }
    return { sending in
        let handle = Unmanaged.passRetained(SendingHandle(sending))
        called { callback(context, OpaquePointer(handle.toOpaque())) }
        handle.release()
    }
}

@_cdecl("boxretry_sending_attempt_number") @implementation
public func boxretry_sending_attempt_number(_ sending: OpaquePointer!) -> Int32 {
    SendingHandle.read(sending, 0) { $0.attemptNumber }
}

@_cdecl("boxretry_sending_method") @implementation
public func boxretry_sending_method(_ sending: OpaquePointer!) -> UnsafePointer<CChar>! {
    SendingHandle.read(sending, nil) { $0.method }
}

@_cdecl("boxretry_sending_url") @implementation
public func boxretry_sending_url(_ sending: OpaquePointer!) -> UnsafePointer<CChar>! {
    SendingHandle.read(sending, nil) { $0.url }
}

@_cdecl("boxretry_sending_user_pointer") @implementation
public func boxretry_sending_user_pointer(_ sending: OpaquePointer!) -> UnsafeMutableRawPointer! {
    SendingHandle.read(sending, nil) { $0.userPointer }
}

@_cdecl("boxretry_sending_header") @implementation
public func boxretry_sending_header(
    _ sending: OpaquePointer!, _ name: UnsafePointer<CChar>!
) -> UnsafePointer<CChar>! {
    guard let name else { return nil }
    return SendingHandle.read(sending, nil) { $0.headers.list.firstValue(of: name) }
}

@_cdecl("boxretry_sending_set_header") @implementation
public func boxretry_sending_set_header(
    _ sending: OpaquePointer!, _ name: UnsafePointer<CChar>!, _ value: UnsafePointer<CChar>!
) -> boxretry_error {
    SendingHandle.with(sending, "sending") { handle throws(Failure) in
        let name = try required(name, "name")
        guard RequestChecks.isHeaderName(name) else { throw .invalidArgument("name", "is not a header name") }
        guard !RequestChecks.isReservedHeader(name) else {
            throw .invalidArgument("name", "is set by the library itself")
        }
        let headers = handle.sending.headers
        if RequestChecks.isSameHeader(name, "Authorization") { handle.sending.hasNoAuthorization = value == nil }
        guard let value else { return headers.remove { RequestChecks.isSameHeader($0, name) } }
        guard RequestChecks.isHeaderValue(value) else { throw .invalidArgument("value", "has a control character") }
        guard shim_length(value) <= HeaderList.maximumBytes else {
            throw .invalidArgument("value", "is longer than 1000000 bytes")
        }
        guard headers.set(name, value) else { throw .outOfMemory }
    }
}

@_cdecl("boxretry_sending_fail") @implementation
public func boxretry_sending_fail(_ sending: OpaquePointer!) {
    guard sending != nil else { return }
    _ = SendingHandle.with(sending, "sending") { handle in handle.sending.hasFailed = true }
}
