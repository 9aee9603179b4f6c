"""Random header values: Retry-After in every shape, right and wrong."""

import time
from random import Random

from model_retry_after import MONTHS, WEEKDAYS

ODD_VALUES = [
    b"", b" ", b"\t", b",", b", ,", b".", b"+", b"-", b"e3", b"1e", b"1e+", b"+.", b".e1", b"-1", b"-0", b"-0.0",
    b"+-1", b"++1", b"+0", b"1 2", b"0x10", b"0x1p3", b"nan", b"NaN", b"inf", b"-inf", b"Infinity", b"infinity",
    b"abc", b"1m0s", b"3 seconds", b"3s", b"3;4", b"1.2.3", b"1..2", b"1e1.5", b"1e1e1", b"5,", b",5", b"5,x", b"5,,6",
    b"1 ,2", b"1\t,\t2", b"1e400", b"1e-400", b"0e999999999999999999999", b"1e999999999999999999999",
    b"1e-999999999999999999999", b"1E3", b"0.0000000001e10", b"2147483646.5", b"2147483647", b"2147483648",
    b"4294967296", b"9223372036854775808", b"1_000", b"1,000", b"\xd9\xa3", b"\xef\xbc\x93", b"\xa05", b"5\xa0",
    b"5\xc2\xa0", b"\xff\xfe", b"2026-11-29T23:56:47Z", b"PT5S", b"%35", b'"5"', b"5.", b".5", b"soon", b"5\n",
    b"5\r\n", b"\r\n5", b"5\x0b", b"5\x0c", b"1e0000000000003",
    b"1." + b"0" * 5000 + b"1", b"9" * 5000, b"0" * 5000 + b"7",
    b"0." + b"0" * 400 + b"1e401", b"1" + b"0" * 400 + b"e-400",
]  # fmt: skip

FIFTY_YEARS = 18262 * 86400  # and a leap day more or less: where the century of a two-digit year changes

MUTATIONS = b"0123456789 ,:-+.eEGMTabcSunJ\t\r\n\x0b\xff"


def number(random: Random) -> bytes:
    shape = random.randrange(8)
    if shape == 0:
        return str(random.randrange(10)).encode()
    if shape == 1:
        return str(random.randrange(2 ** random.randrange(1, 70))).encode()
    if shape == 2:
        return f"{random.uniform(0, 100):.{random.randrange(18)}f}".encode()
    if shape == 3:
        return repr(random.uniform(0, 1) * 10.0 ** random.randrange(-30, 30)).encode()
    if shape == 4:
        digits = "".join(random.choices("0123456789", k=random.randrange(1, 40)))
        return f"{digits}{random.choice('eE')}{random.choice(['', '+', '-'])}{random.randrange(50)}".encode()
    if shape == 5:
        return random.choice([b".5", b"1.", b"+3", b"+.25", b"007", b"0", b"0.0", b"+0e5"])
    if shape == 6:
        return repr(random.randrange(2**31 - 3, 2**31 + 3) + random.choice([0.0, 0.25, 0.5])).encode()
    return f"{random.randrange(8 * 60) / 8}".encode()


def date(random: Random, about: float) -> bytes:
    """An HTTP date near that time or anywhere, with a weekday that may be wrong."""
    spread = random.choice([0, 5, 100, 100, 100_000, 10**9])
    moment = about + random.choice([0, 0, 0, 0, 0, FIFTY_YEARS]) + random.randint(-spread // 4, spread)
    if random.random() < 0.1:
        moment = random.uniform(-6.2e10, 2.5e11)
    moment = int(min(max(moment, -62135596800), 253402300799))
    parts = time.gmtime(moment)
    weekday = random.choice(WEEKDAYS) if random.random() < 0.1 else WEEKDAYS[parts.tm_wday]
    day, month, year, clock = parts.tm_mday, parts.tm_mon, parts.tm_year, time.strftime("%H:%M:%S", parts)
    if random.random() < 0.08:
        day, month = random.choice([(29, 2), (30, 2), (31, 4), (31, 12), (0, 1), (32, 1), (31, 6), (1, 3)])
    if random.random() < 0.08:
        clock = random.choice(["24:00:00", "23:59:59", "23:59:60", "12:60:00", "00:00:00", "99:99:99"])
    if random.random() < 0.04:
        year = random.choice([0, 1, 1600, 1900, 1970, 2000, 2024, 2038, 2100, 2400, 9999])
    return date_text(random, weekday, day, MONTHS[month - 1], year, clock.encode())


def date_text(random: Random, weekday: bytes, day: int, month: bytes, year: int, clock: bytes) -> bytes:
    form = random.randrange(3)
    if form == 0:
        return b"%s, %02d %s %04d %s GMT" % (weekday[:3], day, month, year, clock)
    if form == 1:
        return b"%s, %02d-%s-%02d %s GMT" % (weekday, day, month, year % 100, clock)
    return b"%s %s %s %s %04d" % (weekday[:3], month, random.choice([b"%2d", b"%2d", b"%02d"]) % day, clock, year)


def mutated(random: Random, value: bytes) -> bytes:
    """One or two small changes."""
    for _ in range(random.choice([1, 1, 1, 2])):
        place = random.randrange(len(value) + 1)
        piece = bytes([random.choice(MUTATIONS)])
        change = random.randrange(6)
        if change == 0:
            value = value[:place] + piece + value[place:]
        elif change == 1:
            value = value[:place] + value[place + 1 :]
        elif change == 2:
            value = value[:place] + piece + value[place + 1 :]
        elif change == 3:
            value = value[:place] + value[place : place + 1].swapcase() + value[place + 1 :]
        elif change == 4:
            value = value[:place] + value[place : place + 2][::-1] + value[place + 2 :]
        else:
            value = random.choice([value.upper(), value.lower(), value + value, value[:place], b" " + value + b"\t"])
    return value


def retry_after(random: Random, about: float) -> bytes:
    """A value of Retry-After; dates are near the time `about`."""
    shape = random.random()
    if shape < 0.4:
        value = number(random)
    elif shape < 0.5:
        value = random.choice([b",", b", ", b" ,\t"]).join(number(random) for _ in range(random.randrange(2, 5)))
    elif shape < 0.85:
        value = date(random, about)
    else:
        return random.choice(ODD_VALUES)
    if random.random() < 0.25:
        value = mutated(random, value)
    return random.choice([b"", b"", b"", b" ", b"\t "]) + value + random.choice([b"", b"", b"", b" ", b"\t"])


def mixed_case(random: Random, name: bytes) -> bytes:
    mixed = [random.choice([letter.lower(), letter.upper()]) for letter in name.decode()]
    return random.choice([name, name.lower(), name.upper(), "".join(mixed).encode()])
