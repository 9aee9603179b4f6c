"""The input of a strategy: how an attempt ended, and what was sent."""

from __future__ import annotations

from collections.abc import Iterable
from ctypes import addressof, c_char_p, c_void_p, cast, pointer, py_object
from dataclasses import dataclass
from itertools import chain
from typing import Any, Callable, Protocol, Union

from ._c import _abi
from ._c.arguments import Text, integer, member, new, text
from ._c.texts import bytes_at, decoded
from .enums import BodyState, Cause, RequestSent, RetrySafety

#: Header lines: pairs of a name and a value, or an object whose `items()` returns them. A str stands for its UTF-8
#: bytes; bytes that are not valid UTF-8 are escaped as os.fsdecode() does it. bytes stand for themselves.
Headers = Union["_HasItems", Iterable[tuple[Text, Text]]]


class _HasItems(Protocol):
    """A mapping, or a similar type of an HTTP package for headers."""

    def items(self) -> Iterable[tuple[Text, Text]]: ...


def header_pairs(headers: Headers, argument: str) -> Iterable[tuple[Text, Text]]:
    """The header lines one by one, from any of these types. Raises TypeError for other types."""
    if type(headers) is list:  # The most common type, and asking whether it is an Iterable takes long.
        return headers
    items: Callable[[], Iterable[tuple[Text, Text]]] | None = getattr(headers, "items", None)
    if items is not None:
        return items()
    if isinstance(headers, (str, bytes)) or not isinstance(headers, Iterable):
        raise TypeError(f"{argument}: must be a mapping, or pairs of a name and a value, not {type(headers).__name__}")
    return headers


@dataclass
class Request:
    """What an outcome is about: the method matters (B12), and custom strategies see everything.

    >>> Request("POST", "https://api.example.com/2.0/folders", retry_safety=RetrySafety.SAFE).method
    'POST'
    """

    method: Text = "GET"
    url: Text | None = None
    headers: Headers = ()
    body: bytes | None = None
    retry_safety: RetrySafety = RetrySafety.BY_METHOD
    #: Any object, for your custom strategy: it gets this same object.
    user_data: object = None


@dataclass
class Outcome:
    """How one attempt ended (B2): with a response, or with a network exception.

    A response has a status (100 to 999) and headers; a network exception has a cause. A response whose body broke
    off is an exception too: an outcome with a cause is one, with any status.

    >>> response = Outcome(429, headers={"Retry-After": "7"})
    >>> exception = Outcome(cause=Cause.TIMEOUT_IDLE)
    """

    status: int = 0
    cause: Cause = Cause.NONE
    #: The headers of the final response, not of redirects before it. At most 65536.
    headers: Headers = ()
    #: A new access token could be obtained.
    auth_available: bool = False
    request_sent: RequestSent = RequestSent.UNKNOWN
    #: What was sent, for unsafe methods (B12) and custom strategies.
    request: Request | None = None
    #: False: the request's body cannot be sent again, so the request is not retried (R3).
    body_replayable: bool = True
    #: The body of the response, as far as it was read, for custom strategies.
    body: bytes = b""
    body_state: BodyState = BodyState.NONE
    #: The URL of the response, after redirects; None: not known.
    url: str | None = None

    def __post_init__(self) -> None:
        """Raises TypeError if arguments are in the wrong order."""
        if not isinstance(self.cause, int):
            member(self.cause, Cause, "cause")
        if type(self.headers) not in (tuple, list, dict):
            header_pairs(self.headers, "headers")


class HeaderArray:
    """An array of boxretry_header that can be filled repeatedly. It keeps the headers that it was last filled with."""

    #: For a field of the type boxretry_header *.
    pointer: Any = None
    _capacity = 0
    _strings: Any = ()

    def _reserve(self, capacity: int) -> None:
        # A boxretry_header is two pointers. A flat array of pointers can be filled in one step.
        self._capacity = capacity
        self._strings = (c_char_p * capacity)()
        self.pointer = (_abi.Header * (capacity // 2)).from_buffer(self._strings)

    def fill(self, headers: Headers, argument: str) -> int:
        """Takes the headers, and returns how many there are."""
        strings = _strings_of(headers, argument)
        if len(strings) > self._capacity:
            self._reserve(2 * len(strings))
        if strings:
            self._strings[: len(strings)] = strings
        return len(strings) // 2


_IS_TUPLE, _IS_PAIR, _IS_BYTES = {tuple}, {2}, {bytes}


def _strings_of(headers: Headers, argument: str) -> list[bytes]:
    """Names and values in turn."""
    # A list of pairs of bytes, as adapters have it, takes a few steps, however many there are.
    if type(headers) is list and set(map(type, headers)) == _IS_TUPLE and set(map(len, headers)) == _IS_PAIR:
        strings: list[Any] = list(chain.from_iterable(headers))
        if set(map(type, strings)) == _IS_BYTES and b"\0" not in b"".join(strings):
            return strings
    strings = []
    for pair in header_pairs(headers, argument):
        try:
            name, value = pair
        except (TypeError, ValueError):
            raise TypeError(f"{argument}: must be a mapping, or pairs of a name and a value") from None
        strings.append(text(name, argument))
        strings.append(text(value, argument))
    return strings


def header_lines(struct: Any) -> list[tuple[bytes, bytes]]:
    """The lines of an array of boxretry_header: the fields `headers` and `header_count` of a struct."""
    count: int = struct.header_count
    if not count:
        return []
    # A flat array of pointers can be read in one step.
    strings: list[Any] = (c_char_p * (2 * count)).from_address(addressof(struct.headers.contents))[:]
    return list(zip(strings[::2], strings[1::2]))


class OutcomeStruct:
    """A boxretry_outcome that can be filled repeatedly. One thread at a time."""

    def __init__(self) -> None:
        self.struct = new(_abi.Outcome, _abi.boxretry_outcome_init)
        self._headers = HeaderArray()
        self._request: Request | None = None

    def fill(self, outcome: Outcome) -> None:
        """Takes the outcome. The struct is valid, and what it points to is kept, until the next call."""
        if not isinstance(outcome, Outcome):
            raise TypeError(f"outcome: must be an Outcome, not {type(outcome).__name__}")
        struct = self.struct
        struct.status = integer(outcome.status, "outcome.status")
        struct.cause = member(outcome.cause, Cause, "outcome.cause")
        struct.header_count = self._headers.fill(outcome.headers, "outcome.headers")
        struct.headers = self._headers.pointer
        struct.auth_available = 1 if outcome.auth_available else 0
        struct.request_sent = member(outcome.request_sent, RequestSent, "outcome.request_sent")
        self._request = request = outcome.request
        struct.request = None if request is None else pointer(_request_struct(request))
        struct.body_not_replayable = 0 if outcome.body_replayable else 1
        self._body = body = outcome.body
        struct.body = cast(c_char_p(body), c_void_p) if body else None
        struct.body_length = len(body)
        struct.body_state = member(outcome.body_state, BodyState, "outcome.body_state")
        struct.url = None if outcome.url is None else text(outcome.url, "outcome.url")


def _request_struct(request: Request) -> Any:
    """The request in the library's form; valid as long as the request itself lives."""
    if not isinstance(request, Request):
        raise TypeError(f"outcome.request: must be a Request, not {type(request).__name__}")
    if not isinstance(request.body, (bytes, type(None))):
        raise TypeError(f"request.body: must be bytes, not {type(request.body).__name__}")
    struct = new(_abi.Request, _abi.boxretry_request_init)
    headers = HeaderArray()
    struct.method = text(request.method, "request.method")
    struct.url = None if request.url is None else text(request.url, "request.url")
    struct.header_count = headers.fill(request.headers, "request.headers")
    struct.headers = headers.pointer
    struct.body = cast(c_char_p(request.body), c_void_p)
    struct.body_length = 0 if request.body is None else len(request.body)
    struct.user_pointer = id(request)
    struct.retry_safety = member(request.retry_safety, RetrySafety, "request.retry_safety")
    return struct


def outcome_from_struct(struct: Any, request: Request | None) -> Outcome:
    """What a custom strategy sees. Its request is the object that the caller passed, not a copy."""
    return Outcome(
        status=struct.status,
        cause=Cause(struct.cause),
        headers=[(decoded(name), decoded(value)) for name, value in header_lines(struct)],
        auth_available=bool(struct.auth_available),
        request_sent=RequestSent(struct.request_sent),
        request=request,
        body_replayable=not struct.body_not_replayable,
        body=bytes_at(struct.body, struct.body_length) if struct.body_length else b"",
        body_state=BodyState(struct.body_state),
        url=None if struct.url is None else decoded(struct.url),
    )


def request_of_loop(struct: Any) -> Request | None:
    """The request in a retry loop's outcome. The loop's caller keeps it while the strategy decides."""
    return cast(struct.request.contents.user_pointer, py_object).value if struct.request else None
