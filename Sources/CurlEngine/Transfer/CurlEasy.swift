import CShims
import RetryCore

/// What a handle reports to its transport.
protocol CurlEasyTransport: AnyObject {
    /// Takes a transfer away from libcurl. `isReusable`: all went well, and the handle has nothing left of it.
    func remove(_ easy: CurlEasy, isReusable: Bool)
}

/// A handle of libcurl's, which carries one transfer after another, and what its transport knows of the present one. Only the
/// holder of the loop uses it; any thread may release the last reference.
final class CurlEasy: Carrier {
    let handle: OpaquePointer
    /// The handle belongs to a form, which sends nothing else.
    let isForm: Bool
    /// What it carries. The transfer keeps this handle meanwhile, and its call keeps the transfer.
    private(set) var carried: Unmanaged<Transfer>?
    /// It outlives what it has of libcurl.
    private unowned(unsafe) let transport: any CurlEasyTransport
    var transfer: Transfer? { carried?.takeUnretainedValue() }
    /// See `Transfer.sendings`; nil: it carries nothing.
    var sendings: Int? { carried?._withUnsafeGuaranteedRef { $0.sendings } }
    /// What libcurl has the method and the URL of.
    var lastTarget: Target?
    /// Whose connections it may use.
    private(set) var group = ConnectionGroup.ordinary
    /// What libcurl has opened for it, open or closed by now.
    var openedSockets: [Int32] = []
    /// The connection that carries this exchange alone; -1: none.
    var occupiedSocket: Int32 = -1
    /// The key of the connection that carries it beside others; 0: none.
    var sharedConnection: UInt64 = 0
    /// The socket in use; -1 if there is none.
    var socket: Int32 = -1
    private var unsentBytes: Int32 = 0
    /// In the transport's list of those whose next address is to be tried.
    var isFailedByAddress = false
    var nextFailedByAddress: CurlEasy?

    init(_ handle: OpaquePointer, of transport: any CurlEasyTransport, isForm: Bool) {
        self.handle = handle
        self.transport = transport
        self.isForm = isForm
    }

    /// Once the process exits, its memory goes with it (W8).
    deinit {
        guard !isForm, shim_libcurl_enter() else { return }
        shim_easy_free(handle)
        shim_libcurl_leave()
    }

    // MARK: - A transfer

    func begin(_ transfer: Transfer, _ group: ConnectionGroup) {
        self.group = group
        carried = Unmanaged.passUnretained(transfer)
        transfer.carrier = self
        openedSockets.clear()
        occupiedSocket = -1
        socket = -1
        unsentBytes = 0
    }

    func resume() {
        shim_easy_resume(handle)
    }

    func end() {
        carried?._withUnsafeGuaranteedRef { transfer in
            transfer.report.http_version = transfer.call.attempt.exchange.httpVersion
            shim_easy_report(handle, transfer.isWhole, transfer.target.hasBody, &transfer.report)
            // A handle keeps the system's error: that of one address, although another one was connected to.
            let isReusable = transfer.isWhole && transfer.report.system_error == 0
            transport.remove(self, isReusable: isReusable)
            carried = nil
            transfer.carrier = nil
        }
    }

    var hasSentAll: Bool {
        guard let transfer, shim_easy_head_sent(handle) > 0 else { return false }
        guard transfer.target.hasBody else { return true }
        let length = transfer.call.request.bodyLength ?? shim_easy_body_length(handle)
        return length < 0 ? transfer.isBodyRead : shim_easy_body_sent(handle) >= length
    }

    func hasDrained() -> Bool {
        guard socket >= 0 else { return false }
        let unsent = shim_unsent_bytes(socket)
        // Until a host name is resolved, this may be an eventfd, which has no queue.
        guard unsent >= 0 else { return false }
        defer { unsentBytes = unsent }
        return unsent < unsentBytes
    }

    func read(_ written: StatusLine) -> StatusLine {
        StatusLine(
            status: Int32(clamping: shim_easy_status(handle)),
            version: written.version > 0 ? written.version : shim_easy_http_version(handle))
    }

    func listenForRefusals(_ listens: Bool) {
        shim_easy_listen(handle, listens)
    }

    func ignoreLength() {
        shim_easy_ignore_length(handle)
    }
}
