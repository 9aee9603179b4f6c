import CShims

/// At most four threads for what may take its time: custom strategies (B9). They end when the pool does.
final class WorkerPool {
    private static let maximumThreads = 4

    private let monitor: OpaquePointer
    private var work: [StrategyQuestion] = []
    private var threads = 0
    private var idle = 0
    private var isClosed = false

    /// Nil if out of memory.
    static func make() -> WorkerPool? {
        shim_monitor_new().map { WorkerPool($0) }
    }

    private init(_ monitor: OpaquePointer) {
        self.monitor = monitor
    }

    deinit {
        shim_monitor_free(monitor)
    }

    /// False if no thread is free, and none can be made.
    func ask(_ question: StrategyQuestion) -> Bool {
        shim_monitor_lock(monitor)
        defer { shim_monitor_unlock(monitor) }
        if work.count >= idle, threads < Self.maximumThreads {
            let context = Unmanaged.passRetained(self)
            if shim_thread_start({ WorkerPool.run($0) }, nil, context.toOpaque()) {
                threads += 1
            } else {
                context.release()
                guard threads > 0 else { return false }
            }
        }
        work.append(question)
        shim_monitor_wake_all(monitor)
        return true
    }

    func close() {
        shim_monitor_lock(monitor)
        isClosed = true
        shim_monitor_wake_all(monitor)
        shim_monitor_unlock(monitor)
    }

    /// Without the lock: the question may be the last to keep its call, whose end may call back.
    private func run(_ question: consuming StrategyQuestion) {
        question.ask()
        question.call.engine.post(.decided(question), about: question.call)
    }

    private static func run(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        Unmanaged<WorkerPool>.fromOpaque(context).takeRetainedValue().runThread()
    }

    private func runThread() {
        shim_monitor_lock(monitor)
        while true {
            if !work.isEmpty {
                let question = work.removeFirst()
                shim_monitor_unlock(monitor)
                run(question)
                shim_monitor_lock(monitor)
            } else if isClosed {
                threads -= 1
                break
            } else {
                idle += 1
                _ = shim_monitor_wait_until(monitor, .max)
                idle -= 1
            }
        }
        shim_monitor_unlock(monitor)
    }
}
