import CShims

/// Runs a callback of the caller. Blocking functions fail inside it (K4). After the process has begun to exit, the
/// library's threads run no callbacks (W8).
@inline(__always)
func called(_ callback: () -> Void) {
    guard shim_callback_enter() else { return }
    callback()
    shim_callback_leave()
}

/// Runs a callback that answers by setting a number. The number is preset to a value that means "failed".
func asked<Answer>(_ preset: Answer, _ callback: (UnsafeMutablePointer<Answer>) -> Void) -> Answer {
    var answer = preset
    called { callback(&answer) }
    return answer
}
