import CShims
import RetryCore

/// How long libcurl may take to connect (W5).
///
/// The engine's own timers end an attempt. libcurl has a timeout as well, which it divides among the addresses of a
/// name: before 8.16 an address that does not answer gets half of what is left, and then the next one is tried. So it
/// must know how much time there is, and that changes with each movement (M1).
extension CurlEasy {
    /// A look-up is under way, which may take all the time there is.
    func looksUp() {
        if isConnecting { setConnectLimit() }
    }

    /// The next thing that libcurl does may be to connect to the first address.
    func mayConnect() {
        if isConnecting { setConnectLimit(isFirstAddress: true) }
    }

    private var isConnecting: Bool {
        carried?._withUnsafeGuaranteedRef { $0.isConnecting && !$0.isOpen } ?? false
    }

    func opensSocket(exhausted: Bool) {
        transfer?.opensSocket(exhausted: exhausted)
        setConnectLimit()
    }

    /// Something moves on the connection.
    func touchConnection() {
        carried?._withUnsafeGuaranteedRef { transfer in
            transfer.touchConnection()
            if transfer.isConnecting { setConnectLimit() }
        }
    }

    private func setConnectLimit(isFirstAddress: Bool = false) {
        guard let transfer else { return }
        shim_easy_set_connect_timeout(handle, transfer.connectLimit(isFirstAddress: isFirstAddress))
    }
}
