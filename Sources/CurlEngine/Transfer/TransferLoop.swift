/// What a transfer reports to its loop.
protocol TransferLoop: AnyObject {
    /// A look-up is over, or a transfer found a connection that there was.
    func opened(_ target: Target)

    /// A transfer that is counted among those of its host has its connection.
    func connected(_ target: Target)

    /// The head of the final response is whole. False: out of memory.
    func headReceived(_ call: CarriedCall) -> Bool

    /// Asks the strategy about that response, since its body has to go somewhere (B15). False: stop.
    func askAtHead(_ call: CarriedCall) -> Bool
}
