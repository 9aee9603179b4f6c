import CBoxRetry
import CShims
import RetryCore

/// The object behind an opaque pointer of the C interface. `x_new` gives a reference to the caller, and `x_free` takes
/// it back.
class Handle {
    /// The kind of handle, and the process that created it, in one number, so that one comparison checks both.
    fileprivate let stamp: UInt64

    init(_ kind: HandleKind) {
        stamp = kind.stamp
    }
}

enum HandleKind: UInt32 {
    // Arbitrary numbers that are unlikely to occur in memory that is not a handle.
    case strategy = 0x5B0C_1A01
    case retryLoop = 0x5B0C_1A02
    case clock = 0x5B0C_1A03
    case client = 0x5B0C_1A04
    case call = 0x5B0C_1A05
    case response = 0x5B0C_1A06
    case queue = 0x5B0C_1A07
    case cancel = 0x5B0C_1A08
    case sending = 0x5B0C_1A09
    case tokenSource = 0x5B0C_1A0A
    case token = 0x5B0C_1A0B
    case tokenRequest = 0x5B0C_1A0C
    case budget = 0x5B0C_1A0D

    @inline(__always)
    fileprivate var stamp: UInt64 {
        UInt64(rawValue) << 32 | UInt64(shim_fork_generation())
    }
}

/// A class of handles.
protocol HandleClass: Handle {
    static var kind: HandleKind { get }
}

extension HandleClass {
    /// Checks that this is the stamp of a handle of that kind, created in this process. `argument` is its name in the
    /// header.
    @inline(__always)
    private static func check(_ stamp: UInt64, _ argument: StaticString) throws(Failure) {
        guard stamp != kind.stamp else { return }
        guard stamp >> 32 == kind.stamp >> 32 else { throw .invalidArgument(argument, "is a handle of another kind") }
        throw .forked(argument)
    }

    /// Runs the body of a function of the C interface with the handle behind a pointer. `argument` is its name in the
    /// header.
    ///
    /// The handle is lent without reference counting, which would cost more than an entire decision: the caller keeps
    /// it alive. Only a callback may free it; see `keptAlive`.
    @inline(__always)
    static func with(
        _ pointer: OpaquePointer?, _ argument: StaticString, _ body: (Self) throws(Failure) -> Void
    ) -> boxretry_error {
        guard let pointer else { return Failure.invalidArgument(argument, "is NULL").error }
        return Unmanaged<Self>.fromOpaque(UnsafeRawPointer(pointer))._withUnsafeGuaranteedRef { handle in
            answer { () throws(Failure) in
                try check(handle.stamp, argument)
                try body(handle)
            }
        }
    }

    /// Reads a value from a handle. Returns `otherwise` for NULL, and for a handle of another kind or process.
    static func read<Value>(
        _ pointer: OpaquePointer?, _ argument: StaticString, _ otherwise: Value, _ body: (Self) -> Value
    ) -> Value {
        var value = otherwise
        if pointer != nil { _ = with(pointer, argument) { handle in value = body(handle) } }
        return value
    }

    /// The handle behind a pointer, for callers that store it or its contents.
    static func retained(_ pointer: OpaquePointer, _ argument: StaticString) throws(Failure) -> Self {
        let reference = Unmanaged<Self>.fromOpaque(UnsafeRawPointer(pointer))
        // Lent for the check, so that one reference is counted.
        let stamp = reference._withUnsafeGuaranteedRef { $0.stamp }
        try Self.check(stamp, argument)
        return reference.takeUnretainedValue()
    }

    /// Runs code that may run a callback, which could free this handle.
    @inline(__always)
    func keptAlive<Result>(
        if callsBack: Bool, _ body: () throws(StrategyFailure) -> Result
    ) throws(Failure) -> Result {
        let reference = Unmanaged.passUnretained(self)
        if callsBack { _ = reference.retain() }
        defer { if callsBack { reference.release() } }
        do throws(StrategyFailure) {
            return try body()
        } catch {
            throw .callbackFailed(error)
        }
    }

    /// Gives the handle to the caller of a `_new` function.
    func give(to out: UnsafeMutablePointer<OpaquePointer?>) {
        out.pointee = OpaquePointer(Unmanaged.passRetained(self).toOpaque())
    }

    /// Takes a handle back from the caller of a `_free` function. Does nothing for NULL. A handle of another process or
    /// kind is leaked.
    static func take(_ pointer: OpaquePointer?, _ last: (Self) -> Void = { _ in }) {
        guard let pointer else { return }
        _ = with(pointer, "handle") { handle in
            last(handle)
            Unmanaged.passUnretained(handle).release()
        }
    }
}

/// Checks that the pointer for a result is not NULL.
@inline(__always)
func required<Pointer>(_ pointer: Pointer?, _ argument: StaticString) throws(Failure) -> Pointer {
    guard let pointer else { throw .invalidArgument(argument, "is NULL") }
    return pointer
}
