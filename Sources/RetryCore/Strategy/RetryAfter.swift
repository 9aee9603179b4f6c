/// The Retry-After of a response (B7).
public enum RetryAfter {
    /// It has no Retry-After.
    case absent
    /// Seconds, from 0 to `Delay.maximum`, and whether the value was a number or a date.
    case usable(Double, DelaySource)
    /// It has an invalid Retry-After, so the backoff is used instead.
    case notUsable

    public var isPresent: Bool {
        if case .absent = self { return false }
        return true
    }

    /// Reads the header lines: the first usable one of `further`, else the largest usable Retry-After.
    // Not initializers: an initializer owns its arguments, which would cost reference counting.
    @inline(__always)
    public static func read(_ headers: HeaderList, further: DelayHeaders, clock: any Clock) -> RetryAfter {
        headers.count > 0 ? readLines(headers, further: further, clock: clock) : .absent
    }

    private static func readLines(_ headers: HeaderList, further: DelayHeaders, clock: any Clock) -> RetryAfter {
        var found = RetryAfter.absent
        for index in 0..<further.count {
            further.withHeader(at: index) { name, unit in
                headers.forEachValue(of: name) { value in
                    found.add(parseNumbers(value).map { $0 * unit }, .retryAfter)
                }
            }
            if case .usable = found { return found }
        }
        var hasOtherThanNumbers = false
        headers.forEachValue(of: HeaderName("retry-after")) { value in
            let seconds = parseNumbers(value)
            found.add(seconds, .retryAfter)
            if seconds == nil { hasOtherThanNumbers = true }
        }
        if hasOtherThanNumbers {
            let reference = referenceTime(headers, clock)
            headers.forEachValue(of: HeaderName("retry-after")) { value in
                found.add(parseDate(value, reference: reference), .retryAfterDate)
            }
        }
        return found
    }

    /// Adds a value of the header: the largest usable one counts, and the first of equal ones.
    private mutating func add(_ value: Double?, _ source: DelaySource) {
        let seconds = value.map(Delay.clamped)
        switch (self, seconds) {
        case (.usable(let largest, _), let seconds?): if seconds > largest { self = .usable(seconds, source) }
        case (.usable, nil): break
        case (_, let seconds?): self = .usable(seconds, source)
        case (_, nil): self = .notUsable
        }
    }

    /// The reference time for dates: the response's own Date if it is valid, else the wall clock.
    private static func referenceTime(_ headers: HeaderList, _ clock: any Clock) -> Double {
        let now = HTTPDate.clamped(clock.wall)
        var date: Int64?
        headers.forEachValue(of: HeaderName("date")) { value in
            if date == nil { date = HTTPDate.parse(value.trimmed(), now: HTTPDate.wholeSeconds(now)) }
        }
        return date.map(Double.init) ?? now
    }

    /// The value of one header line, in seconds; nil if it is not usable. `unixTime` is within `HTTPDate.range`.
    public static func parse(_ value: ByteCursor, unixTime: Int64) -> Double? {
        (parseNumbers(value) ?? parseDate(value, reference: Double(unixTime))).map(Delay.clamped)
    }

    /// A number, or the largest in a list of numbers. Not negative, but may be infinite.
    @inline(never)  // Few responses have one.
    private static func parseNumbers(_ value: ByteCursor) -> Double? {
        var rest = value
        var largest = 0.0
        repeat {
            let member = rest.takePart(before: UInt8(ascii: ","))
            guard let number = DecimalNumber.parse(member.trimmed()) else { return nil }
            largest = max(largest, number)
        } while rest.take(UInt8(ascii: ","))
        return largest
    }

    /// A date, in seconds from the reference time; negative if it is in the past.
    @inline(never)
    private static func parseDate(_ value: ByteCursor, reference: Double) -> Double? {
        guard let date = HTTPDate.parse(value.trimmed(), now: HTTPDate.wholeSeconds(reference)) else { return nil }
        return Double(date) - reference
    }
}
