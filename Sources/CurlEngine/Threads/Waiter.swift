import RetryCore

/// A thread that waits for a signal.
public final class Waiter {
    private let isSignaled: Monitor<Bool>

    /// Nil if out of memory.
    public static func make() -> Waiter? {
        guard let isSignaled = Monitor(false) else { return nil }
        return Waiter(isSignaled)
    }

    private init(_ isSignaled: consuming Monitor<Bool>) {
        self.isSignaled = isSignaled
    }

    func signal() {
        isSignaled.withLock { held in
            held.state = true
            held.wakeAll()
        }
    }

    /// False if that time came first.
    func wait(until limit: Int64) -> Bool {
        isSignaled.withLock { held in
            while !held.state {
                if !held.wait(until: limit), !held.state { return false }
            }
            return true
        }
    }
}
