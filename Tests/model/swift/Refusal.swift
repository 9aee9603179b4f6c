import Foundation
import RetryCore

/// Why a command was refused, in the words of the C interface.
struct Refusal: Error {
    let name: String
    let detail: String

    static func invalidArgument(_ argument: String, _ why: String) -> Refusal {
        Refusal(name: "invalid_argument", detail: "\(argument): \(why)")
    }

    static func invalidArgument(_ argument: String, _ why: String, is value: Int64) -> Refusal {
        invalidArgument(argument, "\(why) (got \(value))")
    }

    static func invalidArgument(_ argument: String, _ why: String, is value: Double) -> Refusal {
        invalidArgument(argument, "\(why) (got \(String(format: "%.9g", value)))")
    }

    static func invalidArgument(_ argument: String, _ option: InvalidOption) -> Refusal {
        let (name, why) = ("\(argument).\(option.field)", "\(option.requirement)")
        switch option.value {
        case .integer(let value): return invalidArgument(name, why, is: value)
        case .real(let value): return invalidArgument(name, why, is: value)
        }
    }

    static func callbackFailed(_ failure: StrategyFailure) -> Refusal {
        Refusal(name: "callback_failed", detail: "\(failure.why)")
    }

    static let ended = Refusal(name: "ended", detail: "loop: has already made its last decision")
    static let notUsable = Refusal(
        name: "not_usable", detail: "value: is not a number, a list of numbers or an HTTP date")
}

func checkAttemptNumber(_ number: Int32, atLeast minimum: Int32, _ argument: String) throws(Refusal) {
    guard number >= minimum else { throw .invalidArgument(argument, "must be \(minimum) or more", is: Int64(number)) }
}

func checkUnitRandom(_ unitRandom: Double) throws(Refusal) {
    guard unitRandom >= 0, unitRandom <= 1 else {
        throw .invalidArgument("unit_random", "must be from 0 to 1", is: unitRandom)
    }
}
