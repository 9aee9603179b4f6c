import CShims
import RetryCore

/// From whom a waiter gets its token.
protocol TokenSupplier: AnyObject {
    /// Ends the wait of this waiter.
    func cancel(_ waiter: TokenWaiter)
}

/// Waits for a token, and gets the result exactly once (T9).
public final class TokenWaiter: Cancelable {
    private let source: any TokenSupplier
    let delivery: Delivery
    /// Ends the wait.
    let cancelSwitch: CancelSwitch?
    /// Its loop has no thread.
    let guest: TokenGuest?
    var indexInSwitch = 0
    /// By which the waiter leaves; 0 until it waits. Guarded by the source's lock.
    var ticket: UInt64 = 0
    /// Written before it is delivered.
    private(set) var result = TokenResult.failure(.source(.closed))

    /// How the waiter gets its result.
    public enum Delivery {
        /// Wakes a thread.
        case thread(Waiter)
        /// Called on the source's own thread, or on the caller's thread if no thread can be started. It must not block.
        case callback((TokenResult) -> Void)
        /// Called at once, on any thread, outside of all locks. It must neither block nor call foreign code:
        /// an engine takes it as a command.
        case atOnce((TokenResult) -> Void)
    }

    init(source: any TokenSupplier, cancelSwitch: CancelSwitch?, guest: TokenGuest?, delivery: Delivery) {
        self.source = source
        self.guest = guest
        self.cancelSwitch = cancelSwitch
        self.delivery = delivery
    }

    func cancel() {
        source.cancel(self)
    }

    func finish(_ result: TokenResult) {
        self.result = result
        cancelSwitch?.remove(self)
        switch delivery {
        case .thread(let waiter): waiter.signal()
        case .callback(let body), .atOnce(let body): body(result)
        }
    }
}

public typealias TokenResult = Result<AccessToken, TokenWaitFailure>

/// Why somebody who waited has no token.
public enum TokenWaitFailure: Error {
    case source(TokenFailure)
    case cancelled
    case timedOut
    case outOfMemory
    /// It is the one that was rejected.
    case rejectedAgain
    /// A fixed token was rejected.
    case notRenewable
}
