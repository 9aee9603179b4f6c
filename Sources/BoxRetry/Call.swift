import CBoxRetry
import CShims
import CurlEngine
import RetryCore

/// `boxretry_call`
final class CallHandle: Handle, HandleClass {
    static var kind: HandleKind { .call }

    let call: Call

    init(_ call: Call) {
        self.call = call
        super.init(.call)
    }

    /// Makes the handle of a call that is about to begin. It is lent to callbacks until the call has ended (K5).
    static func lent(by call: Call) -> CallHandle {
        let handle = CallHandle(call)
        call.handle = Unmanaged.passUnretained(handle).toOpaque()
        call.lentHandle = handle
        return handle
    }

    static func release(_ pointer: UnsafeMutableRawPointer?) {
        if let pointer { Unmanaged<CallHandle>.fromOpaque(pointer).release() }
    }
}

@_cdecl("boxretry_call_wait") @implementation
public func boxretry_call_wait(_ call: OpaquePointer!, _ timeout_ms: Int64) -> boxretry_error {
    answer { () throws(Failure) in
        try refuseInCallback()
        let call = try CallHandle.retained(try required(call, "call"), "call").call
        guard call.loop.wait(for: call, until: try checkedLimit(timeout_ms)) else { throw .waitTimeout }
    }
}

@_cdecl("boxretry_call_wake") @implementation
public func boxretry_call_wake(_ call: OpaquePointer!) {
    guard call != nil else { return }
    _ = CallHandle.with(call, "call") { handle in handle.call.loop.wake(handle.call) }
}

@_cdecl("boxretry_call_cancel") @implementation
public func boxretry_call_cancel(_ call: OpaquePointer!) {
    _ = CallHandle.with(call, "call") { handle in handle.call.loop.cancel(handle.call) }
}

@_cdecl("boxretry_call_resume") @implementation
public func boxretry_call_resume(_ call: OpaquePointer!) {
    guard call != nil else { return }
    _ = CallHandle.with(call, "call") { handle in handle.call.loop.resume(handle.call) }
}

@_cdecl("boxretry_call_take_response") @implementation
public func boxretry_call_take_response(_ call: OpaquePointer!) -> OpaquePointer! {
    var response: OpaquePointer?
    _ = CallHandle.with(call, "call") { handle in
        if let result = handle.call.loop.takeResult(of: handle.call) { ResponseHandle(result).give(to: &response) }
    }
    return response
}

@_cdecl("boxretry_call_user_pointer") @implementation
public func boxretry_call_user_pointer(_ call: OpaquePointer!) -> UnsafeMutableRawPointer! {
    var pointer: UnsafeMutableRawPointer?
    _ = CallHandle.with(call, "call") { handle in pointer = handle.call.userPointer }
    return pointer
}

@_cdecl("boxretry_call_free") @implementation
public func boxretry_call_free(_ call: OpaquePointer!) {
    CallHandle.take(call) { $0.call.loop.abandon($0.call) }
}
