import CShims

/// Which version of HTTP a call is to speak.
public enum HTTPVersion: Int32 {
    case http1 = 1
    /// Over TLS, where the server offers it.
    case http2 = 2
    case http2PriorKnowledge = 3

    /// Whether several requests may share a connection.
    func mayMultiplex(hasTLS: Bool) -> Bool {
        switch self {
        case .http1: return false
        case .http2: return hasTLS
        case .http2PriorKnowledge: return true
        }
    }

    /// Without TLS, libcurl must not hear of HTTP/2: once an answer has claimed it, libcurl before 8.10 would send a request on a
    /// connection that is busy with another one (`IsMultiplexingPossible` in lib/url.c; W1).
    func wanted(hasTLS: Bool) -> Int32 {
        switch self {
        case .http1: return Int32(SHIM_HTTP_1_1)
        case .http2: return Int32(hasTLS ? SHIM_HTTP_2_OVER_TLS : SHIM_HTTP_1_1)
        case .http2PriorKnowledge: return Int32(SHIM_HTTP_2_PRIOR_KNOWLEDGE)
        }
    }
}
