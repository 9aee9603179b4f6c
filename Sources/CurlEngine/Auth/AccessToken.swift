import RetryCore

/// A token as those who asked for it have it. Never changes.
public final class AccessToken {
    public let secret: SecretBytes
    /// By which it is known where it must not be shown (T1).
    public let generation: UInt64
    private let life: TokenLife
    private let clock: TokenClock

    init(_ secret: SecretBytes, generation: UInt64, life: TokenLife, clock: TokenClock) {
        self.secret = secret
        self.generation = generation
        self.life = life
        self.clock = clock
    }

    /// Seconds that are left of its life; 0 if it is over.
    public var secondsLeft: Double { life.left(at: clock.boottime) }
}

/// What a token source goes by.
public enum TokenClock {
    case system(SystemClock)
    case manual(SharedManualClock)

    var isSystem: Bool {
        switch self {
        case .system: true
        case .manual: false
        }
    }

    var manual: SharedManualClock? {
        switch self {
        case .system: nil
        case .manual(let clock): clock
        }
    }

    /// The same for an engine.
    var loopClock: LoopClock {
        switch self {
        case .system(let clock): LoopClock(clock)
        case .manual(let clock): LoopClock(clock)
        }
    }

    var boottime: Instant {
        switch self {
        case .system(let clock): clock.boottime
        case .manual(let clock): clock.boottime
        }
    }

    var monotonic: Instant {
        switch self {
        case .system(let clock): clock.monotonic
        case .manual(let clock): clock.monotonic
        }
    }

    var moment: TokenMoment {
        switch self {
        case .system(let clock): TokenMoment(clock)
        case .manual(let clock): clock.moment
        }
    }
}
