import CShims
import RetryCore

/// How long connecting may take (W5): see CurlEasy+Connecting.swift.
extension Transfer {
    /// The first address has this long at most, if a second one could follow; the SYN is repeated twice in this time.
    private static let firstAddressShare: Int64 = 5_000_000_000
    /// Milliseconds up to which libcurl does not divide what is left.
    private static let undivided: Int64 = 600

    /// Milliseconds from its start within which libcurl is to connect. A little more than there is: our timers are to
    /// be first. `isFirstAddress`: libcurl may begin to connect before this is asked again, and it divides what there
    /// is then.
    func connectLimit(isFirstAddress: Bool) -> Int {
        // libcurl uses real time, in which no limit applies.
        guard call.time.virtualTime == nil else { return Int(Int32.max) }
        var left = call.nextTimeout.left
        if call.hasDeadline { left = min(left, call.deadline.nanoseconds - call.time.boottime) }
        left = max(left, 0)
        if isFirstAddress, shim_curl_tries_one_address() { left = min(left, 2 * Self.firstAddressShare) }
        let milliseconds = left / 1_000_000
        let limit =
            max(milliseconds + milliseconds / 8, Self.undivided) + 1 + (call.time.now - call.attempt.exchange.startedAt)
            / 1_000_000
        return Int(min(limit, Int64(Int32.max)))
    }
}
