import CBoxRetry
import CShims
import CurlEngine
import RetryCore

/// `boxretry_queue`
final class QueueHandle: Handle, HandleClass {
    static var kind: HandleKind { .queue }

    let queue: CompletionQueue

    init(_ queue: CompletionQueue) {
        self.queue = queue
        super.init(.queue)
    }
}

@_cdecl("boxretry_queue_new") @implementation
public func boxretry_queue_new(_ out: UnsafeMutablePointer<OpaquePointer?>!) -> boxretry_error {
    answer { () throws(Failure) in
        let out = try required(out, "out")
        guard let queue = CompletionQueue.make() else { throw .exhausted }
        QueueHandle(queue).give(to: out)
    }
}

@_cdecl("boxretry_queue_fd") @implementation
public func boxretry_queue_fd(_ queue: OpaquePointer!) -> Int32 {
    var descriptor: Int32 = -1
    _ = QueueHandle.with(queue, "queue") { handle in descriptor = handle.queue.descriptor }
    return descriptor
}

@_cdecl("boxretry_queue_take") @implementation
public func boxretry_queue_take(
    _ queue: OpaquePointer!, _ calls: UnsafeMutablePointer<OpaquePointer?>!, _ capacity: Int, _ timeout_ms: Int64
) -> Int {
    var count = 0
    _ = answer { () throws(Failure) in
        if timeout_ms != 0 { try refuseInCallback() }
        let queue = try QueueHandle.retained(try required(queue, "queue"), "queue").queue
        let calls = try required(calls, "calls")
        guard capacity > 0 else { throw .invalidArgument("capacity", "must be 1 or more") }
        _ = try checkedLimit(timeout_ms)
        count = queue.take(atMost: capacity, timeoutMilliseconds: timeout_ms) { call, index in
            call.isUnowned = false
            calls[index] = call.handle.map { OpaquePointer($0) }
        }
    }
    return count
}

@_cdecl("boxretry_queue_free") @implementation
public func boxretry_queue_free(_ queue: OpaquePointer!) {
    QueueHandle.take(queue) { handle in
        handle.queue.close { call in CallHandle.release(call.handle) }
    }
}

/// `boxretry_cancel`
final class CancelHandle: Handle, HandleClass {
    static var kind: HandleKind { .cancel }

    let cancelSwitch: CancelSwitch

    init(_ cancelSwitch: CancelSwitch) {
        self.cancelSwitch = cancelSwitch
        super.init(.cancel)
    }
}

extension CancelHandle {
    /// The cancel switch for a pointer, which may be NULL.
    static func cancelSwitch(
        behind pointer: OpaquePointer?, _ argument: StaticString
    ) throws(Failure) -> CancelSwitch? {
        guard let pointer else { return nil }
        return try retained(pointer, argument).cancelSwitch
    }
}

@_cdecl("boxretry_cancel_new") @implementation
public func boxretry_cancel_new(_ out: UnsafeMutablePointer<OpaquePointer?>!) -> boxretry_error {
    answer { () throws(Failure) in
        let out = try required(out, "out")
        guard let cancelSwitch = CancelSwitch.make() else { throw .outOfMemory }
        CancelHandle(cancelSwitch).give(to: out)
    }
}

@_cdecl("boxretry_cancel_trigger") @implementation
public func boxretry_cancel_trigger(_ cancel: OpaquePointer!) {
    _ = CancelHandle.with(cancel, "cancel") { handle in handle.cancelSwitch.trigger() }
}

@_cdecl("boxretry_cancel_free") @implementation
public func boxretry_cancel_free(_ cancel: OpaquePointer!) {
    CancelHandle.take(cancel)
}
