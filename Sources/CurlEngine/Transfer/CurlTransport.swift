import CShims
import RetryCore

/// libcurl, driven by its sockets: `curl_multi_socket_action` over epoll.
final class CurlTransport: Transport, CurlEasyTransport {
    /// The number of handles that are kept for the next attempts, or as many as are in use.
    private static let leastIdleHandles = 64

    let settings: TransportSettings
    private let time: LoopClock
    private var realNow: Int64 { time.realNow }
    let origins: KnownOrigins
    /// When the client was made: what others write into the environment later is not to be read on the loop.
    let environmentHasProxy: Bool
    private let epoll: Int32
    private let wakeup: Int32
    /// The events that epoll reports.
    private let ready = UnsafeMutablePointer<shim_ready>.allocate(capacity: TransportWait.mostEvents)
    /// Makes `epoll` readable while no thread waits; -1: not needed so far. And when it expires.
    private var timer: Int32 = -1
    private var alarm = Int64.max
    /// By group; nil until the first transfer of that group.
    private var multis: [3 of OpaquePointer?] = .init(repeating: nil)
    private var idleHandles: [CurlEasy] = []
    private var usedHandles = 0
    var sockets: SocketTable
    var connections = ConnectionTable()
    /// When the multi handle of each group wants to be called although no socket is ready; `Int64.max`: never.
    private var dues: [3 of Int64] = .init(repeating: .max)
    /// The earliest of them.
    private var nextDue = Int64.max

    /// The owner of the settings outlives it.
    init(settings: TransportSettings, time: LoopClock, origins: KnownOrigins) {
        self.settings = settings
        self.time = time
        self.origins = origins
        environmentHasProxy = shim_environment_has_proxy()
        epoll = shim_epoll_new()
        sockets = SocketTable(epoll)
        wakeup = shim_eventfd_new()
    }

    /// Before anything else.
    func setUp() throws(TransportSetupFailure) {
        var transfers = transferCallbacks
        guard shim_curl_setup(&transfers) else { throw .exhausted }
        guard epoll >= 0, wakeup >= 0, shim_epoll_watch(epoll, wakeup, Int32(SHIM_READABLE), true),
            shim_epoll_watch(epoll, shim_exit_descriptor(), Int32(SHIM_READABLE), true)
        else { throw .exhausted }
        guard multi(of: .ordinary) != nil else { throw .outOfMemory }
    }

    /// Nil: out of memory.
    private func multi(of group: ConnectionGroup) -> OpaquePointer? {
        let index = Int(group.rawValue)
        if let multi = multis[index] { return multi }
        var callbacks = multiCallbacks
        multis[index] = shim_multi_new(
            &callbacks, settings.maxTransfers, group != .serial, group.rawValue,
            Unmanaged.passUnretained(self).toOpaque())
        return multis[index]
    }

    deinit {
        ready.deallocate()
        // Once the process exits, its memory goes with it.
        guard shim_libcurl_enter() else { return }
        for index in multis.indices { shim_multi_free(multis[index]) }
        idleHandles = []
        shim_libcurl_leave()
        shim_close(epoll)
        shim_close(wakeup)
        shim_close(timer)
    }

    // MARK: - Transfers

    func makeForm() -> MultipartSource? { makeHandle().map { MultipartSource($0) } }

    /// A handle that is set up for this engine. Nil: no memory, or a setting that libcurl does not take.
    private func makeHandle() -> OpaquePointer? {
        var easySettings = settings.easySettings
        easySettings.environment_has_none = !environmentHasProxy
        return shim_easy_new(multi(of: .ordinary), &easySettings)
    }

    func begin(_ transfer: Transfer) -> LocalFailure? {
        guard let easy = takeEasy(for: transfer) else { return .outOfMemory }
        easy.begin(transfer, group(of: transfer))
        return add(easy, transfer)
    }

    private func takeEasy(for transfer: Transfer) -> CurlEasy? {
        if transfer.target.hasBody, let form = transfer.call.request.form {
            return form.handle.map { CurlEasy($0, of: self, isForm: true) }
        }
        let easy = idleHandles.popLast() ?? makeHandle().map { CurlEasy($0, of: self, isForm: false) }
        if easy != nil { usedHandles += 1 }
        return easy
    }

    /// Gives libcurl a transfer.
    private func add(_ easy: CurlEasy, _ transfer: Transfer) -> LocalFailure? {
        guard let multi = multi(of: easy.group) else { return .outOfMemory }
        var attempt = transfer.attempt()
        attempt.alone = isAlone(transfer)
        attempt.tunneled = transfer.target.parsedURL.has_tls && mayBeProxied(transfer)
        attempt.multiplexed = attempt.multiplexed && easy.group != .serial
        attempt.same_place = easy.lastTarget === transfer.target
        let prepared = shim_easy_prepare(easy.handle, &attempt, Unmanaged.passUnretained(easy).toOpaque())
        guard prepared == CURLE_OK else {
            easy.lastTarget = nil
            return failure(prepared)
        }
        if !attempt.same_place { easy.lastTarget = transfer.target }
        settings.onTransfer?(shim_easy_handle(easy.handle))
        let added = shim_multi_add(multi, easy.handle)
        return added == CURLE_OK ? nil : failure(added)
    }

    private func failure(_ code: CURLcode) -> LocalFailure { code == CURLE_OUT_OF_MEMORY ? .outOfMemory : .setting }

    func remove(_ easy: CurlEasy, isReusable: Bool) {
        if let multi = multis[Int(easy.group.rawValue)] { shim_multi_remove(multi, easy.handle) }
        shim_easy_forget(easy.handle)
        vacate(easy)
        // A connection that others use as well lives on.
        let index = Int(easy.socket)
        if sockets.indices.contains(index), sockets[index].owner === easy { sockets[index].owner = nil }
        guard !easy.isForm else { return }
        usedHandles -= 1
        // What the caller may have set on a handle is for one transfer. And libcurl refuses to change some settings of a
        // handle whose look-up has failed, as if it were still at it.
        guard settings.onTransfer == nil, isReusable else { return }
        idleHandles.append(easy)
        while idleHandles.count > max(usedHandles, Self.leastIdleHandles) { _ = idleHandles.popLast() }
    }

    func wait(nanoseconds: Int64) -> Int {
        let timeout = timeoutMilliseconds(nanoseconds)
        shim_libcurl_rest()
        let count = shim_epoll_wait(epoll, ready, Int32(TransportWait.mostEvents), timeout)
        shim_libcurl_resume()
        time.waitEnded()
        var handled = 0
        for index in 0..<Int(count) {
            let event = ready[index]
            if index > 0 { time.read() }
            if event.descriptor == wakeup {
                shim_eventfd_clear(wakeup)
            } else if event.descriptor == timer {
                shim_eventfd_clear(timer)
                alarm = .max
            } else {
                handle(event)
                handled += 1
            }
        }
        if realNow >= sockets.mutedUntil { sockets.unmuteAll() }
        tryNextAddresses()
        return handled
    }

    func runDue() {
        if nextDue <= realNow { runTimeouts() }
        tryNextAddresses()
    }

    private func runTimeouts() {
        for index in dues.indices where dues[index] <= realNow {
            setDue(index, .max)
            if let multi = multis[index] { shim_multi_timeout(multi) }
        }
    }

    private func setDue(_ index: Int, _ due: Int64) {
        dues[index] = due
        nextDue = min(dues[0], min(dues[1], dues[2]))
    }

    private func tryNextAddresses() {
        while let easy = sockets.takeFailedByAddress() {
            if easy.transfer?.isConnecting == true { easy.resume() }
        }
    }

    private func handle(_ event: shim_ready) {
        let index = Int(event.descriptor)
        guard sockets.indices.contains(index) else { return }
        let owner = sockets[index].owner
        let sendings = owner?.sendings
        let isLookup = !sockets[index].isTracked
        if let owner {
            owner.touchConnection()
            if isLookup { owner.mayConnect() }
        } else if !sockets[index].isWanted {
            // An unused connection: libcurl will see for itself. Without this, the loop would get its events forever.
            return sockets.forget(index)
        }
        guard let multi = multis[Int(sockets[index].group.rawValue)] else { return sockets.forget(index) }
        shim_multi_ready(multi, event.descriptor, event.what)
        if let owner, owner.sendings != sendings { owner.transfer?.wasSent() }
        if let owner, isLookup { owner.looksUp() }
        if event.what == Int32(SHIM_WRITABLE) {
            sockets.wasWritable(index, at: realNow)
        } else {
            sockets.moved(index)
        }
    }

    /// For so long there is nothing to do by itself, in nanoseconds.
    private func restingTime(_ nanoseconds: Int64) -> Int64 {
        let next = min(nextDue, sockets.mutedUntil)
        return min(nanoseconds, next == .max ? .max : max(next - realNow, 0))
    }

    /// Rounded up, so that no timer is early (M5), and at most an hour.
    private func timeoutMilliseconds(_ nanoseconds: Int64) -> Int32 {
        let wait = restingTime(nanoseconds)
        return Int32(clamping: min(wait / 1_000_000 + (wait % 1_000_000 > 0 ? 1 : 0), 3_600_000))
    }

    func takeEnded() -> EndedTransfer? {
        for index in multis.indices {
            var code = CURLE_OK
            guard let multi = multis[index], let ended = shim_multi_next_ended(multi, &code) else { continue }
            let easy = Unmanaged<CurlEasy>.fromOpaque(ended)
            if let ended = easy._withUnsafeGuaranteedRef({ self.ended($0, code) }) { return ended }
        }
        return nil
    }

    private func ended(_ easy: CurlEasy, _ code: CURLcode) -> EndedTransfer? {
        easy.carried?._withUnsafeGuaranteedRef { ended($0, on: easy, code) }
    }

    private func ended(_ transfer: Transfer, on easy: CurlEasy, _ code: CURLcode) -> EndedTransfer {
        transfer.isWhole = code == CURLE_OK
        guard code != CURLE_OK else { return EndedTransfer(transfer: transfer, end: .done, code: 0) }
        // libcurl 8.0 and newer (tried up to 8.22) uses a connection again on which HTTP/2 has failed, and fails again.
        if code == CURLE_HTTP2 { shim_easy_break_connection(easy.handle) }
        let end = transportEnd(code, of: transfer, easy)
        if end == .local(.setting) { transfer.failureReason = reasonOfSetting(code, settings) }
        return EndedTransfer(transfer: transfer, end: end, code: Int32(code.rawValue))
    }

    func wake() {
        shim_eventfd_signal(wakeup)
    }

    var descriptor: Int32 { epoll }

    func setAlarm(nanoseconds: Int64) {
        let wait = restingTime(nanoseconds)
        let due = wait == .max ? .max : realNow + wait
        guard due != alarm else { return }
        if timer < 0 {
            timer = shim_timerfd_new()
            if timer >= 0, !shim_epoll_watch(epoll, timer, Int32(SHIM_READABLE), true) {
                shim_close(timer)
                timer = -1
            }
        }
        guard timer >= 0 else { return wake() }  // The program polls all the time.
        alarm = due
        shim_timerfd_set(timer, due)
    }

    func watch(guest descriptor: Int32, _ isWatched: Bool) {
        if isWatched {
            _ = shim_epoll_watch(epoll, descriptor, Int32(SHIM_READABLE), true)
        } else {
            shim_epoll_forget(epoll, descriptor)
        }
    }

    // MARK: - Reports of libcurl

    /// A socket is new, or about to be closed.
    fileprivate func changed(_ easy: CurlEasy?, _ descriptor: Int32, isOpen: Bool) {
        if isOpen { easy?.openedSockets.append(descriptor) }
        connections.remove(descriptor)
        sockets.changed(descriptor, isOpen: isOpen)
    }

    fileprivate func setTimer(_ group: ConnectionGroup, milliseconds: Int) {
        setDue(
            Int(group.rawValue),
            milliseconds < 0 ? .max : realNow + Int64(min(milliseconds, 3_600_000)) * 1_000_000)
    }
}

private let multiCallbacks = shim_multi_callbacks(
    watch: { transport, group, easy, descriptor, what in
        guard let group = ConnectionGroup(rawValue: group) else { return }
        CurlTransport.with(transport, otherwise: ()) { transport in
            CurlEasy.lent(easy) { transport.sockets.watch(group, $0, descriptor, what) }
        }
    },
    set_timer: { transport, group, milliseconds in
        guard let group = ConnectionGroup(rawValue: group) else { return }
        CurlTransport.with(transport, otherwise: ()) { $0.setTimer(group, milliseconds: milliseconds) }
    },
    changed: { transport, easy, descriptor, isOpen in
        CurlTransport.with(transport, otherwise: ()) { transport in
            CurlEasy.lent(easy) { transport.changed($0, descriptor, isOpen: isOpen) }
        }
    },
    may_send: { transport, easy, connection in
        guard let easy, let connection else { return false }
        return CurlTransport.with(transport, otherwise: false) { transport in
            Unmanaged<CurlEasy>.fromOpaque(easy)._withUnsafeGuaranteedRef { transport.maySend($0, connection.pointee) }
        }
    })

extension CurlTransport {
    /// The transport that a callback of libcurl is about. Not retained: it outlives the pointers that libcurl has.
    @inline(__always)
    fileprivate static func with<Result>(
        _ pointer: UnsafeMutableRawPointer?, otherwise: Result, _ body: (CurlTransport) -> Result
    ) -> Result {
        guard let pointer else { return otherwise }
        return Unmanaged<CurlTransport>.fromOpaque(pointer)._withUnsafeGuaranteedRef(body)
    }
}
