import CShims
import Foundation
import RetryCore
import Testing

@testable import CurlEngine

/// What libcurl's codes mean (B2), as docs/curl-codes.md has it.
@Suite struct CurlResultTests {
    /// Keeps the call, which its transfers do not.
    private let scene: Scene

    init() throws {
        scene = try Scene(.status(200))
        _ = try scene.perform()
    }

    @Test("B2: each code that the table names means what the table says") func table() throws {
        let rows = try Self.rows()
        for (code, meaning) in rows {
            #expect(Self.name(attemptResult(CURLcode(code), of: try transfer())) == meaning, "\(code)")
        }
        #expect(rows.count > 30)
    }

    @Test("B2: every other code is the peer's fault") func others() throws {
        let named = Set(try Self.rows().map(\.0))
        for code in 1..<UInt32(CURL_LAST.rawValue) where !named.contains(code) {
            #expect(attemptResult(CURLcode(code), of: try transfer()) == .exception(.protocol), "\(code)")
        }
    }

    /// The rows about codes that mean the same whatever else has happened: code, and "cause" or "local: failure".
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

    private static func name(_ result: CallMachine.AttemptResult) -> String {
        switch result {
        case .response: "none: a response"
        case .exception(.resolve): "resolve"
        case .exception(.connect): "connect"
        case .exception(.tls): "tls"
        case .exception(.send): "send"
        case .exception(.receive): "receive"
        case .exception(.protocol): "protocol"
        case .vetoed: "a reconnect, or receive"
        case .local(.outOfMemory): "local: out_of_memory"
        case .local(.setting): "local: setting"
        case .local(.source): "local: source"
        default: "\(result)"
        }
    }

    /// One that has not sent anything.
    private func transfer() throws -> Transfer {
        Transfer(call: try #require(scene.call), lines: nil, withToken: true, now: 0)
    }
}
