import RetryCore

extension ResponseLimit {
    var reason: FailureReason {
        switch self {
        case .headerLines: FailureReason("max_response_headers", .words("there are more header lines"))
        case .headerBytes: FailureReason("max_response_header_bytes", .words("the header lines are longer"))
        case .body: FailureReason("body_limit", .words("the body is longer"))
        case .transport: FailureReason(nil, .words("the header lines are more or longer than libcurl takes"))
        }
    }
}
