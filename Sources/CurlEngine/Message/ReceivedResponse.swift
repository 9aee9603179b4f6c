import CShims
import RetryCore

/// A response as an attempt received it. Never changes, so a custom strategy may read it on its own thread while the call
/// ends on another.
final class ReceivedResponse {
    /// 0: the response broke off.
    let status: Int32
    let isBodyCutOff: Bool
    /// The URL that it came from, after redirects.
    let target: Target
    private var head: ResponseHead
    private var bodyBuffer: shim_buffer

    /// Takes over the head and the body.
    init(status: Int32, head: ResponseHead, body: shim_buffer, isBodyCutOff: Bool, target: Target) {
        self.status = status
        self.head = head
        bodyBuffer = body
        self.isBodyCutOff = isBodyCutOff
        self.target = target
    }

    deinit {
        head.free()
        shim_buffer_free(&bodyBuffer)
    }

    var headers: HeaderList { head.list }

    var reasonPhrase: UnsafePointer<CChar> { head.reasonPhrase }

    var body: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bodyBuffer.data, count: bodyBuffer.count) }
}
