import CBoxRetry
import RetryCore

extension boxretry_token_retry_policy: SizedStruct {
    static var defaults: boxretry_token_retry_policy {
        let policy = TokenRetryPolicy()
        return boxretry_token_retry_policy(
            struct_size: MemoryLayout<boxretry_token_retry_policy>.size, maximum_attempts: policy.maximumAttempts,
            initial_delay: policy.initialDelay, multiplier: policy.multiplier, maximum_delay: policy.maximumDelay,
            jitter_ratio: policy.jitterRatio)
    }

    static var firstSize: Int { 48 }
    static var padding: Range<Int> { 12..<16 }
}

extension TokenRetryPolicy {
    /// Copies and checks the caller's policy; NULL means the default.
    init(reading pointer: UnsafePointer<boxretry_token_retry_policy>?) throws(Failure) {
        self.init()
        guard let pointer else { return }
        let policy = try boxretry_token_retry_policy.read(pointer, "policy")
        maximumAttempts = policy.maximum_attempts
        initialDelay = policy.initial_delay
        multiplier = policy.multiplier
        maximumDelay = policy.maximum_delay
        jitterRatio = policy.jitter_ratio
        do throws(InvalidOption) {
            try validate()
        } catch {
            throw .invalidArgument("policy", error)
        }
    }
}

@_cdecl("boxretry_token_delay") @implementation
public func boxretry_token_delay(
    _ policy: UnsafePointer<boxretry_token_retry_policy>!, _ failed_attempt: Int32, _ unit_random: Double,
    _ delay_out: UnsafeMutablePointer<Double>!
) -> boxretry_error {
    answer { () throws(Failure) in
        let policy = try TokenRetryPolicy(reading: policy)
        try checkedAttemptNumber(failed_attempt, atLeast: 1, "failed_attempt")
        try checkedUnitRandom(unit_random)
        let out = try required(delay_out, "delay_out")
        out.pointee = policy.delay(afterFailure: failed_attempt, unitRandom: unit_random)
    }
}

@_cdecl("boxretry_token_retry_policy_init") @implementation
public func boxretry_token_retry_policy_init(
    _ policy: UnsafeMutablePointer<boxretry_token_retry_policy>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in
        try boxretry_token_retry_policy.initialize(policy, "policy", structSize: struct_size)
    }
}
