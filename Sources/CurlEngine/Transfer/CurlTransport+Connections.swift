import CShims
import RetryCore

extension CurlTransport {
    func group(of transfer: Transfer) -> ConnectionGroup {
        let parsedURL = transfer.target.parsedURL
        switch transfer.call.settings.httpVersion {
        case .http1: return .ordinary
        case .http2PriorKnowledge: return .priorKnowledge
        case .http2:
            // In a Unix domain socket connections have no addresses to tell them apart by.
            guard parsedURL.has_tls, shim_tls_is_readable(), settings.unixSocket == nil else {
                return parsedURL.has_tls ? .serial : .ordinary
            }
            return origins.protocols.versions(of: parsedURL, .http2) == .mixed ? .serial : .ordinary
        }
    }

    /// Whether the attempt gets a connection that no other attempt uses, before or after it: with prior knowledge,
    /// where nothing knows what the connection speaks, or where libcurl cannot use it again.
    func isAlone(_ transfer: Transfer) -> Bool {
        guard transfer.call.settings.httpVersion == .http2PriorKnowledge else { return false }
        guard !transfer.target.parsedURL.has_tls else { return !shim_tls_is_readable() }
        return shim_curl_breaks_h2c() || mayBeProxied(transfer)
    }

    func mayBeProxied(_ transfer: Transfer) -> Bool {
        guard !transfer.plan.isDirect else { return false }
        return settings.proxy.map { $0.pointee != 0 } ?? environmentHasProxy
    }

    private func agreed(_ connection: shim_connection, _ transfer: Transfer) -> ConnectionProtocol {
        let hasPriorKnowledge = transfer.call.settings.httpVersion == .http2PriorKnowledge
        guard transfer.target.parsedURL.has_tls else {
            guard hasPriorKnowledge else { return .http1 }
            return mayBeProxied(transfer) ? .unknown : .http2  // libcurl speaks HTTP/1.1 to a proxy.
        }
        switch Int(connection.alpn) {
        case SHIM_ALPN_HTTP2: return .http2
        case SHIM_ALPN_NONE: return hasPriorKnowledge ? .http2 : .http1
        case SHIM_ALPN_OTHER: return .http1
        default: return .unknown
        }
    }

    /// libcurl is about to send the request on that connection.
    func maySend(_ easy: CurlEasy, _ connection: shim_connection) -> Bool {
        easy.carried?._withUnsafeGuaranteedRef { maySend($0, on: easy, connection) } ?? false
    }

    private func maySend(_ transfer: Transfer, on easy: CurlEasy, _ connection: shim_connection) -> Bool {
        let agreed = agreed(connection, transfer)
        let problem = agreed == .http2 ? problemOfShared(connection, easy) : occupy(connection, easy)
        guard transfer.maySend(over: agreed, problem) else { return false }
        if agreed == .http2 { connections.carry(connection.key) }
        return true
    }

    /// libcurl 8.22 and newer offers a connection that it has used within the last second without a look at its socket.
    private func problemOfShared(_ connection: shim_connection, _ easy: CurlEasy) -> ConnectionProblem? {
        guard shim_curl_is_at_least(0x081600) else { return nil }
        if !connection.is_reused {
            _ = opened(connection, for: easy)
        } else if isShareStale(connection) {
            // A transfer that fails does not close a connection that others could share.
            shim_easy_close_connection(easy.handle)
            return .stale
        }
        connections.leave(easy.sharedConnection)
        easy.sharedConnection = connection.key
        connections.join(connection.key)
        return nil
    }

    /// While a connection is unused, its server may send frames about the connection, but has little reason to: whether
    /// the unread bytes are frames is not known, so another connection is made. If nothing was sent on the connection,
    /// they are the settings with which a server begins.
    private func isShareStale(_ connection: shim_connection) -> Bool {
        guard let descriptor = connections.descriptor(of: connection.key) else { return false }
        guard connections.hasCarried(connection.key), !connections.isInUse(connection.key) else {
            return shim_socket_is_closed(descriptor)
        }
        return connection.has_unread_tls || !shim_socket_is_quiet(descriptor)
    }

    /// Takes a connection that carries one request at a time.
    private func occupy(_ connection: shim_connection, _ easy: CurlEasy) -> ConnectionProblem? {
        guard connection.is_reused else {
            if let index = opened(connection, for: easy) { occupy(index, easy) }
            return nil
        }
        if connection.has_unread_tls { return .stale }
        guard let descriptor = connections.descriptor(of: connection.key) else {
            guard settings.unixSocket != nil else { return .unidentified }
            return areIdleSocketsQuiet ? nil : .stale
        }
        let index = Int(descriptor)
        guard sockets.indices.contains(index) else { return .unidentified }
        if let other = sockets[index].exchange, other !== easy { return .busy }
        guard shim_socket_is_quiet(descriptor) else { return .stale }
        occupy(index, easy)
        return nil
    }

    /// Remembers the socket of a connection that was opened for this transfer. libcurl may have tried several addresses
    /// at once; the port of this end says which socket was the first.
    private func opened(_ connection: shim_connection, for easy: CurlEasy) -> Int? {
        for descriptor in easy.openedSockets.reversed() {
            let index = Int(descriptor)
            guard sockets.indices.contains(index), sockets[index].isTracked else { continue }
            guard shim_socket_local_port(descriptor) == max(connection.local_port, 0) else { continue }
            connections.add(connection.key, descriptor)
            return index
        }
        return nil
    }

    private func occupy(_ index: Int, _ easy: CurlEasy) {
        sockets[index].exchange = easy
        easy.occupiedSocket = Int32(truncatingIfNeeded: index)
    }

    /// The attempt is over.
    func vacate(_ easy: CurlEasy) {
        connections.leave(easy.sharedConnection)
        easy.sharedConnection = 0
        let index = Int(easy.occupiedSocket)
        if sockets.indices.contains(index), sockets[index].exchange === easy { sockets[index].exchange = nil }
    }

    private var areIdleSocketsQuiet: Bool {
        for index in sockets.indices
        where sockets[index].isTracked && sockets[index].owner == nil && sockets[index].exchange == nil {
            guard shim_socket_is_quiet(Int32(truncatingIfNeeded: index)) else { return false }
        }
        return true
    }
}
