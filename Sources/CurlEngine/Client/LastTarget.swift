import CShims

/// The target of a client's last request: the next one is likely to go to the same place, and then its method and URL need no
/// check, and no copies. Any thread may use it.
public final class LastTarget {
    /// Longer URLs are not kept, so that a client does not occupy memory for one.
    private static let maximumLength = 2_048

    /// Held for a few instructions (`shim_try_lock`). A thread that finds it taken goes without.
    private var lock: UInt32 = 0
    private var target: Target?

    public init() {}

    /// Nil: it is another one, or another thread looks at it.
    public func matching(
        method: UnsafePointer<CChar>, url: UnsafePointer<CChar>, hasBody: Bool
    ) -> Target? {
        guard shim_try_lock(&lock) else { return nil }
        defer { shim_unlock(&lock) }
        guard let target, target.hasBody == hasBody, shim_is_equal(target.url, url),
            shim_is_equal(target.method, method)
        else { return nil }
        return target
    }

    /// A URL with a password is not kept (T1).
    public func keep(_ other: Target) {
        guard !other.hasUser, shim_length(other.url) <= Self.maximumLength, shim_try_lock(&lock) else { return }
        let replaced = target
        target = other
        shim_unlock(&lock)
        _ = replaced  // Goes without the lock.
    }
}
