"""What a response says about when to come back (B7): the model of Retry-After, its dates and its lists.

Written from docs/semantics.md alone, with Python's exact arithmetic, so that it errs differently from the library.
"""

import calendar
import re
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, Optional

LIMIT = 2**31 - 1
"""The longest delay there is, in seconds."""

FIRST_UNIX_TIME = -62135596800  # year 1
LAST_UNIX_TIME = 253402300799  # year 9999

WHITE_SPACE = b" \t"  # HTTP's own

NUMBER = re.compile(rb"\+?([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?")

WEEKDAYS = b"Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
LONG_DAY = rb"(?:" + rb"|".join(WEEKDAYS) + rb")"
SHORT_DAY = rb"(?:" + rb"|".join(day[:3] for day in WEEKDAYS) + rb")"
MONTHS = b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
MONTH = rb"(?P<month>" + rb"|".join(MONTHS) + rb")"
TIME = rb"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
YEAR = rb"(?P<year>[0-9]{4})"
DATE_FORMS = [
    re.compile(SHORT_DAY + rb", (?P<day>[0-9]{2}) " + MONTH + rb" " + YEAR + rb" " + TIME + rb" GMT"),
    re.compile(LONG_DAY + rb", (?P<day>[0-9]{2})-" + MONTH + rb"-(?P<short_year>[0-9]{2}) " + TIME + rb" GMT"),
    re.compile(SHORT_DAY + rb" " + MONTH + rb" (?P<day>[0-9]{2}| [0-9]) " + TIME + rb" " + YEAR),
]

Header = tuple[bytes, bytes]


class Range(NamedTuple):
    """A delay, from its least to its greatest value; both are the same if nothing is random."""

    low: Fraction
    high: Fraction

    @classmethod
    def exactly(cls, value: Fraction) -> "Range":
        return cls(value, value)

    def at_most(self, cap: Fraction) -> "Range":
        return Range(min(self.low, cap), min(self.high, cap))


def is_eighths(seconds: Fraction) -> bool:
    """Whether a clock that counts in doubles stays exact when it is moved by such lengths."""
    return (seconds * 8).denominator == 1 and abs(seconds) < 2**40


class Wish(NamedTuple):
    """A delay that a server asks for."""

    seconds: Range  # a range only where a clock that counts in doubles may be off
    source: str  # "retry_after" or "retry_after_date"


class DelayHeader(NamedTuple):
    """A further header that carries a delay (B11)."""

    name: bytes
    unit: float


class Said(NamedTuple):
    """What all lines of a response say together."""

    state: str  # "absent", "usable" or "not_usable"
    wishes: list[Wish]  # empty unless usable; several only if lines of different kinds ask for the same time

    @property
    def seconds(self) -> Optional[Range]:
        return self.wishes[0].seconds if self.wishes else None


def parse_number(text: bytes) -> Optional[Fraction]:
    """A decimal number that is not negative; anything above LIMIT only needs to come back as above it."""
    match = NUMBER.fullmatch(text)
    if not match:
        return None
    whole, fraction, exponent_text = match[1], match[2] or b"", match[3] or b"0"
    if not whole + fraction:
        return None
    digits = (whole + fraction).lstrip(b"0").decode()
    if not digits:
        return Fraction(0)
    sign = -1 if exponent_text.startswith(b"-") else 1
    exponent_digits = exponent_text.lstrip(b"+-0").decode() or "0"
    exponent = sign * (int(exponent_digits) if len(exponent_digits) < 20 else 10**20)
    order = len(digits) - len(fraction) + exponent  # the value is below 10^order, and at least a tenth of that
    if order > 40:
        return Fraction(10**40)
    if order < -400:
        return Fraction(0)  # no double can tell it from 0
    return Fraction(Decimal(digits)) * Fraction(10) ** (exponent - len(fraction))


def full_year(short_year: int, rest: list[int], reference: Fraction) -> int:
    """The year of a date with two digits for it; `rest` is its month, day, hour, minute and second.

    It is at most 50 years ahead, to the second, as RFC 9110 has it.
    """
    now = datetime(1970, 1, 1) + timedelta(seconds=reference.__floor__())
    latest = now.year + 50
    year = latest - (latest - short_year) % 100
    is_later_in_year = [*rest] > [now.month, now.day, now.hour, now.minute, now.second]
    return year - 100 if year == latest and is_later_in_year else year


def unix_time(year: int, month: int, day: int, hour: int, minute: int, second: int) -> Optional[int]:
    try:
        moment = datetime(year, month, day, hour, minute, second)
    except ValueError:  # it does not exist
        return None
    return calendar.timegm(moment.timetuple())


def parse_date(text: bytes, reference: Fraction) -> Optional[int]:
    """An HTTP date, in seconds since 1970. `reference` says which century a two-digit year is in."""
    for form in DATE_FORMS:
        match = form.fullmatch(text)
        if not match:
            continue
        fields = {name: value.decode() for name, value in match.groupdict().items()}
        month = MONTHS.index(match["month"]) + 1
        rest = [month, *(int(fields[name]) for name in ("day", "hour", "minute", "second"))]
        is_short = "short_year" in fields
        year = full_year(int(fields["short_year"]), rest, reference) if is_short else int(fields["year"])
        return unix_time(year, *rest)
    return None


def parse_value(text: bytes, reference: Fraction, unit: Optional[float] = None) -> Optional[Wish]:
    """One header line's value: a number, a list of numbers, or a date. With a unit there is no date."""
    text = text.strip(WHITE_SPACE)
    numbers = [parse_number(member.strip(WHITE_SPACE)) for member in text.split(b",")]
    usable = [number for number in numbers if number is not None]
    if len(usable) == len(numbers):
        seconds = min(max(usable) * Fraction(unit or 1), Fraction(LIMIT))
        return Wish(Range.exactly(Fraction(float(seconds))), "retry_after")  # a double, since caps are doubles
    moment = parse_date(text, reference) if unit is None else None
    if moment is None:
        return None
    blur = Fraction(0) if is_eighths(reference) else abs(reference) / 2**50
    delay = Range(max(moment - reference - blur, Fraction(0)), max(moment - reference + blur, Fraction(0)))
    return Wish(delay.at_most(Fraction(LIMIT)), "retry_after_date")


def values_of(headers: list[Header], name: bytes) -> list[bytes]:
    return [value for line, value in headers if line.lower() == name.lower()]


def reference_time(headers: list[Header], wall: Fraction) -> Fraction:
    """From when a date counts: the response's own Date where it has a valid one, else the wall clock."""
    for value in values_of(headers, b"Date"):
        moment = parse_date(value.strip(WHITE_SPACE), wall)
        if moment is not None:
            return Fraction(moment)
    return wall


def said(headers: list[Header], delay_headers: list[DelayHeader], wall: Fraction) -> Said:
    """The first of the further headers that is usable wins, else Retry-After; of several lines the largest counts."""
    reference = reference_time(headers, wall)
    state = "absent"
    for name, unit in [*delay_headers, (b"Retry-After", None)]:
        values = values_of(headers, name)
        wishes = [wish for wish in (parse_value(value, reference, unit) for value in values) if wish]
        if wishes:
            longest = max(wish.seconds for wish in wishes)
            sources = {wish.source for wish in wishes if wish.seconds.high >= longest.low}
            return Said("usable", [Wish(longest, source) for source in sorted(sources)])
        if values:
            state = "not_usable"
    return Said(state, [])
