import CShims
import RetryCore

/// How a call ended, and with what. Never changes.
public final class CallResult {
    public let ending: CallMachine.Ending
    public let records: [AttemptRecord]
    public let redirects: [RedirectRecord]
    public let reconnects: [ReconnectRecord]
    /// Bytes of the body that the sink has.
    public let sinkLength: Int64
    private let response: ReceivedResponse?
    private let target: Target
    /// Why no access token could be got, if that ended the call.
    public let tokenFailure: TokenWaitFailure?
    /// What more there is to say of how it ended; nil: nothing.
    public let reason: FailureReason?
    /// Host and port of the proxy, if it is about one.
    public let proxyName: ProviderText
    public let userPointer: UnsafeMutableRawPointer?

    init(
        ending: CallMachine.Ending, response: ReceivedResponse?, records: [AttemptRecord], redirects: [RedirectRecord],
        reconnects: [ReconnectRecord], sinkLength: Int64, target: Target, tokenFailure: TokenWaitFailure?,
        reason: FailureReason?, proxyName: ProviderText,
        userPointer: UnsafeMutableRawPointer?
    ) {
        self.ending = ending
        self.response = response
        self.records = records
        self.redirects = redirects
        self.reconnects = reconnects
        self.sinkLength = sinkLength
        self.target = target
        self.tokenFailure = tokenFailure
        self.reason = reason
        self.proxyName = proxyName
        self.userPointer = userPointer
    }

    /// 0: without a response.
    public var status: Int32 { response?.status ?? 0 }

    public var isBodyCutOff: Bool { response?.isBodyCutOff ?? false }

    /// Where the response came from; without one, where the last attempt went.
    public var url: UnsafePointer<CChar> { (response?.target ?? target).shownURL }

    public var body: UnsafeRawBufferPointer { response?.body ?? UnsafeRawBufferPointer(start: nil, count: 0) }

    public var headerList: HeaderList { response?.headers ?? .empty }

    public var reasonPhrase: UnsafePointer<CChar> { response?.reasonPhrase ?? StaticString("").cString }
}
