"""The header lines of answers."""

from __future__ import annotations

import functools
import time
from email.utils import formatdate

from .vocabulary import ENDLESS, Answer

Line = tuple[str, str]


def lines(answer: Answer, framing: list[Line], location: str, last: list[Line]) -> list[Line]:
    """All of them. Those of ours, `framing` and `last` too, are left out if the script has some of the same name."""
    ours: list[Line] = [("Date", _date(int(time.time())))]
    if answer.status not in (204, 304):
        ours.append(("Content-Type", "application/json" if answer.content in ("echo", "token") else "text/plain"))
        ours += framing
    if answer.gzip:
        ours.append(("Content-Encoding", "gzip"))
    if location:
        ours.append(("Location", location))
    if answer.status == 401:
        ours.append(("WWW-Authenticate", "Bearer"))
    ours += last
    if answer.h:
        given = {name.lower() for name, _ in answer.h}
        ours = [line for line in ours if line[0].lower() not in given]
        ours += [(name, value) for name, value in answer.h if value is not None]
    return ours if answer.headers in (0, ENDLESS) else ours + _filler(answer.headers, answer.header_line)


def filler_line(number: int, length: int) -> Line:
    """A line that has `length` bytes in HTTP/1.1."""
    name = f"X-Filler-{number}"
    return name, "a" * (length - len(name) - len(": \r\n"))


def _filler(total: int, length: int) -> list[Line]:
    """Lines of `total` bytes, each of `length` bytes; the last one may be up to twice as long."""
    count = max(1, total // length)
    filler = [filler_line(number, length) for number in range(1, count)]
    return [*filler, filler_line(count, total - length * (count - 1))]


@functools.lru_cache(maxsize=2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
