import Foundation
import RetryCore

func shown(_ seconds: Double) -> String { String(format: "%.17g", seconds) }

func shown(_ decision: Decision) -> String {
    var (state, wish) = ("absent", -1.0)
    switch decision.retryAfter {
    case .absent: break
    case .usable(let seconds, _): (state, wish) = ("usable", seconds)
    case .notUsable: state = "not_usable"
    }
    let names = "\(snakeCase(decision.action)) \(snakeCase(decision.reason))"
    let delay = "\(shown(decision.delay)) \(snakeCase(decision.delaySource))"
    return "decision \(names) \(delay) \(decision.attemptNumber) \(decision.exceptionNumber) \(state) \(shown(wish))"
}

/// The name of an enum's case as the C interface has it: `serverError` is `server_error`.
private func snakeCase(_ enumCase: some RawRepresentable<Int32>) -> String {
    "\(enumCase)".reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" }
}
