"""The parameters of answers and what they mean, as data.

Nothing here knows a connection: HTTP/1.1 and HTTP/2 carry out the same answers, each in its way.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from typing import Any, Callable, NamedTuple, Optional

ENDLESS = sys.maxsize
DEFAULT_SIZE = 64

HTTP2_FAULTS = ("goaway", "stream_reset", "stream_end")
FAULTS = ("reset", "close", "cut", "stall", *HTTP2_FAULTS)
FAULTS_AFTER = {how + "_after": how for how in FAULTS}
PLACES = ("request", "before", "headers", "body", "end")
UNKNOWN_MIDDLE = 16  # the middle of a body of unknown length


class BadScript(ValueError):
    """The path or query asks for something that is not in the vocabulary."""


class PortInUse(BadScript):
    """The program or the query asks for a port that another socket has."""

    def __init__(self, number: int) -> None:
        super().__init__(f"port {number} is in use")
        self.number = number


class Fault(NamedTuple):
    how: str  # one of FAULTS
    place: str  # one of PLACES, or "after"
    after: int = 0  # this many bytes of the body


Header = tuple[str, Optional[str]]  # no value: the line is left out


@dataclasses.dataclass
class Answer:
    """One answer; the fields have the names of the parameters. Not changed once it is made."""

    item: str  # what it is called in the script and in the record
    status: int = 200
    content: str = "pattern"  # or "body", "raw", "echo", "token"
    fault: Fault | None = None

    h: list[Header] = dataclasses.field(default_factory=list)
    hint: list[Header] = dataclasses.field(default_factory=list)
    trailer: list[Header] = dataclasses.field(default_factory=list)
    to: str | None = None
    status_line: str | None = None
    headers: int = 0
    header_line: int = 1000

    size: int = DEFAULT_SIZE
    body: str = ""
    raw: str = ""
    extra: int = 0
    chunked: bool = False
    until_close: bool = False
    gzip: bool = False
    token: str | None = None
    expires_in: str = "3600"

    first: float = 0.0
    every: float = 0.0
    every_head: float = 0.0
    drip: int = 0
    idle: float | None = None

    expect: str = "honour"
    early: bool = False
    read: int = 0
    read_every: float = 0.0
    read_pause_after: int | None = None
    read_pause: float = 0.0

    code: int = 0
    unprocessed: bool = False
    drain: bool = False
    pings: int = 0
    settings: dict[int, int] = dataclasses.field(default_factory=dict)

    def has_body(self, method: str) -> bool:
        return method != "HEAD" and self.status not in (204, 304)

    @property
    def is_redirect(self) -> bool:
        return 300 <= self.status <= 399 and self.status != 304

    @property
    def known_length(self) -> int | None:
        """How many bytes the body has, where the script alone says it."""
        if self.gzip or self.content in ("echo", "token"):
            return None
        return {"pattern": self.size, "body": len(self.body), "raw": len(self.raw)}[self.content]

    @property
    def is_endless(self) -> bool:
        return self.content == "pattern" and self.size == ENDLESS

    @property
    def needs_http2(self) -> bool:
        """Whether HTTP/1.1 has no words for it."""
        has_its_fault = self.fault is not None and self.fault.how in HTTP2_FAULTS
        return has_its_fault or self.drain or bool(self.pings or self.settings)

    def bytes_before_fault(self, length: int) -> int:
        """How many of the body's bytes go out before the fault; ENDLESS if it is not in the body."""
        if self.fault is None or self.fault.place not in ("body", "after"):
            return ENDLESS
        if self.fault.place == "after":
            return self.fault.after
        return UNKNOWN_MIDDLE if length == ENDLESS or self.gzip else length // 2

    @functools.cached_property
    def is_plain(self) -> bool:
        """Whether it goes out in one piece: no fault, no pace, nothing unusual. What soak tests and benches ask for."""
        unusual = (self.fault, self.hint, self.trailer, self.headers, self.extra, self.chunked, self.gzip)
        paces = (self.first, self.every, self.every_head, self.drip)
        size = 0 if self.content != "pattern" else self.size
        return not any(unusual) and not any(paces) and self.content != "raw" and size <= 65536


def parse_count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BadScript(f"{text[:40]!r} is not a whole number")
    return int(text)


def _at_least(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if (number := parse_count(text)) < least:
            raise BadScript(f"must be {least} or more")
        return number

    return parse


def _size(text: str) -> int:
    return ENDLESS if text == "endless" else parse_count(text)


def _milliseconds(text: str) -> float:
    return parse_count(text) / 1000


def parse_flag(text: str) -> bool:
    if text not in ("", "1"):
        raise BadScript("is a flag and takes no value")
    return True


def _header(text: str) -> Header:
    if text.startswith("-"):
        return text[1:], None
    name, colon, value = text.partition(":")
    if not colon:
        raise BadScript("must be Name:value, or -Name to leave a line out")
    return name, value


def _expect(text: str) -> str:
    if text not in ("honour", "ignore", "refuse"):
        raise BadScript("must be honour, ignore or refuse")
    return text


def _place(text: str) -> str:
    if text not in PLACES:
        raise BadScript("must be one of " + ", ".join(PLACES))
    return text


def _code(text: str) -> int:
    """An error code of HTTP/2, by its name or as any number."""
    try:
        from h2.errors import ErrorCodes
    except ModuleNotFoundError:
        raise BadScript("needs the package h2") from None

    if text in ErrorCodes.__members__:
        return int(ErrorCodes[text])
    if (number := parse_count(text)) >= 1 << 32:
        raise BadScript("must be less than 2 to the 32nd")
    return number


def parse_settings(text: str) -> dict[int, int]:
    """HTTP/2's SETTINGS, as NAME:VALUE,NAME:VALUE."""
    try:
        from h2.exceptions import InvalidSettingsValueError
        from h2.settings import SettingCodes, Settings
    except ModuleNotFoundError:
        raise BadScript("needs the package h2") from None

    settings: dict[int, int] = {}
    for part in text.split(","):
        name, _, value = part.partition(":")
        if name not in SettingCodes.__members__:
            raise BadScript(f"{name!r} is not one of " + ", ".join(SettingCodes.__members__))
        settings[SettingCodes[name]] = parse_count(value)
    try:
        Settings(client=False, initial_values={SettingCodes(code): value for code, value in settings.items()})
    except InvalidSettingsValueError as why:
        raise BadScript(str(why)) from None
    return settings


PARSERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("h", "hint", "trailer"), _header),
    **dict.fromkeys(("to", "status_line", "body", "raw", "token", "expires_in"), str),
    **dict.fromkeys(("size", "headers", "pings"), _size),
    "header_line": _at_least(24),
    "drip": _at_least(1),
    **dict.fromkeys(("extra", "read", "read_pause_after"), parse_count),
    **dict.fromkeys(("chunked", "until_close", "gzip", "early", "unprocessed", "drain"), parse_flag),
    **dict.fromkeys(("first", "every", "every_head", "idle", "read_every", "read_pause"), _milliseconds),
    "expect": _expect,
    "code": _code,
    "settings": parse_settings,
    **dict.fromkeys(FAULTS, _place),
    **dict.fromkeys(FAULTS_AFTER, parse_count),
}

# Items that are neither a status nor a fault, with the parameters that they stand for.
NAMED_ITEMS: dict[str, list[tuple[str, str]]] = {
    "echo": [],
    "token": [],
    "short": [("close", "body")],
    "long": [("extra", "10")],
    "garbage": [("status_line", "\x00garbage\xff")],
    "refused_stream": [("stream_reset", "request"), ("code", "REFUSED_STREAM")],
    "enhance_your_calm": [("goaway", "request"), ("code", "ENHANCE_YOUR_CALM")],
}


def apply(answer: Answer, name: str, text: str) -> None:
    try:
        value = PARSERS[name](text)
    except BadScript as why:
        raise BadScript(f"{name}={text!r}: {why}") from None
    if name in FAULTS:
        if name == "stream_end" and value in ("request", "before"):
            raise BadScript("stream_end needs headers before it")
        answer.fault = Fault(name, value)
    elif name in FAULTS_AFTER:
        answer.fault = Fault(FAULTS_AFTER[name], "after", value)
    elif isinstance(getattr(answer, name), list):
        getattr(answer, name).append(value)
    else:
        setattr(answer, name, value)
        if name in ("body", "raw"):
            answer.content = name


def meaning_of(item: str) -> list[tuple[str, str]]:
    """The parameters that an item stands for. Its status, too, is checked here."""
    name, colon, where = item.partition(":")
    if name in FAULTS:
        usual = "body" if name == "stream_end" else "before"
        return [(name + "_after", where) if where.isdigit() else (name, where if colon else usual)]
    if colon:
        raise BadScript(f"{item!r}: only {', '.join(FAULTS)} have a place")
    if name in NAMED_ITEMS:
        return NAMED_ITEMS[name]
    if not (len(name) == 3 and name.isascii() and name.isdigit() and "200" <= name <= "999"):
        raise BadScript(f"{item!r} is no status and no fault")
    return []
