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
    var sockets: [Socket] = []
    var connections = ConnectionTable()

    /// What is known of a descriptor, by its number.
    struct Socket {
        /// The transfer that uses it.
        var owner: CurlEasy?
        /// The transfer whose request and response a connection carries that carries one at a time.
        var exchange: CurlEasy?
        /// Whose multi handle it belongs to.
        var group = ConnectionGroup.ordinary
        /// libcurl reported that it opened the socket, and will report its end. (Not for sockets of its resolver.)
        var isTracked = false
        /// What epoll watches it for (SHIM_…); -1: nothing.
        var watched: Int32 = -1
        /// libcurl wants to hear of it.
        var isWanted = false
        /// How often in a row it could be written to, and nothing came; and what shim_sending_mark() returned some of
        /// these before.
        var writes = 0
        var sendingMark: Int64 = -1
        var isMuted = false
    }
    /// Those that are not asked for a while whether they can be written to, and until when.
    private var muted: [Int] = []
    private var mutedUntil = Int64.max
    /// An address has failed them while they were connecting. libcurl before 8.4 takes the next one only when it looks at
    /// the transfer again, and nothing makes it look.
    private var failedByAddress: CurlEasy?
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
        if realNow >= mutedUntil { unmuteAll() }
        if failedByAddress != nil { tryNextAddresses() }
        return handled
    }

    func runDue() {
        if nextDue <= realNow { runTimeouts() }
        if failedByAddress != nil { tryNextAddresses() }
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
        while let easy = failedByAddress {
            failedByAddress = easy.nextFailedByAddress
            easy.nextFailedByAddress = nil
            easy.isFailedByAddress = false
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
            return forget(index)
        }
        guard let multi = multis[Int(sockets[index].group.rawValue)] else { return forget(index) }
        shim_multi_ready(multi, event.descriptor, event.what)
        if let owner, owner.sendings != sendings { owner.transfer?.wasSent() }
        if let owner, isLookup { owner.looksUp() }
        if event.what == Int32(SHIM_WRITABLE) { return wasWritable(index) }
        sockets[index].writes = 0
        if sockets[index].isMuted { unmute(index) }
    }

    // MARK: - Uploads that stand still

    // While the server's HTTP/2 window is closed, libcurl before 8.5 (tried: 7.88) keeps asking whether the socket is
    // writable. It is, each time, and libcurl writes nothing.
    private static let writesBetweenLooks = 32
    private static let writesAfterMute = 4
    private static let muteTime: Int64 = 10_000_000

    private func wasWritable(_ index: Int) {
        sockets[index].writes += 1
        guard sockets[index].writes % Self.writesBetweenLooks == 0 else { return }
        let mark = shim_sending_mark(Int32(index))
        defer { sockets[index].sendingMark = mark }
        guard mark >= 0, mark == sockets[index].sendingMark, sockets[index].watched >= 0 else { return }
        sockets[index].isMuted = true
        muted.append(index)
        mutedUntil = min(mutedUntil, realNow + Self.muteTime)
        _ = shim_epoll_watch(epoll, Int32(index), Int32(SHIM_READABLE), false)
    }

    private func unmuteAll() {
        mutedUntil = .max
        for index in muted where sockets[index].isMuted {
            sockets[index].writes = Self.writesBetweenLooks - Self.writesAfterMute
            unmute(index)
        }
        muted.clear()
    }

    private func unmute(_ index: Int) {
        sockets[index].isMuted = false
        guard sockets[index].watched >= 0 else { return }
        _ = shim_epoll_watch(epoll, Int32(index), sockets[index].watched, false)
    }

    /// For so long there is nothing to do by itself, in nanoseconds.
    private func restingTime(_ nanoseconds: Int64) -> Int64 {
        let next = min(nextDue, mutedUntil)
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

    /// Nil: libcurl has no socket yet, and says -1 (W2).
    private func socket(_ descriptor: Int32) -> Int? {
        guard descriptor >= 0 else { return nil }
        let index = Int(descriptor)
        while sockets.count <= index { sockets.append(Socket()) }
        return index
    }

    /// Between two requests a connection stays with epoll, since the next one is likely to follow.
    fileprivate func watch(_ group: ConnectionGroup, _ easy: CurlEasy?, _ descriptor: Int32, _ what: Int32) {
        guard let index = socket(descriptor) else { return }
        sockets[index].group = group
        sockets[index].isWanted = what != 0
        if what == 0 {
            // One that lost against a connection to another address of the host is not the one in use.
            if let owner = sockets[index].owner {
                if owner.socket == descriptor { owner.socket = -1 }
                if let transfer = owner.transfer, transfer.isConnecting, transfer.isOpen, !owner.isFailedByAddress,
                    shim_curl_forgets_next_address()
                {
                    owner.isFailedByAddress = true
                    owner.nextFailedByAddress = failedByAddress
                    failedByAddress = owner
                }
            }
            sockets[index].owner = nil
            if !sockets[index].isTracked { forget(index) }
            return
        }
        sockets[index].owner = easy
        easy?.socket = descriptor
        if !sockets[index].isTracked { easy?.looksUp() }
        guard sockets[index].watched != what else { return }
        _ = shim_epoll_watch(epoll, descriptor, what, sockets[index].watched < 0)
        sockets[index].watched = what
        sockets[index].isMuted = false
    }

    private func forget(_ index: Int) {
        guard sockets[index].watched >= 0 else { return }
        shim_epoll_forget(epoll, Int32(index))
        sockets[index].watched = -1
    }

    /// A socket is new, or about to be closed, which takes it out of epoll.
    fileprivate func changed(_ easy: CurlEasy?, _ descriptor: Int32, isOpen: Bool) {
        guard let index = socket(descriptor) else { return }
        if isOpen { easy?.openedSockets.append(descriptor) } else { forget(index) }
        connections.remove(descriptor)
        sockets[index].owner = nil
        sockets[index].exchange = nil
        sockets[index].isTracked = isOpen
        sockets[index].watched = -1
        sockets[index].isMuted = false
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
            CurlEasy.lent(easy) { transport.watch(group, $0, descriptor, what) }
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
