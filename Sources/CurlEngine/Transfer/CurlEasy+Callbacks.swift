import CShims

/// What libcurl calls, for every transfer.
let transferCallbacks = shim_transfer_callbacks(
    header: { transfer, line, count in
        guard let line else { return false }
        return CurlEasy.with(transfer, otherwise: false) { $0.receive(header: line, count) }
    },
    body: { transfer, data, count in
        guard let data else { return Int32(SHIM_STOP) }
        return CurlEasy.with(transfer, otherwise: .stop) { $0.receive(body: data, count) }.rawValue
    },
    read: { transfer, buffer, capacity in
        guard let buffer else { return Int64(SHIM_READ_FAILED) }
        return CurlEasy.with(transfer, otherwise: Int64(SHIM_READ_FAILED)) { $0.read(buffer, capacity) }
    },
    rewind: { CurlEasy.with($0, otherwise: false) { $0.rewind() } },
    moved: { transfer, progress in
        guard let progress else { return }
        CurlEasy.with(transfer, otherwise: ()) { $0.report(moved: progress.pointee) }
    },
    needs_http1: { CurlEasy.with($0, otherwise: ()) { $0.needsHTTP1() } },
    opening: { transfer, exhausted in CurlEasy.lent(transfer) { $0?.opensSocket(exhausted: exhausted) } })

extension CurlEasy {
    /// The transfer that libcurl tells something of. No reference is counted: its call keeps it while libcurl has it.
    @inline(__always)
    fileprivate static func with<Result>(
        _ pointer: UnsafeMutableRawPointer?, otherwise: Result, _ body: (Transfer) -> Result
    ) -> Result {
        guard let pointer else { return otherwise }
        return Unmanaged<CurlEasy>.fromOpaque(pointer)._withUnsafeGuaranteedRef {
            $0.carried?._withUnsafeGuaranteedRef(body) ?? otherwise
        }
    }

    /// Lends the handle; nil if there is none.
    @inline(__always)
    static func lent(_ pointer: UnsafeMutableRawPointer?, _ body: (CurlEasy?) -> Void) {
        guard let pointer else { return body(nil) }
        Unmanaged<CurlEasy>.fromOpaque(pointer)._withUnsafeGuaranteedRef(body)
    }
}
