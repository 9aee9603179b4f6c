import RetryCore

extension Call {
    public convenience init(
        engine: Engine, request: RequestCopy, strategy: any RetryStrategy, settings: SharedCallSettings,
        delivery: Delivery, cancelSwitch: CancelSwitch?, userPointer: UnsafeMutableRawPointer?,
        sink: (any BodySink)? = nil,
        tokens: TokenSource? = nil, owner: CallOwner? = nil
    ) {
        self.init(
            loop: engine, time: engine.time, request: request, strategy: strategy, settings: settings,
            delivery: delivery, cancelSwitch: cancelSwitch, userPointer: userPointer, sink: sink, tokens: tokens,
            owner: owner)
    }
}
