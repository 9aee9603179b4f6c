import CShims
import RetryCore
import Synchronization

/// The token that readers can get without the lock of the source, and without waiting for one another.
///
/// Each reader takes it from its own slot, by the number of its thread. A slot has a lock that is held for two
/// instructions, and a separate object, so that not even a reference count is shared: with more threads, more is read.
/// A reader that finds its slot locked asks the source instead.
///
/// Reading CLOCK_BOOTTIME would cost as much as all the rest. So the source reads it once a second, and stores only
/// tokens that stay valid for two seconds. Readers use the two coarse clocks, at a seventh of that cost, to check that at
/// most a second has passed since: the monotonic clock, and the wall clock, which keeps running while the machine sleeps.
final class TokenCache {
    private static let slotCount = 16
    /// Nanoseconds between two checks by the source.
    private static let checkInterval: Int64 = 1_000_000_000
    /// Nanoseconds by which the wall clock may differ from the monotonic one meanwhile: it is slewed now and then.
    private static let slack: Int64 = 100_000_000
    /// Nanoseconds for which a token must stay valid to be stored here.
    static let leastTime = 2 * checkInterval

    /// As large as two cache lines, since processors fetch them in pairs.
    private struct Slot {
        var lock: UInt32 = 0
        /// With its own reference.
        var item: Unmanaged<AnyObject>?
        private let padding: [14 of UInt64] = .init(repeating: 0)
    }

    private let slots: UnsafeMutablePointer<Slot>
    /// When the source last checked the token, on the two coarse clocks.
    private let lookedAt = Atomic<Int64>(.min)
    private let lookedAtWall = Atomic<Int64>(0)
    /// Which token this is; 0: none. With the lock of the source.
    private var generation: UInt64 = 0

    init() {
        slots = .allocate(capacity: Self.slotCount)
        slots.initialize(repeating: Slot(), count: Self.slotCount)
    }

    deinit {
        clear()
        slots.deinitialize(count: Self.slotCount)
        slots.deallocate()
    }

    /// With a reference for the reader. Any thread.
    @inline(__always)
    func read() -> Unmanaged<AnyObject>? {
        let passed = shim_coarse_monotonic_nanoseconds() &- lookedAt.load(ordering: .relaxed)
        let passedWall = shim_coarse_wall_nanoseconds() &- lookedAtWall.load(ordering: .relaxed)
        guard passed >= 0, passed < Self.checkInterval, passedWall >= -Self.slack,
            passedWall < Self.checkInterval + Self.slack
        else { return nil }
        let slot = slots + Int(shim_thread_number()) % Self.slotCount
        guard shim_try_lock(&slot.pointee.lock) else { return nil }
        let item = slot.pointee.item?.retain()
        shim_unlock(&slot.pointee.lock)
        return item
    }

    /// With the lock of the source: stores a token, or keeps the stored one, for a second from now.
    func put(generation: UInt64, _ makeItem: () -> AnyObject) {
        if self.generation != generation {
            self.generation = generation
            for index in 0..<Self.slotCount { replace(slots + index, with: makeItem()) }
        }
        lookedAtWall.store(shim_coarse_wall_nanoseconds(), ordering: .relaxed)
        lookedAt.store(shim_coarse_monotonic_nanoseconds(), ordering: .relaxed)
    }

    /// With the lock of the source: removes the token, so that no reader gets it.
    func clear() {
        guard generation != 0 else { return }
        generation = 0
        lookedAt.store(.min, ordering: .relaxed)
        for index in 0..<Self.slotCount { replace(slots + index, with: nil) }
    }

    private func replace(_ slot: UnsafeMutablePointer<Slot>, with item: AnyObject?) {
        let new = item.map { Unmanaged.passRetained($0) }
        while !shim_try_lock(&slot.pointee.lock) { shim_yield() }
        let old = slot.pointee.item
        slot.pointee.item = new
        shim_unlock(&slot.pointee.lock)
        old?.release()
    }
}
