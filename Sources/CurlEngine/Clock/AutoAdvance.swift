/// Decides when a manual clock may advance by itself: when none of its users is at work, and nothing has happened for a
/// while. A value without threads: the clock says what happens, and waits for as long as `next` says.
///
/// Whether a server, a callback or a program still has something to do cannot be known, so the clock gives each of them
/// real time. It counts short waits rather than looking at the time, and on a machine that is busy each counts for
/// less: there the others may not have had their turn.
struct AutoAdvance {
    enum Activity {
        /// Only timers, if any.
        case none
        /// Attempts are under way, whose servers may answer.
        case attempt
        /// Something that may take longer: a callback of the program's is running, a body waits for the program, or a
        /// connection is being made, whose lost packets the kernel repeats after a second.
        case slow
        /// The library is at work.
        case work
    }

    /// What the clock's thread does next.
    enum Step {
        /// Wait until something changes.
        case rest
        /// Wait for `AutoAdvance.wait`, then report `waited`.
        case wait
        /// Advance to the next timer.
        case advance
    }

    /// Nanoseconds of real time.
    static let wait: Int64 = 1_000_000

    var isOn = false
    /// How many users are doing what.
    private var users: (attempt: Int, slow: Int, work: Int) = (0, 0, 0)
    /// Eighths of waits since something last happened.
    private var quiet = 0
    private var hasEvent = false

    /// Somebody does something else from now on.
    mutating func change(from old: Activity, to new: Activity) {
        count(old, -1)
        count(new, 1)
    }

    /// Something has happened, so others may follow.
    mutating func event() {
        quiet = 0
        hasEvent = true
    }

    /// The wait that `next` asked for is over. `isBusy`: others waited for a processor.
    mutating func waited(isBusy: Bool) {
        if !hasEvent, users.work == 0 { quiet += isBusy ? 1 : 8 }
    }

    mutating func next(hasTimer: Bool) -> Step {
        hasEvent = false
        guard isOn, hasTimer, users.work == 0 else { return .rest }
        guard quiet >= 8 * leastQuiet else { return .wait }
        quiet = 0
        return .advance
    }

    var isAtWork: Bool { users.work > 0 }

    /// In waits.
    private var leastQuiet: Int {
        if users.slow > 0 { return 1_500 }
        return users.attempt > 0 ? 100 : 1
    }

    private mutating func count(_ activity: Activity, _ change: Int) {
        switch activity {
        case .none: break
        case .attempt: users.attempt += change
        case .slow: users.slow += change
        case .work: users.work += change
        }
    }
}
