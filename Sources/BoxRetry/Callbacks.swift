import CShims

/// Runs a callback of the caller's. Meanwhile what blocks refuses to (K4). Once the process exits, the library's threads call
/// nothing (W8).
@inline(__always)
func called(_ callback: () -> Void) {
    guard shim_callback_enter() else { return }
    callback()
    shim_callback_leave()
}

/// Runs a callback of the caller's that answers through a number, which is preset to what means "failed".
func asked<Answer>(_ preset: Answer, _ callback: (UnsafeMutablePointer<Answer>) -> Void) -> Answer {
    var answer = preset
    called { callback(&answer) }
    return answer
}
