/// What bounds the size of a response.
enum ResponseLimit {
    case headerLines
    case headerBytes
    case body
    /// libcurl's own, of a header line.
    case libcurl

    var reason: FailureReason {
        switch self {
        case .headerLines: FailureReason("max_response_headers", .words("there are more header lines"))
        case .headerBytes: FailureReason("max_response_header_bytes", .words("the header lines are longer"))
        case .body: FailureReason("body_limit", .words("the body is longer"))
        case .libcurl: FailureReason(nil, .words("a header line is longer than libcurl takes"))
        }
    }
}
