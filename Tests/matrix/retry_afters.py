"""The rows about Retry-After, in every shape (B7)."""

from __future__ import annotations

import expectations as right
from expectations import Cell
from fault import Fault
from kinds import Version

DATE = "Date:Wed, 21 Oct 2015 07:28:00 GMT"
CLAMPED = "50 ms of 30 s by a date"

#: The shapes of Retry-After (B7): header lines, and the wait that is right.
RETRY_AFTERS: list[tuple[str, list[str], str]] = [
    ("0", ["0"], "0 ms as asked"),
    ("0.02", ["0.02"], "20 ms as asked"),
    (".02", [".02"], "20 ms as asked"),
    ("1.", ["1."], "50 ms of 1 s as asked"),
    ("2e-2", ["2e-2"], "20 ms as asked"),
    ("+0.02", ["+0.02"], "20 ms as asked"),
    ("0.02 in white space", [" \t0.02 \t"], "20 ms as asked"),
    ("0.01, 0.02", ["0.01, 0.02"], "20 ms as asked"),
    ("lines of 0.02 and 0.01", ["0.02", "0.01"], "20 ms as asked"),
    ("lines of x and 0.02", ["x", "0.02"], "20 ms as asked"),
    ("3600", ["3600"], "50 ms of 3600 s as asked"),
    ("99999999999999999", ["9" * 17], "50 ms of 2147483647 s as asked"),
    ("1e400", ["1e400"], "50 ms of 2147483647 s as asked"),
    ("a date 30 s ahead", ["Wed, 21 Oct 2015 07:28:30 GMT"], CLAMPED),
    ("the same of RFC 850", ["Wednesday, 21-Oct-15 07:28:30 GMT"], CLAMPED),
    ("the same of asctime", ["Wed Oct 21 07:28:30 2015"], CLAMPED),
    ("the same with a wrong weekday", ["Mon, 21 Oct 2015 07:28:30 GMT"], CLAMPED),
    ("a date that is past", ["Wed, 21 Oct 2015 07:27:30 GMT"], "0 ms by a date"),
    ("the year 9999", ["Fri, 31 Dec 9999 23:59:59 GMT"], "50 ms of 2147483647 s by a date"),
    *(
        (name, [value], "2 ms")
        for name, value in (
            ("nothing", ""),
            ("-1", "-1"),
            ("nan", "nan"),
            ("inf", "inf"),
            ("0x10", "0x10"),
            ("digits that are not ASCII", "\N{ARABIC-INDIC DIGIT THREE}".encode().decode("latin-1")),
            ("5 s", "5 s"),
            ("1m0s", "1m0s"),
            ("5,x", "5,x"),
            ("an ISO 8601 date", "2015-10-21T07:28:30Z"),
            ("a date that does not exist", "Mon, 30 Feb 2015 07:28:30 GMT"),
            ("a second 60", "Wed, 21 Oct 2015 07:28:60 GMT"),
            ("a date in small letters", "wed, 21 oct 2015 07:28:30 gmt"),
        )
    ),
]


def rows(version: Version) -> list[Fault]:
    def fault(name: str, cell: Cell, status: int, lines: list[str]) -> Fault:
        headers = [DATE, *(f"Retry-After:{line}" for line in lines)]
        return Fault(
            f"{status} with Retry-After: {name}", once=cell, item=str(status), parameters={f"{status}.h": headers}
        )

    spelling = [
        Fault(
            f"503 with Retry-After spelt {name}",
            once=right.one_retried_status(503, "20 ms as asked"),
            item="503",
            parameters={"503.h": f"{name}:0.02"},
        )
        for name in ("retry-after", "RETRY-AFTER")
    ]
    return [
        *(fault(name, right.one_retried_status(503, wait), 503, lines) for name, lines, wait in RETRY_AFTERS),
        *(spelling if version is Version.HTTP_1_1 else []),  # HTTP/2 has all names in small letters.
        fault("0.02", right.one_retried_status(429, "20 ms as asked"), 429, ["0.02"]),
        fault("0.02", right.one_retried_status(202, "20 ms as asked"), 202, ["0.02"]),
        fault("x", right.one_retried_status(202), 202, ["x"]),
        Fault("202 without Retry-After", right.for_all("202 → 202 (success)"), item="202"),
        fault("0.02", right.for_all("200 → 200 (success)"), 200, ["0.02"]),
        fault("0.02", right.final_status(409), 409, ["0.02"]),
        Fault(
            "302 with Retry-After: 0.02, to a 503",
            once=right.redirect_to_a_retried_status(),
            item="302,503",
            parameters={"302.h": "Retry-After:0.02"},
        ),
        Fault(
            "103 with Retry-After: 0.02, before a 503",
            once=right.one_retried_status(503),
            item="503",
            parameters={"503.hint": "Retry-After:0.02"},
        ),
    ]
