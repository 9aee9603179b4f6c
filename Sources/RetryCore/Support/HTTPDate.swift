/// The three forms of an HTTP date (RFC 9110, 5.6.7), as seconds since 1970.
///
///     Sun, 06 Nov 1994 08:49:37 GMT       the current form
///     Sunday, 06-Nov-94 08:49:37 GMT      obsolete, with a two-digit year
///     Sun Nov  6 08:49:37 1994            obsolete, from C's asctime()
///
/// Case-sensitive. The weekday must be a valid name, but not necessarily the right one. Dates that do not exist are
/// invalid (B7).
public enum HTTPDate {
    /// From the beginning of the year 1 to the end of the year 9999.
    public static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// Whether that time is within `range`; false for NaN.
    public static func isRepresentable(_ unixTime: Double) -> Bool {
        unixTime >= Double(range.lowerBound) && unixTime <= Double(range.upperBound)
    }

    /// The time within `range` that is nearest to that one.
    static func clamped(_ unixTime: Double) -> Double {
        min(max(unixTime, Double(range.lowerBound)), Double(range.upperBound))
    }

    /// That time, which must be within `range`, in whole seconds.
    static func wholeSeconds(_ unixTime: Double) -> Int64 {
        let truncated = Int64(unixTime)
        return Double(truncated) > unixTime ? truncated - 1 : truncated
    }

    /// Parses a date; nil if it is invalid. `now`, within `range`, determines the century of a two-digit year.
    static func parse(_ text: ByteCursor, now: Int64) -> Int64? {
        var text = text
        guard let weekday = takeName(&text, weekdays) else { return nil }
        let date: CivilDate?
        if text.take(", ") {
            date = takeFixedForm(&text)
        } else if text.take(weekdayEnding(weekday)) {
            date = text.take(", ") ? takeTwoDigitForm(&text, now: now) : nil
        } else {
            date = text.take(UInt8(ascii: " ")) ? takeAsctimeForm(&text) : nil
        }
        guard let date, text.isAtEnd, date.exists else { return nil }
        return date.unixTime
    }

    /// `06 Nov 1994 08:49:37 GMT`
    private static func takeFixedForm(_ text: inout ByteCursor) -> CivilDate? {
        guard let day = takeNumber(&text, digits: 2), text.take(UInt8(ascii: " ")),
            let month = takeName(&text, months), text.take(UInt8(ascii: " ")),
            let year = takeNumber(&text, digits: 4), text.take(UInt8(ascii: " ")),
            let second = takeTime(&text), text.take(" GMT")
        else { return nil }
        return CivilDate(year: year, month: Int64(month) + 1, day: day, secondOfDay: second)
    }

    /// `06-Nov-94 08:49:37 GMT`: the latest such year that is not more than 50 years in the future.
    private static func takeTwoDigitForm(_ text: inout ByteCursor, now: Int64) -> CivilDate? {
        guard let day = takeNumber(&text, digits: 2), text.take(UInt8(ascii: "-")),
            let month = takeName(&text, months), text.take(UInt8(ascii: "-")),
            let year = takeNumber(&text, digits: 2), text.take(UInt8(ascii: " ")),
            let second = takeTime(&text), text.take(" GMT")
        else { return nil }
        var limit = CivilDate(unixTime: now)
        limit.year += 50
        let nextCentury = limit.year / 100 * 100 + 100
        var date = CivilDate(year: nextCentury + year, month: Int64(month) + 1, day: day, secondOfDay: second)
        while date.year > 0, date.isAfter(limit) { date.year -= 100 }
        return date
    }

    /// `Nov  6 08:49:37 1994`
    private static func takeAsctimeForm(_ text: inout ByteCursor) -> CivilDate? {
        guard let month = takeName(&text, months), text.take(UInt8(ascii: " ")) else { return nil }
        let dayDigits = text.take(UInt8(ascii: " ")) ? 1 : 2
        guard let day = takeNumber(&text, digits: dayDigits), text.take(UInt8(ascii: " ")),
            let second = takeTime(&text), text.take(UInt8(ascii: " ")),
            let year = takeNumber(&text, digits: 4)
        else { return nil }
        return CivilDate(year: year, month: Int64(month) + 1, day: day, secondOfDay: second)
    }

    /// `08:49:37`, as the second of the day. Second 60 is invalid.
    private static func takeTime(_ text: inout ByteCursor) -> Int64? {
        guard let hour = takeNumber(&text, digits: 2), hour < 24, text.take(UInt8(ascii: ":")),
            let minute = takeNumber(&text, digits: 2), minute < 60, text.take(UInt8(ascii: ":")),
            let second = takeNumber(&text, digits: 2), second < 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private static func takeNumber(_ text: inout ByteCursor, digits: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<digits {
            guard let digit = text.takeDigit() else { return nil }
            number = number * 10 + Int64(digit)
        }
        return number
    }

    /// Takes one of the names, which all have three letters, and returns its index.
    private static func takeName(_ text: inout ByteCursor, _ names: StaticString) -> Int? {
        let (first, second, third) = (text.next(), text.next(), text.next())
        for index in stride(from: 0, to: names.utf8CodeUnitCount, by: 3) {
            let name = names.utf8Start + index
            if name[0] == first, name[1] == second, name[2] == third { return index / 3 }
        }
        return nil
    }

    private static let months: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"
    private static let weekdays: StaticString = "MonTueWedThuFriSatSun"

    private static func weekdayEnding(_ weekday: Int) -> StaticString {
        switch weekday {
        case 1: "sday"
        case 2: "nesday"
        case 3: "rsday"
        case 5: "urday"
        default: "day"
        }
    }
}

/// A time in the Gregorian calendar, in UTC.
private struct CivilDate {
    var year: Int64
    var month: Int64
    var day: Int64
    var secondOfDay: Int64

    init(year: Int64, month: Int64, day: Int64, secondOfDay: Int64) {
        self.year = year
        self.month = month
        self.day = day
        self.secondOfDay = secondOfDay
    }

    /// Years are counted from March, so that a leap day is the last day of a year, and in eras of 400 years, which all
    /// have 146,097 days.
    private static let daysPerEra: Int64 = 146_097
    private static let daysBefore1970: Int64 = 719_468  // since March 1 of the year 0

    init(unixTime: Int64) {
        let days = floorDivided(unixTime, by: 86_400)
        secondOfDay = unixTime - days * 86_400
        let shifted = days + Self.daysBefore1970
        let era = floorDivided(shifted, by: Self.daysPerEra)
        let dayOfEra = shifted - era * Self.daysPerEra
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var unixTime: Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = floorDivided(marchYear, by: 400)
        let yearOfEra = marchYear - era * 400
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return (era * Self.daysPerEra + dayOfEra - Self.daysBefore1970) * 86_400 + secondOfDay
    }

    /// Whether this day exists, in the years 1 to 9999.
    var exists: Bool {
        guard (1...9999).contains(year), day >= 1 else { return false }
        switch month {
        case 2: return day <= (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28)
        case 4, 6, 9, 11: return day <= 30
        default: return day <= 31
        }
    }

    func isAfter(_ other: CivilDate) -> Bool {
        if year != other.year { return year > other.year }
        if month != other.month { return month > other.month }
        if day != other.day { return day > other.day }
        return secondOfDay > other.secondOfDay
    }
}

private func floorDivided(_ dividend: Int64, by divisor: Int64) -> Int64 {
    let quotient = dividend / divisor
    return dividend % divisor < 0 ? quotient - 1 : quotient
}
