import CShims
import RetryCore

/// What one sending is to be: where it goes, with which header lines, whether it carries the access token, and whether it
/// needs a new connection, or one past the environment's proxies. Made once, by `Engine.plan`, and handed down.
struct AttemptPlan: ~Copyable {
    let target: Target
    /// On a new connection.
    let isFresh: Bool
    /// Past the proxies of the environment (T13).
    let isDirect: Bool
    /// Compressed responses are asked for. Not for a part of a file: a part of a stream cannot be unpacked.
    let isCompressed: Bool
    /// From 1.
    let attemptNumber: Int32
    /// What has to be known of it when the response comes.
    let request: Exchange.Request
    /// Header lines in place of the request's own.
    private let lines: UnsafeMutablePointer<shim_lines>?
    /// The access token's line, before the others; overwritten in the end (T1).
    private let authorization: UnsafeMutablePointer<shim_lines>?
    private let requestLines: UnsafeMutablePointer<shim_lines>

    /// Takes over both kinds of lines.
    init(
        of call: CarriedCall, attemptNumber: Int32, isFresh: Bool, isDirect: Bool,
        renewsToken: Bool,
        lines: UnsafeMutablePointer<shim_lines>?, authorization: UnsafeMutablePointer<shim_lines>?
    ) {
        let target = call.target
        self.lines = lines
        self.authorization = authorization
        requestLines = call.request.ownLines
        self.isFresh = isFresh
        self.isDirect = isDirect
        self.attemptNumber = attemptNumber
        let asksForRest = call.download?.range != nil
        isCompressed = call.settings.isCompressed && !asksForRest && call.request.asksForWhole
        var request = Exchange.Request()
        request.hasBody = target.hasBody
        request.isHead = call.request.isHead
        request.hasSink = call.sink != nil
        request.sinkTakesErrors = call.sink?.takesErrors == true
        request.renewsToken = renewsToken
        request.asksForRest = asksForRest
        request.mayMultiplex = call.settings.httpVersion.mayMultiplex(hasTLS: target.parsedURL.has_tls)
        request.negotiatesHTTP2 = call.settings.httpVersion == .http2 && target.parsedURL.has_tls
        self.request = request
        self.target = target
    }

    deinit {
        shim_header_free_secret(authorization)
        shim_header_free_lines(lines)
    }

    var headerLines: UnsafeMutablePointer<shim_lines> { authorization ?? lines ?? requestLines }

    /// It carries the call's access token (T13).
    var usesToken: Bool { authorization != nil }
}
