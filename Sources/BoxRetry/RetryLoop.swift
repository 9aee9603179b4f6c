import CBoxRetry
import CShims
import CurlEngine
import RetryCore

/// `boxretry_retry_loop`. One thread at a time.
final class RetryLoopHandle: Handle, HandleClass {
    static var kind: HandleKind { .retryLoop }

    private var loop: RetryLoop
    private let clock: any Clock
    private let budget: SharedRetryBudget?
    /// A callback of this loop's strategy is running.
    private var isDeciding = false

    init(_ loop: RetryLoop, clock: any Clock, budget: SharedRetryBudget?) {
        self.loop = loop
        self.clock = clock
        self.budget = budget
        super.init(.retryLoop)
    }

    func next(_ outcome: Outcome) throws(Failure) -> Decision {
        guard !isDeciding else { throw .inCallback("loop: is deciding; this is its own callback") }
        guard !loop.hasEnded else { throw .ended }
        return try keptAlive(if: loop.callsBack) { () throws(StrategyFailure) in
            isDeciding = true
            defer { isDeciding = false }
            var decision = try loop.next(outcome, clock: clock)
            if let budget { charge(budget, &decision, outcome) }
            return decision
        }
    }

    /// Charges a retry to the budget, or refuses it; a success gives back a part (C1).
    @inline(never)
    private func charge(_ budget: SharedRetryBudget, _ decision: inout Decision, _ outcome: Outcome) {
        if decision.isRetry, !budget.take() {
            loop.stop(&decision, .retryBudgetSpent, after: outcome)
        }
        if decision.action == .succeed { budget.giveBack() }
    }
}

extension boxretry_loop_options: SizedStruct {
    static var defaults: boxretry_loop_options {
        boxretry_loop_options(
            struct_size: MemoryLayout<boxretry_loop_options>.size, auth_available: 0, deadline_ms: Int64.max,
            clock: nil, seed: 0, max_total_attempts: 0, reserved: 0, budget: nil)
    }

    static var firstSize: Int { 40 }
    static var padding: Range<Int> { 12..<16 }
}

extension RetryLoop.Limits {
    /// Checks the caller's options. The deadline starts now.
    fileprivate init(_ options: boxretry_loop_options, clock: any Clock) throws(Failure) {
        self.init()
        authAvailable = options.auth_available != 0
        guard options.deadline_ms >= 1 else {
            throw .invalidArgument("options", "deadline_ms", "must be 1 or more", is: options.deadline_ms)
        }
        if options.deadline_ms != Int64.max { deadline = clock.boottime.advanced(byMilliseconds: options.deadline_ms) }
        guard options.max_total_attempts != 0 else { return }
        guard RetryLoop.maxTotalAttemptsRange.contains(options.max_total_attempts) else {
            throw .invalidArgument(
                "options", "max_total_attempts", "must be from 0 to 1000000", is: Int64(options.max_total_attempts))
        }
        maxTotalAttempts = options.max_total_attempts
    }
}

@_cdecl("boxretry_retry_loop_new") @implementation
public func boxretry_retry_loop_new(
    _ strategy: OpaquePointer!, _ options: UnsafePointer<boxretry_loop_options>!,
    _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    StrategyHandle.with(strategy, "strategy") { handle throws(Failure) in
        let options = options == nil ? .defaults : try boxretry_loop_options.read(options, "options")
        let clock = try ClockHandle.clock(behind: options.clock, "options.clock")
        guard options.reserved == 0 else { throw .invalidArgument("options", "reserved", "must be 0") }
        let budget = try BudgetHandle.budget(behind: options.budget)
        let limits = try RetryLoop.Limits(options, clock: clock)
        let out = try required(out, "out")
        var seeds = SplitMix64(state: shim_next_random_state())
        let random = SplitMix64(state: options.seed != 0 ? options.seed : seeds.next())
        let loop = RetryLoop(strategy: handle.strategy, limits: limits, random: random)
        RetryLoopHandle(loop, clock: clock, budget: budget).give(to: out)
    }
}

@_cdecl("boxretry_retry_loop_next") @implementation
public func boxretry_retry_loop_next(
    _ loop: OpaquePointer!, _ outcome: UnsafePointer<boxretry_outcome>!, _ out: UnsafeMutablePointer<boxretry_decision>!
) -> boxretry_error {
    RetryLoopHandle.with(loop, "loop") { handle throws(Failure) in
        let outcome = try Outcome(reading: outcome)
        let out = try required(out, "out")
        let size = try boxretry_decision.checkedSize(out, "out")
        let decision = try handle.next(outcome)
        boxretry_decision.write(decision.cDecision, to: out, callerSize: size)
    }
}

@_cdecl("boxretry_retry_loop_free") @implementation
public func boxretry_retry_loop_free(_ loop: OpaquePointer!) {
    RetryLoopHandle.take(loop)
}

@_cdecl("boxretry_loop_options_init") @implementation
public func boxretry_loop_options_init(
    _ options: UnsafeMutablePointer<boxretry_loop_options>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in
        try boxretry_loop_options.initialize(options, "options", structSize: struct_size)
    }
}
