/// A small, fast generator of pseudo-random numbers (SplitMix64). Not for secrets.
public struct SplitMix64 {
    private var state: UInt64

    public init(state: UInt64) {
        self.state = state
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Uniform in [0, 1]; both ends can occur (B6).
    public mutating func nextUnit() -> Double {
        Self.unit(next())
    }

    /// The number in [0, 1] from the upper 53 bits: all zeros are 0, all ones are 1.
    static func unit(_ bits: UInt64) -> Double {
        Double(bits >> 11) * (1.0 / 9_007_199_254_740_991.0)
    }
}
