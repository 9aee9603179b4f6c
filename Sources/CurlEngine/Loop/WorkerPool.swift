import CShims

/// At most four threads for what may take its time, as custom strategies do (B9). They end when the pool does.
final class WorkerPool {
    private static let maximumThreads = 4

    private struct State {
        var work: [() -> Void] = []
        var threads = 0
        var idle = 0
        var isClosed = false
    }

    private let monitor: Monitor<State>

    /// Nil if out of memory.
    static func make() -> WorkerPool? {
        guard let monitor = Monitor(State()) else { return nil }
        return WorkerPool(monitor)
    }

    private init(_ monitor: consuming Monitor<State>) {
        self.monitor = monitor
    }

    /// False if no thread is free, and none can be made.
    func run(_ work: @escaping () -> Void) -> Bool {
        monitor.withLock { held in
            if held.state.work.count >= held.state.idle, held.state.threads < Self.maximumThreads {
                let context = Unmanaged.passRetained(self)
                if shim_thread_start({ WorkerPool.run($0) }, nil, context.toOpaque()) {
                    held.state.threads += 1
                } else {
                    context.release()
                    guard held.state.threads > 0 else { return false }
                }
            }
            held.state.work.append(work)
            held.wakeAll()
            return true
        }
    }

    func close() {
        monitor.withLock { held in
            held.state.isClosed = true
            held.wakeAll()
        }
    }

    private static func run(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        Unmanaged<WorkerPool>.fromOpaque(context).takeRetainedValue().runThread()
    }

    private func runThread() {
        // Without the lock: the work may be the last to keep a call, whose end may call back.
        while let work = nextWork() { work() }
    }

    /// Waits for one. Nil: the pool is closed, and there is none.
    private func nextWork() -> (() -> Void)? {
        monitor.withLock { held in
            while held.state.work.isEmpty {
                guard !held.state.isClosed else {
                    held.state.threads -= 1
                    return nil
                }
                held.state.idle += 1
                _ = held.wait()
                held.state.idle -= 1
            }
            return held.state.work.removeFirst()
        }
    }
}
