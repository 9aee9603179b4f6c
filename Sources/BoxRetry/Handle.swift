import CBoxRetry
import CShims
import RetryCore

/// What stands behind an opaque pointer of the C interface: a reference to it is what `x_new` gives and `x_free` takes.
class Handle {
    /// The kind of handle, and the process in which it was made: one number, so that one comparison checks both.
    private let stamp: UInt64

    init(_ kind: HandleKind) {
        stamp = kind.stamp
    }

    /// Checks that the pointer is a handle of that kind, made in this process. `argument` is its name in the header.
    @inline(__always)
    fileprivate func check(_ kind: HandleKind, _ argument: StaticString) throws(Failure) {
        guard stamp != kind.stamp else { return }
        guard stamp >> 32 == kind.stamp >> 32 else { throw .invalidArgument(argument, "is a handle of another kind") }
        throw .forked(argument)
    }
}

enum HandleKind: UInt32 {
    // Arbitrary numbers, which memory that is no handle is unlikely to hold.
    case strategy = 0x5B0C_1A01
    case retryLoop = 0x5B0C_1A02
    case clock = 0x5B0C_1A03

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
    /// The handle behind a pointer. Whoever calls a callback that may free it must keep it alive meanwhile.
    @inline(__always)
    static func borrow(_ pointer: OpaquePointer?, _ argument: StaticString) throws(Failure) -> Self {
        guard let pointer else { throw .invalidArgument(argument, "is NULL") }
        let handle = Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
        try handle.check(kind, argument)
        return unsafeDowncast(handle, to: Self.self)
    }

    /// Gives the handle to the caller of a `_new` function.
    func give(to out: UnsafeMutablePointer<OpaquePointer?>) {
        out.pointee = OpaquePointer(Unmanaged.passRetained(self).toOpaque())
    }

    /// What a `_free` function gets. Nil for NULL; nil, too, for what is not of this process or kind: it is leaked.
    static func take(_ pointer: OpaquePointer?) -> Self? {
        guard let pointer else { return nil }
        let handle = Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(pointer))
        guard (try? borrow(pointer, "")) != nil else { return nil }
        return unsafeDowncast(handle.takeRetainedValue(), to: Self.self)
    }
}

/// Where a result is to be written: not NULL.
@inline(__always)
func required<Pointer>(_ pointer: Pointer?, _ argument: StaticString) throws(Failure) -> Pointer {
    guard let pointer else { throw .invalidArgument(argument, "is NULL") }
    return pointer
}
