import CShims
import RetryCore

/// What an attempt was let through with, and by which gate: a later one of the same host does not know it.
struct GatePass {
    let gate: HostGate
    let pass: OriginGate.Pass
}

/// The loop of a gate.
protocol GateLoop: AnyObject {
    /// Whether calls wait for the gate's moment.
    func hasWaiting(at gate: HostGate) -> Bool

    /// The moment of a gate has come, or it is to be seen whether it still holds anybody.
    func fired(_ gate: HostGate)
}

/// The gate of one host (C3), which wakes the loop when something may have to be done for it.
final class HostGate: TimerEntry {
    private unowned(unsafe) let loop: any GateLoop
    /// Its index among the hosts of the StartQueue.
    let host: Int
    var value: OriginGate
    /// Where in the range of the jitter (C2) its moment lies, 0 to 1: the same for all answers of one closing, since
    /// the latest moment counts.
    private(set) var unitRandom: Double
    /// When it last let no attempt through, or only as many as it was about to hold.
    private(set) var limitedAt: Int64

    init(_ loop: any GateLoop, host: Int, _ value: OriginGate, unitRandom: Double, now: Int64) {
        self.loop = loop
        self.host = host
        self.value = value
        self.unitRandom = unitRandom
        limitedAt = now
    }

    /// Lets an attempt through. Nil: it does not.
    func pass(now: Int64) -> GatePass? {
        guard case .go(let pass) = value.asked() else { return nil }
        if value.places == 0 { limitedAt = now }
        return GatePass(gate: self, pass: pass)
    }

    /// Its moment may have come. False: it had before.
    func timeHasCome(now: Int64) -> Bool {
        guard value.timeHasCome(now: Instant(nanoseconds: now)) != .none else { return false }
        limitedAt = now
        unitRandom = Self.drawUnit()
        return true
    }

    static func drawUnit() -> Double {
        var random = SplitMix64(state: shim_next_random_state())
        return random.nextUnit()
    }

    override var isWaitedFor: Bool { value.isClosed && loop.hasWaiting(at: self) }

    override func fire(now: Int64) {
        loop.fired(self)
    }
}
