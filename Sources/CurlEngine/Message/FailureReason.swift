import CShims
import RetryCore

/// What exactly has failed on this machine, for the error detail: which argument, and why. No secret is in it (T1).
public struct FailureReason {
    public enum Why {
        case words(StaticString)
        /// As of shim_file.h.
        case system(Int32)
        /// A static text of the transport or its TLS library.
        case text(UnsafePointer<CChar>)
        /// A proxy refused to connect, with that status of its answer to CONNECT; 0: in another way. The call's result has
        /// its name.
        case proxy(status: Int32)
    }

    public let argument: StaticString?
    /// Of several arguments; -1: there is only one.
    public let index: Int64
    public let field: StaticString?
    public let why: Why

    public init(_ argument: StaticString?, index: Int64 = -1, _ field: StaticString?, _ why: Why) {
        self.argument = argument
        self.index = index
        self.field = field
        self.why = why
    }

    public init(_ field: StaticString?, _ why: Why) {
        self.init(nil, field, why)
    }

    /// Why an attempt ended in an exception of that cause, where there is more to say than the cause; nil: nothing.
    init?(of cause: NetworkExceptionCause, _ end: TransportEnd, _ report: shim_report, isFramed: Bool) {
        switch (cause, end) {
        case (.connect, .timedOut): self.init("connect_timeout_ms", .words("connecting timed out"))
        case (.connect, .refusedByProxy(let status)): self.init(nil, .proxy(status: status))
        case (.connect, _) where report.system_error != 0: self.init(nil, .system(report.system_error))
        case (.tls, _):
            guard let problem = report.tls_problem else { return nil }
            self.init(report.is_proxy_tls ? "proxy" : nil, .text(problem))
        case (.protocol, _) where !isFramed || report.has_bad_framing:
            self.init("response", .words("Content-Length or Transfer-Encoding cannot be used"))
        default: return nil
        }
    }

    /// Static; for a proxy there is none.
    public var text: UnsafePointer<CChar> {
        switch why {
        case .words(let words): words.cString
        case .system(let error): shim_system_text(error) ?? StaticString("").cString
        case .text(let text): text
        case .proxy: StaticString("").cString
        }
    }
}
