/// Additional response headers that count as Retry-After, such as `retry-after-ms` (B11). Immutable.
public struct DelayHeaders {
    public static let maximumCount = 16
    /// The longest unit: a day.
    public static let maximumUnit = 86_400.0

    private var headers: [Header]

    private struct Header {
        let name: OwnedHeaderName
        /// The number of seconds for a value of 1.
        let unit: Double
    }

    private init(_ headers: [Header]) {
        self.headers = headers
    }

    public static var none: DelayHeaders { DelayHeaders([]) }

    var count: Int { headers.count }

    /// Lends a header's name and unit.
    func withHeader(at index: Int, _ body: (HeaderName, Double) -> Void) {
        let header = headers[index]
        header.name.withName { body($0, header.unit) }
    }

    /// False, with nothing added, if the name or the unit is invalid, or there are too many.
    public mutating func append(name: UnsafePointer<CChar>, unit: Double) -> Bool {
        guard headers.count < Self.maximumCount, unit > 0, unit <= Self.maximumUnit else { return false }
        guard let name = OwnedHeaderName(name) else { return false }
        headers.append(Header(name: name, unit: unit))
        return true
    }
}
