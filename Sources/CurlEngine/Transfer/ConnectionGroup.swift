/// Transfers that may use each other's connections, in a multi handle of their own (W1). libcurl before 8.10 decides by host
/// and port alone whether requests can share a connection (`multiuse` of a bundle in lib/conncache.c); newer versions decide
/// it for each connection.
enum ConnectionGroup: Int32, CaseIterable {
    /// HTTP/1.1, and HTTP/2 where ALPN selects it.
    case ordinary = 0
    /// No connection carries two requests at once, in any version of HTTP.
    case serial = 1
    /// HTTP/2 without asking the server.
    case priorKnowledge = 2
}
