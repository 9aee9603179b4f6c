import Foundation
import RetryCore

// The core's types from the fields of a command. What the core takes for granted is checked here, as in the C interface.

extension BoxRetryOptions {
    init(_ command: Command) throws(Refusal) {
        self.init()
        var overCap = retryAfterOverCap.rawValue
        for (key, text) in command.fields {
            switch key {
            case "max_attempts": maxAttempts = number(text)
            case "max_retries_on_exception": maxRetriesOnException = number(text)
            case "retry_base_interval": retryBaseInterval = number(text)
            case "retry_randomization_factor": retryRandomizationFactor = number(text)
            case "backoff_cap": backoffCap = number(text)
            case "retry_after_cap": retryAfterCap = number(text)
            case "retry_after_over_cap": overCap = number(text)
            case "retry_after_jitter": retryAfterJitter = number(text)
            case "retry_unsafe_methods": retryUnsafeMethods = isTrue(text)
            case "delay_header": break
            default: fail("unknown field", key)
            }
        }
        guard let known = OverCap(rawValue: overCap) else {
            throw .invalidArgument(
                "options.retry_after_over_cap", "is not a BOXRETRY_OVER_CAP_ constant", is: Int64(overCap))
        }
        retryAfterOverCap = known
        do throws(InvalidOption) { try validate() } catch { throw .invalidArgument("options", error) }
    }
}

extension DelayHeaders {
    init(_ command: Command) throws(Refusal) {
        self = .none
        let headers = command.texts(of: "delay_header").map(pair)
        guard headers.count <= Self.maximumCount else {
            throw .invalidArgument("options.delay_header_count", "must be at most 16")
        }
        for (index, (name, unit)) in headers.enumerated() where !append(name: name, unit: number(unit)) {
            throw .invalidArgument("options.delay_headers[\(index)]", "has an invalid name or unit")
        }
    }
}

extension TokenRetryPolicy {
    init(_ command: Command) throws(Refusal) {
        self.init()
        for (key, text) in command.fields {
            switch key {
            case "maximum_attempts": maximumAttempts = number(text)
            case "initial_delay": initialDelay = number(text)
            case "multiplier": multiplier = number(text)
            case "maximum_delay": maximumDelay = number(text)
            case "jitter_ratio": jitterRatio = number(text)
            default: fail("unknown field", key)
            }
        }
        do throws(InvalidOption) { try validate() } catch { throw .invalidArgument("policy", error) }
    }
}

extension RetryLoop.Limits {
    /// The deadline counts from now.
    init(_ command: Command, clock: any Clock) throws(Refusal) {
        self.init()
        var deadlineMilliseconds = Int64.max
        var ceiling: Int32 = 0
        for (key, text) in command.fields {
            switch key {
            case "auth_available": authAvailable = isTrue(text)
            case "deadline_ms": deadlineMilliseconds = number(text)
            case "max_total_attempts": ceiling = number(text)
            case "seed": break
            default: fail("unknown field", key)
            }
        }
        guard deadlineMilliseconds >= 1 else {
            throw .invalidArgument("options.deadline_ms", "must be 1 or more", is: deadlineMilliseconds)
        }
        deadline = clock.boottime.advanced(byMilliseconds: deadlineMilliseconds)
        guard ceiling != 0 else { return }
        guard RetryLoop.maxTotalAttemptsRange.contains(ceiling) else {
            throw .invalidArgument("options.max_total_attempts", "must be from 0 to 1000000", is: Int64(ceiling))
        }
        maxTotalAttempts = ceiling
    }
}

/// Lends the outcome that a command describes: it borrows its header lines.
func withOutcome<Result>(
    of command: Command, _ body: (Outcome) throws(Refusal) -> Result
) throws(Refusal) -> Result {
    var pairs: [UnsafePointer<CChar>?] = []
    defer { for string in pairs { free(UnsafeMutableRawPointer(mutating: string)) } }
    for (name, value) in command.texts(of: "header").map(pair) {
        pairs.append(strdup(name))
        pairs.append(strdup(decoded(value)))
    }
    return try pairs.withUnsafeBufferPointer { (strings) throws(Refusal) in
        guard let headers = HeaderList(pairs: strings.baseAddress, count: strings.count / 2) else {
            fail("no header list", command.name)
        }
        return try body(Outcome(command, headers))
    }
}

extension Outcome {
    fileprivate init(_ command: Command, _ headers: HeaderList) throws(Refusal) {
        self.init(status: 0, headers: headers)
        var (cause, sent, safety) = (self.cause.rawValue, requestSent.rawValue, RequestSafety.byMethod.rawValue)
        var method: [CChar]?
        for (key, text) in command.fields {
            switch key {
            case "status": status = number(text)
            case "cause": cause = number(text)
            case "auth_available": authAvailable = isTrue(text)
            case "request_sent": sent = number(text)
            case "body_not_replayable": isBodyReplayable = !isTrue(text)
            case "retry_safety": safety = number(text)
            case "method": method = decoded(text)
            case "header": break
            default: fail("unknown field", key)
            }
        }
        guard status == 0 || (100...999).contains(status) else {
            throw .invalidArgument("outcome.status", "must be 0, or from 100 to 999", is: Int64(status))
        }
        self.cause = try Self.known(cause, "outcome.cause", "is not a BOXRETRY_CAUSE_ constant")
        requestSent = try Self.known(sent, "outcome.request_sent", "is not a BOXRETRY_SENT_ constant")
        let requestSafety: RequestSafety = try Self.known(
            safety, "request.retry_safety", "is not a BOXRETRY_SAFETY_ constant")
        isRequestUnsafe = requestSafety.isUnsafe(method: method)
    }

    private static func known<Value: RawRepresentable<Int32>>(
        _ rawValue: Int32, _ argument: String, _ why: String
    ) throws(Refusal) -> Value {
        guard let value = Value(rawValue: rawValue) else {
            throw .invalidArgument(argument, why, is: Int64(rawValue))
        }
        return value
    }
}
