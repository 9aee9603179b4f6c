/// Overflows, and so traps: see proof.c.
@_cdecl("proof_trap")
public func trap(number: Int32) -> Int32 {
    number + 1
}
