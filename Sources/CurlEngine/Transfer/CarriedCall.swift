import CShims
import RetryCore

/// A call, as its transfers see it. Only the holder of the loop touches what is not constant.
public class CarriedCall: TimerEntry {
    public final let request: RequestCopy
    private final let sharedSettings: SharedCallSettings
    /// Read where they are, not copied.
    final var settings: CallSettings {
        @inline(__always) _read { yield sharedSettings.value }
    }
    /// Its loop's.
    final let time: LoopClock
    final let deadline: Instant

    final let sink: (any BodySink)?
    /// Of a sink that may be resumed.
    final var download: Download?
    /// Where the attempt is sent.
    final var target: Target
    /// The attempt under way, or the last one.
    final var attempt: AttemptMachine
    /// The head of the response that is being received.
    final var receivedHead = ResponseHead()

    /// It stands, or is under way, among those of its host.
    final var isCountedByHost = false
    /// Its index in the active calls of its loop; -1 if it is not active.
    final var activeIndex = -1

    /// The C handle of this call, which is lent to callbacks; nil: it has none.
    public final var handle: UnsafeMutableRawPointer?
    /// Whether there may be such callbacks.
    public final var lendsHandle: Bool { sink != nil || request.source != nil }

    init(
        _ request: RequestCopy, _ settings: SharedCallSettings, sink: (any BodySink)?, time: LoopClock,
        deadline: Instant
    ) {
        self.request = request
        sharedSettings = settings
        self.sink = sink
        self.time = time
        self.deadline = deadline
        target = request.target
        attempt = AttemptMachine(limits: settings.value.limits)
        if sink?.isResumable == true, request.mayBeResumed { download = Download() }
    }

    deinit {
        receivedHead.free()
        download?.forget()
    }

    final var hasDeadline: Bool { settings.deadline != .max }

    final var bodyCanBeSentAgain: Bool { request.source?.canBeSentAgain ?? true }

    /// What ends the sending under way first, if nothing moves, and in how many nanoseconds; below 0 it is overdue.
    final var nextTimeout: (cause: NetworkExceptionCause, left: Int64) {
        attempt.nextTimeout(settings.timeouts, now: time.now, boottime: time.boottime)
    }
}

/// Where the response, whose head is kept, redirects the call.
extension CarriedCall {
    var redirectTarget: Target.Followed {
        let status = attempt.exchange.status
        guard Redirect.isRedirect(status), settings.maxRedirects > 0,
            let location = receivedHead.list.firstValue(of: "Location")
        else { return .nowhere }
        return target.followed(status: status, location: location, from: request.target)
    }

    /// Whether the response is a redirect that is not the call's answer. Nil: out of memory.
    var willFollow: Bool? {
        switch redirectTarget {
        case .to(let target): !target.hasBody || bodyCanBeSentAgain
        case .nowhere: false
        case .outOfMemory: nil
        }
    }
}
