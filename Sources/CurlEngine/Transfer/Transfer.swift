import CShims
import RetryCore

/// One attempt: a libcurl handle, and what has come back so far. Only the holder of the loop touches it.
final class Transfer {
    unowned(unsafe) let call: Call
    /// What the transport works with.
    var easy: UnsafeMutableRawPointer?
    /// What libcurl has to say of a failure.
    let errorText: UnsafeMutablePointer<CChar>?
    /// It is not the transport's any more.
    var isDetached = false

    /// The header lines of the last message, as they came.
    private(set) var head = shim_buffer()
    private(set) var body = shim_buffer()
    private(set) var isBodyCutOff = false
    private(set) var localFailure: LocalFailure?

    /// How often libcurl has asked to send the request.
    private(set) var sendings = 0
    private(set) var wasVetoed = false

    /// When something last moved (M1).
    private(set) var lastActivity: Int64
    private var moved: Int64 = 0
    /// The look-up is over.
    private(set) var isOpen = false
    /// The socket in use; -1 if there is none.
    var socket: Int32 = -1
    private var unsentBytes: Int32 = 0

    private var headerLines = 0
    private var headerBytes = 0
    private var expectsStatusLine = true
    /// Up to the empty line.
    private(set) var isReadingHead = true

    init(call: Call, now: Int64) {
        self.call = call
        errorText = shim_allocate(Int(CURL_ERROR_SIZE))?.bindMemory(to: CChar.self, capacity: Int(CURL_ERROR_SIZE))
        errorText?.pointee = 0
        lastActivity = now
    }

    deinit {
        shim_free(errorText)
        shim_buffer_free(&head)
        shim_buffer_free(&body)
    }

    /// Hands over what has been received.
    func takeBuffers() -> (head: shim_buffer, body: shim_buffer) {
        defer { (head, body) = (shim_buffer(), shim_buffer()) }
        return (head, body)
    }

    var requestSent: RequestSent { sendings == 0 ? .nothing : .some }

    /// The status of the last status line; 0 before there is one.
    private(set) var status: Int32 = 0

    // MARK: - What libcurl tells

    /// libcurl is about to send the request. The second time, it means to send it again on a connection of its own
    /// choosing, since the first one was dead: that is not for it to decide (B13).
    func maySend() -> Bool {
        open()
        touch()
        sendings += 1
        wasVetoed = sendings > 1
        return !wasVetoed
    }

    func receive(header line: UnsafePointer<CChar>, _ count: Int) -> Bool {
        touch()
        if expectsStatusLine {
            // A new message. What a 1xx response had is not the final one's (B7).
            expectsStatusLine = false
            isReadingHead = true
            head.count = 0
            headerLines = 0
            headerBytes = count
            status = easy.map { Int32(clamping: shim_easy_status($0)) } ?? Self.status(line, count) ?? 0
        } else if isReadingHead, count <= 2 {
            isReadingHead = false
            expectsStatusLine = (100..<200).contains(status)
        } else {
            // A header; or, behind the body, a trailer, which is none (RFC 9110, 6.5.1), but has its limits too.
            headerLines += 1
            headerBytes += count
        }
        guard headerLines <= call.settings.maxHeaderLines, headerBytes <= call.settings.maxHeaderBytes else {
            localFailure = .responseTooLarge
            return false
        }
        guard isReadingHead else { return true }
        guard shim_buffer_append(&head, line, count) else {
            localFailure = .outOfMemory
            return false
        }
        return true
    }

    /// The status in a status line, for transports that do not know it.
    private static func status(_ line: UnsafePointer<CChar>, _ count: Int) -> Int32? {
        var text = ByteCursor(start: UnsafeRawPointer(line).assumingMemoryBound(to: UInt8.self), count: count)
        guard text.take("HTTP/") else { return nil }
        while !text.isAtEnd, !text.take(UInt8(ascii: " ")) { _ = text.next() }
        var status: Int32 = 0
        for _ in 0..<3 { status = status * 10 + Int32(text.takeDigit() ?? 0) }
        return status
    }

    func receive(body data: UnsafePointer<CChar>, _ count: Int) -> Bool {
        touch()
        let isWanted = (200..<300).contains(status)
        let room = (isWanted ? call.settings.bodyLimit : call.settings.errorBodyLimit) - body.count
        guard count > room else { return append(data, count) }
        guard isWanted else {
            // An error's body is for people: its beginning will do (B15).
            isBodyCutOff = true
            _ = append(data, room)
            return false
        }
        localFailure = .responseTooLarge
        return false
    }

    private func append(_ data: UnsafePointer<CChar>, _ count: Int) -> Bool {
        guard shim_buffer_append(&body, data, count) else {
            localFailure = .outOfMemory
            return false
        }
        return true
    }

    /// So many bytes of bodies, so far, in both directions.
    func report(moved total: Int64) {
        guard total != moved else { return }
        moved = total
        touch()
    }

    func open() {
        guard !isOpen else { return }
        isOpen = true
        call.engine.opened(self)
    }

    func openSocket(exhausted: Bool) {
        open()
        touch()
        if exhausted { localFailure = .exhausted }
    }

    /// Something moves, at this very moment: the turn of the loop may have begun long ago, and no timeout is early (M5).
    func touch() {
        lastActivity = call.engine.clock.monotonic.nanoseconds
    }

    /// Bytes that the kernel drains to the peer count as moving (M1).
    func lookAtKernel() {
        guard socket >= 0 else { return }
        let unsent = shim_unsent_bytes(socket)
        if unsent != unsentBytes {
            if unsent < unsentBytes { touch() }
            unsentBytes = unsent
        }
    }
}

/// What libcurl calls, for every transfer.
let transferCallbacks = shim_transfer_callbacks(
    may_send: { Transfer.of($0)?.maySend() ?? false },
    header: { transfer, line, count in
        guard let line, let transfer = Transfer.of(transfer) else { return false }
        return transfer.receive(header: line, count)
    },
    body: { transfer, data, count in
        guard let data, let transfer = Transfer.of(transfer) else { return false }
        return transfer.receive(body: data, count)
    },
    moved: { transfer, down, up in Transfer.of(transfer)?.report(moved: down &+ up) },
    opening: { transfer, exhausted in Transfer.of(transfer)?.openSocket(exhausted: exhausted) })

extension Transfer {
    static func of(_ pointer: UnsafeMutableRawPointer?) -> Transfer? {
        pointer.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }
}
