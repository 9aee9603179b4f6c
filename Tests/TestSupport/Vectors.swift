import Foundation

/// The lines of a file in Tests/vectors, without the comments, each split at its tabs.
public func vectors(_ name: String) throws -> [[String]] {
    let file = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("vectors/\(name).tsv")
    return try String(contentsOf: file, encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: true)
        .filter { !$0.hasPrefix("#") }
        .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
}

/// Whether two delays are equal within the tolerance of the vectors.
public func isClose(_ value: Double, _ expected: Double) -> Bool {
    abs(value - expected) <= 1e-12 * abs(expected)
}
