import CShims
import Foundation
import RetryCore
import Testing

@testable import CurlEngine

/// What libcurl's codes mean (B2), as docs/curl-codes.md has it.
@Suite struct CurlCodesTests {
    /// Keeps the call, which its transfers do not.
    private let scene: Scene

    init() throws {
        scene = try Scene(.status(200))
        _ = try scene.perform()
    }

    @Test("B2: each code that the table names means what the table says") func table() throws {
        let rows = try Self.rows()
        for (code, meaning) in rows {
            #expect(Self.name(try ended(CURLcode(code))) == meaning, "\(code)")
        }
        #expect(rows.count > 30)
    }

    @Test("B2: every other code is the peer's fault") func others() throws {
        let named = Set(try Self.rows().map(\.0))
        for code in 1..<UInt32(CURL_LAST.rawValue) where !named.contains(code) {
            #expect(try ended(CURLcode(code)) == .end(.exception(.protocol)), "\(code)")
        }
    }

    /// The rows about codes that always mean the same: code, and "cause" or "local: failure".
    private static func rows() throws -> [(UInt32, String)] {
        let file = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("docs/curl-codes.md")
        var rows: [(UInt32, String)] = []
        let text = try String(contentsOf: file, encoding: .utf8)
        for line in text.split(separator: "\n") where line.hasPrefix("| `CURLE") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let codes = cells[0].matches(of: /\((\d+)\)/).compactMap { UInt32($0.1) }
            let meaning = cells[1].split(separator: ";")[0].replacingOccurrences(of: "`", with: "")
            guard !cells[0].contains(" after "), codes != [0] else { continue }
            rows += codes.map { ($0, meaning) }
        }
        return rows
    }

    private static func name(_ action: AttemptMachine.EndAction) -> String {
        switch action {
        case .response: "none: a response"
        case .end(.exception(.resolve)): "resolve"
        case .end(.exception(.connect)): "connect"
        case .end(.exception(.tls)): "tls"
        case .end(.exception(.send)): "send"
        case .end(.exception(.receive)): "receive"
        case .end(.exception(.protocol)): "protocol"
        case .askToReconnect: "a reconnect, or receive"
        case .end(.local(.outOfMemory)): "local: out_of_memory"
        case .end(.local(.setting)): "local: setting"
        case .end(.local(.source)): "local: source"
        default: "\(action)"
        }
    }

    /// How an attempt ends that has not sent anything.
    private func ended(_ code: CURLcode) throws -> AttemptMachine.EndAction {
        let call = try #require(scene.call)
        call.attempt = AttemptMachine(limits: ResponseLimits())
        let transfer = Transfer(
            call: call, plan: try scene.engine.plan(call), loop: scene.engine,
            origins: .passUnretained(scene.engine.origins))
        _ = call.attempt.startSending(transfer.plan.request, at: 0)
        let end = AttemptEnd(transportEnd(code, of: transfer, nil), code: Int32(code.rawValue), at: 0)
        return call.attempt.transportEnded(end, transfer.context)
    }
}
