import CShims
import RetryCore

/// What the lock of an engine guards: who drives the loop, and what other threads want of it. No callback of the
/// program runs under the lock. The start of a thread does, and so does `EngineSettings.dropHandle`, which releases a
/// call's handle.
struct LoopRole: EngineLock {
    typealias Held = Monitor<LoopRole>.Held

    /// What the loop is to do, in this order.
    var commands: [LoopCommand] = []
    var hasDriver = false
    /// The engine's own thread has been started, and waits for the role, or holds it.
    var hasThread = false
    var ownThreadDrives = false
    /// The own thread leaves the role free until then, and looks again.
    var isThreadSleeping = false
    var gracePeriodEnd: Int64 = 0
    /// Threads that block anyway, and want the role from the own thread: one at most.
    var waitingDrivers = 0
    /// The driver waits, or has waited, and has to be woken to look at the commands. Between its wait and the next lock it
    /// may be woken for nothing.
    var isPolling = false
    /// A wait was woken, and the driver has not looked yet whether that was what it waits for.
    var isWakePending = false
    /// A program polls the descriptor, or the loop that this one is a guest of.
    var isWatched = false
    var isClosing = false
    var unfinished = 0
    var closeWaiters: [Waiter] = []
    /// A client has been closed whose calls have not ended, and no thread will come to end them.
    var endsCalls = false
    /// Clients that share this engine, and are not closed.
    var owners = 0
    var stats = EngineStats()
    /// For the threads that wake the driver, which has its own reference. Nil: the engine is closed.
    var transport: (any Transport)?

    /// Nothing is left to do, now and later.
    var isClosedForGood: Bool { isClosing && unfinished == 0 && !hasDriver && !hasThread }

    /// Nil: of all clients.
    mutating func cancelAll(of owner: CallOwner? = nil) {
        commands.append(.cancelAll(owner))
    }
}

enum LoopCommand {
    case start(Call, isCancelled: Bool)
    case cancel(Call)
    case decided(StrategyQuestion)
    case resume(Call)
    case token(Call, TokenResult)
    /// Nil: of all clients.
    case cancelAll(CallOwner?)
    /// Ask the strategy here, for there is no thread for it.
    case ask(StrategyQuestion)
    /// A guest has something to do.
    case helpGuests
}
