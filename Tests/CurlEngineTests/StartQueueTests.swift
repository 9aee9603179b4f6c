import CShims
import Glibc
import RetryCore
import Testing

@testable import CurlEngine

@Suite struct OriginTableTests {
    @Test("after any changes it has what a dictionary has, also if all keys want the same slot")
    func randomPrograms() {
        for seed in UInt64(1)...50 {
            var random = Generator(state: seed)
            var table = OriginTable()
            var expected: [UInt64: Int] = [:]
            let step: UInt64 = seed % 2 == 0 ? 1 : 1 << 20
            let origins = (0..<100).map { UInt64($0) &* step }
            for number in 0..<2_000 {
                let origin = origins.randomElement(using: &random) ?? 0
                if Bool.random(using: &random) {
                    table.set(origin, to: number)
                    expected[origin] = number
                } else {
                    table.remove(origin)
                    expected[origin] = nil
                }
                #expect(table.count == expected.count)
            }
            #expect(origins.allSatisfy { table.value(of: $0) == expected[$0] })
        }
    }
}

@Suite struct StartQueueTests {
    private let scene: Scene
    private let settings: EngineSettings

    init() throws {
        scene = try Scene(.status(200))
        var settings = EngineSettings()
        settings.transport.maxTransfers = 20
        settings.maxLookups = 9
        self.settings = settings
    }

    private func call(_ origin: UInt64, needsLookup: Bool = true) throws -> Call {
        let parsedURL = shim_url(origin: origin, needs_lookup: needsLookup, has_tls: false, is_local: false)
        let request = RequestCopy.make(
            method: StaticString("GET").cString, url: StaticString("http://a/").cString, parsedURL: parsedURL,
            headers: nil,
            body: .none, isUnsafe: false)
        guard let request else { throw Engine.SetupFailure.outOfMemory }
        return Call(
            engine: scene.engine, request: request, strategy: BoxRetryStrategy(checked: BoxRetryOptions()),
            settings: SharedCallSettings(CallSettings()), delivery: .none, cancelSwitch: nil, userPointer: nil)
    }

    @Test("hosts take turns, and the attempts of one host keep their order") func turns() throws {
        var queue = StartQueue()
        let calls = try [1, 1, 1, 2, 3].map { try call($0) }
        for call in calls { queue.append(call, settings, probes: false) }
        var order: [Int] = []
        while let next = queue.next(settings, now: 0) { order.append(calls.firstIndex { $0 === next } ?? -1) }
        #expect(order == [0, 3, 4, 1, 2])
        #expect(queue.isEmpty)
    }

    @Test("while the first attempt of a host finds out what it speaks, the others wait, but no longer than a second")
    func probing() throws {
        var queue = StartQueue()
        for origin in [1, 2] as [UInt64] {
            for _ in 0..<2 { queue.append(try call(origin, needsLookup: false), settings, probes: true) }
        }
        #expect(queue.next(settings, now: 100)?.target.parsedURL.origin == 1)
        let second = queue.next(settings, now: 200)
        #expect(second?.target.parsedURL.origin == 2)
        #expect(queue.next(settings, now: 300) == nil)
        #expect(queue.nextRelease == 1_000_000_100)
        if let second { queue.connected(second.target) }
        #expect(queue.next(settings, now: 400)?.target.parsedURL.origin == 2)
        #expect(queue.next(settings, now: 1_000_000_099) == nil)
        #expect(queue.next(settings, now: 1_000_000_100)?.target.parsedURL.origin == 1)
    }

    @Test("in any order of starts, ends and cancels, the limits hold, nothing is lost, and what may start does")
    func randomPrograms() throws {
        for seed in UInt64(1)...20 {
            var random = Generator(state: seed)
            var queue = StartQueue()
            var settings = settings
            if seed % 2 == 0 { settings.maxTransfersForOneHost = 5 }
            var waiting: [Call] = []
            var lookingUp: [Call] = []
            var running: [Call] = []
            for _ in 0..<1_000 {
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1, 2:
                    let origin = UInt64.random(in: 0..<6, using: &random)
                    let call = try call(origin, needsLookup: origin < 4)
                    queue.append(call, settings, probes: false)
                    waiting.append(call)
                case 3:
                    guard let index = waiting.indices.randomElement(using: &random) else { continue }
                    queue.remove(waiting.remove(at: index))
                case 4:
                    guard let index = lookingUp.indices.randomElement(using: &random) else { continue }
                    queue.opened(lookingUp.remove(at: index).target)
                default:
                    guard let index = running.indices.randomElement(using: &random) else { continue }
                    let call = running.remove(at: index)
                    if let index = lookingUp.firstIndex(where: { $0 === call }) {
                        lookingUp.remove(at: index)
                        queue.opened(call.target)
                    }
                    queue.ended(call.target, isCounted: call.isCountedByHost)
                }
                while let next = queue.next(settings, now: 0) {
                    let origin = next.target.parsedURL.origin
                    let first = waiting.firstIndex { $0.target.parsedURL.origin == origin }
                    #expect(first.map { waiting[$0] === next } == true, "first come, first served")
                    waiting.removeAll { $0 === next }
                    running.append(next)
                    if origin < 4 { lookingUp.append(next) }
                }
                #expect(running.count <= settings.transport.maxTransfers && lookingUp.count <= settings.maxLookups)
                #expect(queue.isEmpty == waiting.isEmpty)
                for call in waiting where running.count < settings.transport.maxTransfers {
                    let origin = call.target.parsedURL.origin
                    let ofHost = running.filter { $0.target.parsedURL.origin == origin }.count
                    let itsLookups = lookingUp.filter { $0.target.parsedURL.origin == origin }.count
                    let isHeldUp = origin < 4 && (lookingUp.count == settings.maxLookups || itsLookups == 8)
                    #expect(isHeldUp || ofHost == settings.maxTransfersForOneHost, "it could have begun")
                }
            }
        }
    }

    @Test("F103: four times as many hosts take about four times as long") func manyHosts() throws {
        func seconds(_ count: Int) throws -> Double {
            let calls = try (0..<count).map { try call(UInt64($0) &* 0x9E37_79B9_7F4A_7C15) }
            var settings = settings
            settings.transport.maxTransfers = 512
            settings.maxLookups = 512
            let start = processorTime()
            var queue = StartQueue()
            for call in calls { queue.append(call, settings, probes: false) }
            var running: [Call] = []
            while !queue.isEmpty {
                while let next = queue.next(settings, now: 0) { running.append(next) }
                for call in running {
                    queue.opened(call.target)
                    queue.ended(call.target, isCounted: true)
                }
                running.removeAll(keepingCapacity: true)
            }
            return processorTime() - start
        }
        let few = try (0..<3).map { _ in try seconds(4_000) }.min() ?? 0
        let many = try (0..<3).map { _ in try seconds(16_000) }.min() ?? 0
        #expect(many < 9 * few, "a list of hosts takes 16 times as long")
    }
}

/// Seconds for which this thread has had a processor. Others may have it meanwhile.
private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
