import BoxRetry
import CBoxRetry

/// The functions of the C interface as Swift would have them, for tests.

struct CError: Error, Equatable {
    let name: String
    let detail: String

    init(_ error: boxretry_error) {
        name = String(cString: boxretry_error_name(error))
        detail = String(cString: boxretry_last_error_detail())
    }
}

func check(_ error: boxretry_error) throws {
    guard error == BOXRETRY_OK else { throw CError(error) }
}

/// A handle that is freed with its owner.
final class Owned {
    let pointer: OpaquePointer
    private let free: (OpaquePointer?) -> Void

    init(free: @escaping (OpaquePointer?) -> Void, _ make: (inout OpaquePointer?) -> boxretry_error) throws {
        var pointer: OpaquePointer?
        try check(make(&pointer))
        guard let pointer else { fatalError("success without a handle") }
        self.pointer = pointer
        self.free = free
    }

    deinit {
        free(pointer)
    }
}

func newStrategy(_ change: (inout boxretry_retry_options) throws -> Void = { _ in }) throws -> Owned {
    var options = boxretry_retry_options()
    try check(boxretry_retry_options_init(&options, MemoryLayout<boxretry_retry_options>.size))
    try change(&options)
    return try Owned(free: boxretry_strategy_free) { boxretry_strategy_new(&options, &$0) }
}

func newLoop(
    _ strategy: Owned, _ change: (inout boxretry_loop_options) throws -> Void = { _ in }
) throws -> Owned {
    var options = boxretry_loop_options()
    try check(boxretry_loop_options_init(&options, MemoryLayout<boxretry_loop_options>.size))
    try change(&options)
    return try Owned(free: boxretry_retry_loop_free) { boxretry_retry_loop_new(strategy.pointer, &options, &$0) }
}

func newManualClock() throws -> Owned {
    try Owned(free: boxretry_clock_free) { boxretry_clock_new_manual(&$0) }
}

/// Feeds an outcome with at most one header line.
func next(
    _ loop: Owned, status: Int32, header: (String, String)? = nil,
    _ change: (inout boxretry_outcome) -> Void = { _ in }
) throws -> boxretry_decision {
    var outcome = boxretry_outcome()
    var decision = boxretry_decision()
    try check(boxretry_outcome_init(&outcome, MemoryLayout<boxretry_outcome>.size))
    try check(boxretry_decision_init(&decision, MemoryLayout<boxretry_decision>.size))
    outcome.status = status
    change(&outcome)
    guard let header else {
        try check(boxretry_retry_loop_next(loop.pointer, &outcome, &decision))
        return decision
    }
    try header.0.withCString { name in
        try header.1.withCString { value in
            try withUnsafePointer(to: boxretry_header(name: name, value: value)) { lines in
                outcome.headers = lines
                outcome.header_count = 1
                try check(boxretry_retry_loop_next(loop.pointer, &outcome, &decision))
            }
        }
    }
    return decision
}
