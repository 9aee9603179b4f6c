import CBoxRetry
import CurlEngine
import RetryCore

/// `boxretry_budget`
final class BudgetHandle: Handle, HandleClass {
    static var kind: HandleKind { .budget }

    let budget: SharedRetryBudget

    init(_ budget: SharedRetryBudget) {
        self.budget = budget
        super.init(.budget)
    }

    /// The budget in a field of `options`; NULL means no budget.
    static func budget(behind pointer: OpaquePointer?) throws(Failure) -> SharedRetryBudget? {
        guard let pointer else { return nil }
        return try retained(pointer, "options.budget").budget
    }
}

extension boxretry_budget_stats: SizedStruct {
    static var defaults: boxretry_budget_stats {
        boxretry_budget_stats(
            struct_size: MemoryLayout<boxretry_budget_stats>.size, taken: 0, given_back: 0, refused: 0, level: 0)
    }

    static var firstSize: Int { 40 }
}

extension RetryBudget {
    /// The part of a retry that a success gives back; 0 means the default.
    static func checkedRatio(
        _ ratio: Double, _ argument: StaticString, _ field: StaticString?
    ) throws(Failure) -> Double {
        guard ratio >= 0, ratio <= 1 else { throw .invalidArgument(argument, field, "must be from 0 to 1") }
        return ratio > 0 ? ratio : defaultRatio
    }
}

@_cdecl("boxretry_budget_new") @implementation
public func boxretry_budget_new(
    _ capacity: Int32, _ ratio: Double, _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> boxretry_error {
    answer { () throws(Failure) in
        guard RetryBudget.capacityRange.contains(capacity) else {
            throw .invalidArgument("capacity", nil, "must be from 1 to 1000000", is: Int64(capacity))
        }
        let ratio = try RetryBudget.checkedRatio(ratio, "ratio", nil)
        let out = try required(out, "out")
        BudgetHandle(SharedRetryBudget(RetryBudget(capacity: capacity, ratio: ratio))).give(to: out)
    }
}

@_cdecl("boxretry_budget_get_stats") @implementation
public func boxretry_budget_get_stats(
    _ budget: OpaquePointer!, _ out: UnsafeMutablePointer<boxretry_budget_stats>!
) -> boxretry_error {
    BudgetHandle.with(budget, "budget") { handle throws(Failure) in
        let out = try required(out, "out")
        let size = try boxretry_budget_stats.checkedSize(out, "out")
        let stats = handle.budget.stats
        boxretry_budget_stats.write(
            boxretry_budget_stats(
                struct_size: MemoryLayout<boxretry_budget_stats>.size, taken: stats.taken, given_back: stats.givenBack,
                refused: stats.refused, level: stats.level),
            to: out, callerSize: size)
    }
}

@_cdecl("boxretry_budget_free") @implementation
public func boxretry_budget_free(_ budget: OpaquePointer!) {
    BudgetHandle.take(budget)
}

@_cdecl("boxretry_budget_stats_init") @implementation
public func boxretry_budget_stats_init(
    _ stats: UnsafeMutablePointer<boxretry_budget_stats>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in try boxretry_budget_stats.initialize(stats, "stats", structSize: struct_size) }
}
