/// A response header in which the server tells whether to retry, such as `x-should-retry` (B11). Immutable.
public struct VerdictHeader {
    private let name: OwnedHeaderName

    /// Nil if it is not a valid header name.
    public init?(name: UnsafePointer<CChar>) {
        guard let name = OwnedHeaderName(name) else { return nil }
        self.name = name
    }

    /// The first line with the value "true" or "false", in any case; nil: there is no such line.
    func verdict(in headers: HeaderList) -> Bool? {
        var verdict: Bool?
        name.withName { name in
            headers.forEachValue(of: name) { value in
                guard verdict == nil else { return }
                if value.isEqual(ignoringCase: "true") { verdict = true }
                if value.isEqual(ignoringCase: "false") { verdict = false }
            }
        }
        return verdict
    }
}
