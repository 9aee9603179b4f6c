/// What an engine has counted.
public struct EngineStats {
    public var calls: Int64 = 0
    public var ended: Int64 = 0
    public var attempts: Int64 = 0
    public var retries: Int64 = 0
    public var reconnects: Int64 = 0
    /// Times that a gate closed, and that one opened (C3).
    public var gatesClosed: Int64 = 0
    public var gatesOpened: Int64 = 0
    /// Attempts that waited for a gate.
    public var held: Int64 = 0
}
