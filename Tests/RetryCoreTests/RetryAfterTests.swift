import RetryCore
import TestSupport
import Testing

/// The forms of Retry-After that retry_after.tsv does not have.
@Suite struct RetryAfterTests {
    static let now: Int64 = 1_790_000_000  // Mon, 21 Sep 2026 14:13:20 GMT

    @Test(
        "B7: numbers in every accepted form",
        arguments: [
            ("1e-3", 0.001), ("1E+3", 1000), ("+.5", 0.5), ("0.1", 0.1), ("00.10", 0.1), ("0e999999999999", 0),
            ("123456789.123456789", 123_456_789.123456789), ("1e-400", 0), ("0.0000000000000000000000001e25", 1),
            ("100000000000000000000000e-23", 1), ("1 ,\t2 , 3", 3), ("2147483646.5", 2_147_483_646.5),
        ])
    func numbers(text: String, seconds: Double) throws {
        #expect(isClose(try #require(parseRetryAfter(text, unixTime: Self.now)), seconds))
    }

    @Test(
        "B7: what is nearly a number is not usable",
        arguments: [
            "++1", "+-1", "+", ".", "1e", "1e+", "e1", "1.2.3", "1 2", "1_000", "0b1", "1f", "1.0s", "１", "1,,2", ",",
            "1\u{b}", "\u{a0}1", "1\r", "−1", "1e1.5", "1,nan", "-0",
        ])
    func nearlyNumbers(text: String) {
        #expect(parseRetryAfter(text, unixTime: Self.now) == nil)
    }

    @Test(
        "B7: dates that are nearly right are not usable",
        arguments: [
            "Mon, 21 Sep 2026 14:13:50", "Mon, 21 Sep 2026 14:13:50 UTC", "Mon, 21 Sep 2026 14:13:50 GMT+1",
            "Mon,21 Sep 2026 14:13:50 GMT", "Mon, 1 Sep 2026 14:13:50 GMT", "Mon, 21  Sep 2026 14:13:50 GMT",
            "Mon, 21 Sep 26 14:13:50 GMT", "Mon, 21 Sep 2026 4:13:50 GMT", "Mon, 21 Sep 2026 24:00:00 GMT",
            "Mon, 21 Sep 2026 14:60:00 GMT", "Mon, 31 Sep 2026 14:13:50 GMT", "Mon, 00 Sep 2026 14:13:50 GMT",
            "Tue, 29 Feb 2027 00:00:00 GMT", "Wed, 29 Feb 2100 00:00:00 GMT", "Xyz, 21 Sep 2026 14:13:50 GMT",
            "Mon, 21 Sep 0000 14:13:50 GMT", "Monday, 21 Sep 2026 14:13:50 GMT", "Mon, 21-Sep-26 14:13:50 GMT",
            "Monday, 21-Sep-2026 14:13:50 GMT", "Tueday, 21-Sep-26 14:13:50 GMT", "Mon Sep 21 14:13:50 2026 GMT",
            "Mon Sep 1 14:13:50 2026", "Mon Sep  21 14:13:50 2026", "Mon Sep 21 14:13:50 26", "Mon", "Mon, ",
            "Mon, 21 Sep 2026 14:13:50 GMT, 5", "21 Sep 2026 14:13:50 GMT", "Mon, 21 Sep 2026 14.13.50 GMT",
        ])
    func nearlyDates(text: String) {
        #expect(parseRetryAfter(text, unixTime: Self.now) == nil)
    }

    @Test(
        "B7: each form of a date, with white space around it, on any weekday of the name",
        arguments: [
            "  Mon, 21 Sep 2026 14:13:50 GMT\t", "Sun, 21 Sep 2026 14:13:50 GMT", "Tuesday, 21-Sep-26 14:13:50 GMT",
            "Wednesday, 21-Sep-26 14:13:50 GMT", "Thursday, 21-Sep-26 14:13:50 GMT", "Friday, 21-Sep-26 14:13:50 GMT",
            "Saturday, 21-Sep-26 14:13:50 GMT", "Sunday, 21-Sep-26 14:13:50 GMT", "Fri Sep 21 14:13:50 2026",
        ])
    func dates(text: String) {
        #expect(parseRetryAfter(text, unixTime: Self.now) == 30)
    }

    @Test("B7: asctime() pads the day with a space") func paddedDay() {
        #expect(parseRetryAfter("Thu Oct  1 14:13:20 2026", unixTime: Self.now) == 864_000)
    }

    @Test(
        "B7: the calendar has leap days where it has them",
        arguments: [
            ("Tue, 29 Feb 2028 00:00:00 GMT", 1_835_395_200), ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800),
            ("Thu, 01 Jan 1970 00:00:01 GMT", 1),
        ] as [(String, Int64)])
    func leapDays(text: String, unixTime: Int64) {
        #expect(
            parseRetryAfter(text, unixTime: max(unixTime - 7, -62_135_596_800)) == (unixTime > -62_135_596_000 ? 7 : 0))
    }

    @Test(
        "B7: two digits are the latest year that is not more than 50 years ahead",
        arguments: [
            ("Monday, 21-Sep-76 14:13:20 GMT", true), ("Monday, 21-Sep-76 14:13:21 GMT", false),
            ("Monday, 22-Sep-76 14:13:20 GMT", false), ("Monday, 31-Aug-76 23:59:59 GMT", true),
            ("Monday, 21-Sep-00 14:13:20 GMT", false), ("Monday, 21-Sep-27 14:13:20 GMT", true),
        ])
    func centuries(text: String, isAhead: Bool) {
        #expect(((parseRetryAfter(text, unixTime: Self.now) ?? -1) > 0) == isAhead)
    }

    @Test("B7: near the end of a century, two digits reach into the next one") func nextCentury() {
        // 1 January 2090; the year 10 is 2110, which is 20 years ahead.
        #expect(parseRetryAfter("Monday, 01-Jan-10 00:00:00 GMT", unixTime: 3_786_912_000) == 631_065_600)
    }

    @Test("B7: a date far ahead saturates") func farAhead() {
        #expect(parseRetryAfter("Fri, 31 Dec 9999 23:59:59 GMT", unixTime: Self.now) == Delay.maximum)
    }

    @Test("B7: of a number and a date the larger counts") func numberAndDate() throws {
        let clock = ManualClock()
        #expect(clock.setWall(Double(Self.now)))
        let date = "Mon, 21 Sep 2026 14:13:50 GMT"
        let number = try play([.status(503, ("Retry-After", date), ("Retry-After", "31")), .status(200)], clock: clock)
        #expect(number.waits == [31])
        let other = ManualClock()
        #expect(other.setWall(Double(Self.now)))
        let later = try play([.status(503, ("Retry-After", "29"), ("Retry-After", date)), .status(200)], clock: other)
        #expect(later.waits == [30])
        #expect(later.decisions[0].delaySource == .retryAfterDate)
    }

    @Test("B7: names that only begin like Retry-After are others") func otherNames() throws {
        let call = try play(
            [
                .status(503, ("Retry-After-Ms", "9"), ("Retry-Afte", "9"), ("X-Retry-After", "9"), ("", "9")),
                .status(200),
            ])
        #expect(call.waits == [2])
    }
}
