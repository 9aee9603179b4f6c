import CShims

/// The sockets of a transport: who uses each, and what epoll watches it for.
struct SocketTable {
    /// What is known of a descriptor.
    struct Socket {
        /// The transfer that uses it.
        var owner: CurlEasy?
        /// The transfer whose request and response a connection carries that carries one at a time.
        var exchange: CurlEasy?
        /// Whose multi handle it belongs to.
        var group = ConnectionGroup.ordinary
        /// libcurl reported that it opened the socket, and will report its end. (Not for sockets of its resolver.)
        var isTracked = false
        /// libcurl wants to hear of it.
        var isWanted = false
        /// What epoll watches it for (SHIM_…); -1: nothing.
        fileprivate var watched: Int32 = -1
        /// How often in a row it could be written to, and nothing came; and what shim_sending_mark() returned some of
        /// these before.
        fileprivate var writes = 0
        fileprivate var sendingMark: Int64 = -1
        fileprivate var isMuted = false
    }

    private let epoll: Int32
    /// By descriptor.
    private var sockets: [Socket] = []
    /// Those that are not asked for a while whether they can be written to, and until when.
    private var muted: [Int] = []
    private(set) var mutedUntil = Int64.max
    /// An address has failed them while they were connecting. libcurl before 8.4 takes the next one only when it looks at
    /// the transfer again, and nothing makes it look.
    private var failedByAddress: CurlEasy?

    /// It does not own that epoll descriptor.
    init(_ epoll: Int32) {
        self.epoll = epoll
    }

    var indices: Range<Int> { sockets.indices }

    subscript(index: Int) -> Socket {
        @inline(__always) _read { yield sockets[index] }
        @inline(__always) _modify { yield &sockets[index] }
    }

    // MARK: - Reports of libcurl

    /// Nil: libcurl has no socket yet, and says -1 (W2).
    private mutating func index(of descriptor: Int32) -> Int? {
        guard descriptor >= 0 else { return nil }
        let index = Int(descriptor)
        while sockets.count <= index { sockets.append(Socket()) }
        return index
    }

    /// libcurl wants to hear of a socket (SHIM_…), or no longer (0). Between two requests a connection stays with epoll,
    /// since the next one is likely to follow.
    mutating func watch(_ group: ConnectionGroup, _ easy: CurlEasy?, _ descriptor: Int32, _ what: Int32) {
        guard let index = index(of: descriptor) else { return }
        sockets[index].group = group
        sockets[index].isWanted = what != 0
        if what == 0 {
            if let owner = sockets[index].owner { wasLeft(by: owner, descriptor) }
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

    private mutating func wasLeft(by owner: CurlEasy, _ descriptor: Int32) {
        // One that lost against a connection to another address of the host is not the one in use.
        if owner.socket == descriptor { owner.socket = -1 }
        if let transfer = owner.transfer, transfer.isConnecting, transfer.isOpen, !owner.isFailedByAddress,
            shim_curl_forgets_next_address()
        {
            owner.isFailedByAddress = true
            owner.nextFailedByAddress = failedByAddress
            failedByAddress = owner
        }
    }

    /// A socket is new, or about to be closed, which takes it out of epoll.
    mutating func changed(_ descriptor: Int32, isOpen: Bool) {
        guard let index = index(of: descriptor) else { return }
        if !isOpen { forget(index) }
        sockets[index].owner = nil
        sockets[index].exchange = nil
        sockets[index].isTracked = isOpen
        sockets[index].watched = -1
        sockets[index].isMuted = false
    }

    /// epoll does not watch it any more.
    mutating func forget(_ index: Int) {
        guard sockets[index].watched >= 0 else { return }
        shim_epoll_forget(epoll, Int32(index))
        sockets[index].watched = -1
    }

    /// The next one that has to look at its other addresses.
    mutating func takeFailedByAddress() -> CurlEasy? {
        guard let easy = failedByAddress else { return nil }
        failedByAddress = easy.nextFailedByAddress
        easy.nextFailedByAddress = nil
        easy.isFailedByAddress = false
        return easy
    }

    // MARK: - Uploads that stand still

    // While the server's HTTP/2 window is closed, libcurl before 8.5 (tried: 7.88) keeps asking whether the socket is
    // writable. It is, each time, and libcurl writes nothing.
    private static let writesBetweenLooks = 32
    private static let writesAfterMute = 4
    private static let muteTime: Int64 = 10_000_000

    /// Nothing else has happened to it. `now`: of CLOCK_MONOTONIC.
    mutating func wasWritable(_ index: Int, at now: Int64) {
        sockets[index].writes += 1
        guard sockets[index].writes % Self.writesBetweenLooks == 0 else { return }
        let mark = shim_sending_mark(Int32(index))
        defer { sockets[index].sendingMark = mark }
        guard mark >= 0, mark == sockets[index].sendingMark, sockets[index].watched >= 0 else { return }
        sockets[index].isMuted = true
        muted.append(index)
        mutedUntil = min(mutedUntil, now + Self.muteTime)
        _ = shim_epoll_watch(epoll, Int32(index), Int32(SHIM_READABLE), false)
    }

    /// Something came.
    mutating func moved(_ index: Int) {
        sockets[index].writes = 0
        if sockets[index].isMuted { unmute(index) }
    }

    mutating func unmuteAll() {
        mutedUntil = .max
        for index in muted where sockets[index].isMuted {
            sockets[index].writes = Self.writesBetweenLooks - Self.writesAfterMute
            unmute(index)
        }
        muted.clear()
    }

    private mutating func unmute(_ index: Int) {
        sockets[index].isMuted = false
        guard sockets[index].watched >= 0 else { return }
        _ = shim_epoll_watch(epoll, Int32(index), sockets[index].watched, false)
    }
}
