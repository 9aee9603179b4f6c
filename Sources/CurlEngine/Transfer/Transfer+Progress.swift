import CShims
import RetryCore

extension Transfer {
    /// How far the bodies have come, as libcurl counts.
    func report(moved now: shim_progress) {
        let total = now.received &+ now.sent
        guard total != progress.moved else { return }
        progress.moved = total
        touch()
        guard call.settings.onProgress != nil else { return }
        progress.unreported = now
        progress.totals = (now.receive_total, now.send_total)
        // At most twenty times a second, and at the end.
        if call.attempt.exchange.lastActivity - progress.reportedAt >= 50_000_000 { reportProgress() }
    }

    /// The attempt is over: reports the final progress, even if libcurl has not reported it.
    func reportLastProgress() {
        let total = report.received &+ report.sent
        if call.settings.onProgress != nil, total != progress.moved {
            progress.moved = total
            progress.unreported = shim_progress(
                received: report.received, receive_total: progress.totals?.receive ?? -1, sent: report.sent,
                send_total: progress.totals?.send ?? call.request.bodyLength ?? -1)
        }
        reportProgress()
    }

    /// Reports how far the bodies have come, unless it has done so already.
    private func reportProgress() {
        guard let onProgress = call.settings.onProgress, var now = progress.unreported else { return }
        progress.unreported = nil
        progress.reportedAt = call.attempt.exchange.lastActivity
        if now.receive_total <= 0 { now.receive_total = -1 }
        if !target.hasBody {
            now.send_total = 0
        } else if let source = call.request.source, source.length < 0, !call.request.isForm {
            // libcurl counts what it writes between the chunks as well.
            now.sent = bytesRead
            now.send_total = -1
        }
        onProgress(plan.attemptNumber, now, resumedFrom)
        call.time.read()
    }
}
