import CShims
import RetryCore
import Synchronization

/// The token that may be given out at once, for readers that need neither the lock of the source nor one another.
///
/// Each reader takes it from its own slot, by the number of its thread. A slot has a lock that is held for two
/// instructions, and a separate object, so that not even a reference count is shared: with more threads, more is read.
/// Who finds his slot taken goes to the source instead.
///
/// To read CLOCK_BOOTTIME would cost as much as all the rest. So the source looks at it once a second, and puts nothing
/// here that is not good for two; and readers see on the two coarse clocks, at a seventh of that price, that not more
/// than a second has passed since: on the monotonic one, and on the wall clock, which keeps running while the machine
/// sleeps.
final class TokenShelf {
    private static let slotCount = 16
    /// Nanoseconds from one look of the source to the next.
    private static let secondOfGrace: Int64 = 1_000_000_000
    /// Nanoseconds by which the wall clock may differ from the monotonic one meanwhile: it is slewed now and then.
    private static let slack: Int64 = 100_000_000
    /// Nanoseconds for which a token must be good to be put here.
    static let leastTime = 2 * secondOfGrace

    /// As large as two cache lines, since processors fetch them in pairs.
    private struct Slot {
        var lock: UInt32 = 0
        /// With its own reference.
        var item: Unmanaged<AnyObject>?
        private let padding: [14 of UInt64] = .init(repeating: 0)
    }

    private let slots: UnsafeMutablePointer<Slot>
    /// When the source looked last, on the two coarse clocks.
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
        guard passed >= 0, passed < Self.secondOfGrace, passedWall >= -Self.slack,
            passedWall < Self.secondOfGrace + Self.slack
        else { return nil }
        let slot = slots + Int(shim_thread_number()) % Self.slotCount
        guard shim_try_lock(&slot.pointee.lock) else { return nil }
        let item = slot.pointee.item?.retain()
        shim_unlock(&slot.pointee.lock)
        return item
    }

    /// With the lock of the source: puts a token here, or keeps the one that is here, for a second from now.
    func put(generation: UInt64, _ makeItem: () -> AnyObject) {
        if self.generation != generation {
            self.generation = generation
            for index in 0..<Self.slotCount { replace(slots + index, with: makeItem()) }
        }
        lookedAtWall.store(shim_coarse_wall_nanoseconds(), ordering: .relaxed)
        lookedAt.store(shim_coarse_monotonic_nanoseconds(), ordering: .relaxed)
    }

    /// With the lock of the source: from now on no reader finds anything here.
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
