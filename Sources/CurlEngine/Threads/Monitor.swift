import CShims

/// A mutex, its condition variable, and the value that the mutex guards, in one block of memory. Nothing reaches the
/// value but through `withLock`.
struct Monitor<Value>: ~Copyable {
    private let monitor: OpaquePointer

    /// Nil if out of memory.
    init?(_ value: consuming Value) {
        guard let monitor = shim_monitor_new(MemoryLayout<Value>.size) else { return nil }
        self.monitor = monitor
        Self.value(of: monitor).initialize(to: value)
    }

    deinit {
        Self.value(of: monitor).deinitialize(count: 1)
        shim_monitor_free(monitor)
    }

    @inline(__always)
    private static func value(of monitor: OpaquePointer) -> UnsafeMutablePointer<Value> {
        (UnsafeMutableRawPointer(monitor) + Int(SHIM_MONITOR_SIZE)).assumingMemoryBound(to: Value.self)
    }

    @inline(__always)
    func withLock<Result>(_ body: (borrowing Held) -> Result) -> Result {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        return body(Held(monitor: monitor))
    }

    /// The thread has the lock. A function that takes one is called with the lock held, and returns with it held.
    struct Held: ~Copyable {
        fileprivate let monitor: OpaquePointer

        var state: Value {
            @inline(__always) unsafeAddress { UnsafePointer(Monitor.value(of: monitor)) }
            @inline(__always) nonmutating unsafeMutableAddress { Monitor.value(of: monitor) }
        }

        /// Wakes all threads that are in `wait`.
        func wakeAll() {
            shim_monitor_wake_all(monitor)
        }

        /// Without the lock meanwhile: until another thread calls `wakeAll`, or CLOCK_MONOTONIC has come to `limit`;
        /// perhaps earlier. False: `limit` has come.
        func wait(until limit: Int64 = .max) -> Bool {
            shim_monitor_wait_until(monitor, limit)
        }

        /// Releases the lock, and takes it again when `body` returns.
        @inline(__always)
        func unlocked<Result>(_ body: () -> Result) -> Result {
            shim_monitor_unlock(monitor)
            defer { shim_monitor_lock(monitor) }
            return body()
        }
    }
}
