import CShims
import RetryCore

/// A response is whole only if its framing and its content codings are (W4).
extension Transfer {
    /// A content coding has not come to its end. An empty body is not a stream that stops early if the head says that
    /// nothing comes.
    var isCodingShort: Bool {
        guard let decoder, call.attempt.exchange.mayHaveBody, call.attempt.exchange.framing.length != 0 else {
            return false
        }
        return !shim_decoder_is_whole(decoder)
    }

    /// Unpacks a piece of the body, and hands it on. A receiver that pauses gets the same piece again.
    func unpack(_ decoder: OpaquePointer, _ data: UnsafePointer<CChar>, _ count: Int) -> BodyAnswer {
        shim_decoder_feed(decoder, data, count)
        var piece: UnsafePointer<CChar>?
        var length = 0
        while true {
            let result = shim_decoder_next(decoder, &piece, &length)
            guard Int(result) == SHIM_DECODED, let piece else { return unpacked(result) }
            switch deliver(piece, length) {
            case .proceed: break
            case .pause:
                shim_decoder_hold(decoder)
                return .pause
            case .stop: return .stop
            }
        }
    }

    private func unpacked(_ result: Int32) -> BodyAnswer {
        switch Int(result) {
        case SHIM_DECODER_HUNGRY: return .proceed
        case SHIM_DECODER_NO_MEMORY: refuse(.outOfMemory)
        default: call.attempt.isMalformed()
        }
        return .stop
    }
}
