"""What a call has come to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from ctypes import byref, c_size_t, string_at
from dataclasses import dataclass
from email.message import Message
from typing import Any

from . import _abi
from ._arguments import decoded, new
from ._handle import Handle
from .enums import Action, Cause, DelaySource, Error, Reason
from .errors import BoxRetryError, ForkedError, HTTPStatusError, check, exception_of


@dataclass(frozen=True)
class Attempt:
    """One attempt of a call: how it ended, and what was decided."""

    #: From 1.
    number: int
    #: From 1; 0 if the attempt ended in a response.
    exception_number: int
    #: 0: a network exception.
    status: int
    cause: Cause
    action: Action
    #: None: the call ended before anybody was asked.
    reason: Reason | None
    #: Seconds before the next attempt.
    delay: float
    delay_source: DelaySource
    #: Times that it was sent again at once, since the connection was dead (B13).
    reconnects: int
    #: Milliseconds since the call began.
    started_ms: float
    ended_ms: float
    #: Seconds that the server asked for; None if it said nothing usable.
    retry_after: float | None
    #: libcurl's own code of a failure, or 0, and what libcurl calls it, or "".
    curl_code: int
    curl_text: str


class ResponseHeaders(Mapping[str, str]):
    """The header lines of a response. Names are looked up in any case.

    Of several lines with one name, `headers[name]` is the first. What is no UTF-8 is escaped as os.fsdecode() does it.
    """

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        #: All lines, as the server sent them, in order.
        self.pairs = pairs
        self._lines: dict[str, list[tuple[str, str]]] = {}
        for name, value in pairs:
            self._lines.setdefault(name.lower(), []).append((name, value))

    def get_all(self, name: str) -> list[str]:
        """The values of all lines with this name."""
        return [value for _, value in self._lines.get(name.lower(), ())]

    def __getitem__(self, name: str) -> str:
        return self._lines[name.lower()][0][1]

    def __iter__(self) -> Iterator[str]:
        return (lines[0][0] for lines in self._lines.values())

    def __len__(self) -> int:
        return len(self._lines)

    def __repr__(self) -> str:
        return f"ResponseHeaders({self.pairs!r})"


class Response:
    """The response of a call, whatever its status. Its parts are fetched from the library when they are asked for.

    In a child of os.fork(), what was not asked for before raises ForkedError.
    """

    __slots__ = ("__weakref__", "_attempts", "_content", "_handle", "_headers", "status")

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        #: 100 to 999.
        self.status: int = _abi.boxretry_response_status(handle.pointer)
        self._content: bytes | None = None
        self._headers: ResponseHeaders | None = None
        self._attempts: list[Attempt] | None = None

    @property
    def ok(self) -> bool:
        """The status is that of a success or a redirect (B10)."""
        return 200 <= self.status < 400

    @property
    def content(self) -> bytes:
        """The body."""
        if self._content is None:
            length = c_size_t()
            pointer = _abi.boxretry_response_body(self._pointer(), byref(length))
            self._content = string_at(pointer, length.value)
        return self._content

    @property
    def text(self) -> str:
        """The body as text, in the charset of its Content-Type, else in UTF-8. What is no text becomes U+FFFD."""
        message = Message()
        message["Content-Type"] = self.headers.get("Content-Type", "")
        try:
            return self.content.decode(message.get_content_charset() or "utf-8", "replace")
        except LookupError:  # A charset that nobody knows.
            return self.content.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body, read as JSON. Raises ValueError if it is none."""
        return json.loads(self.content)

    @property
    def content_is_cut_off(self) -> bool:
        """There was more than `error_body_limit` (B15)."""
        return bool(_abi.boxretry_response_body_is_cut_off(self._pointer()))

    @property
    def headers(self) -> ResponseHeaders:
        """The header lines of the final response."""
        if self._headers is None:
            pointer, pairs, line = self._pointer(), [], _abi.Header()
            for index in range(_abi.boxretry_response_header_count(pointer)):
                check(_abi.boxretry_response_header_at(pointer, index, byref(line)))
                pairs.append((decoded(line.name), decoded(line.value)))
            self._headers = ResponseHeaders(pairs)
        return self._headers

    @property
    def url(self) -> str:
        """The URL that was fetched."""
        return decoded(_abi.boxretry_response_url(self._pointer()))

    @property
    def attempts(self) -> list[Attempt]:
        """Every attempt of the call, in order; the last one led to this response."""
        if self._attempts is None:
            self._attempts = _attempts(self._pointer())
        return self._attempts

    def raise_for_status(self) -> Response:
        """This response. Raises HTTPStatusError, which has it, unless it is `ok`."""
        if self.ok:
            return self
        error = HTTPStatusError(f"status {self.status} (after {_counted(len(self.attempts))})")
        error.attempts, error.response = self.attempts, self
        raise error

    def _pointer(self) -> int:
        # A function that does not answer with an error answers with nothing where it may not look.
        if _abi.boxretry_response_error(self._handle.pointer) == Error.INVALID_ARGUMENT:
            raise ForkedError("Response: was made before os.fork(), in the parent process")
        return self._handle.pointer

    def __repr__(self) -> str:
        return f"<Response {self.status}>"

    def __reduce__(self) -> Any:
        """Refuses to be copied or pickled: two would free the same handle."""
        raise TypeError("Response objects can be neither copied nor pickled")


def response_of_call(handle: Handle) -> Response:
    """The response in a boxretry_response. Raises what the call has ended with, if that is no response."""
    error: int = _abi.boxretry_response_error(handle.pointer)
    if error:
        raise _exception_of_call(handle, Error(error))
    return Response(handle)


def _attempts(pointer: int) -> list[Attempt]:
    attempts, struct = [], new(_abi.Attempt, _abi.boxretry_attempt_init)
    for index in range(_abi.boxretry_response_attempt_count(pointer)):
        check(_abi.boxretry_response_attempt(pointer, index, byref(struct)))
        attempts.append(_attempt_from_struct(struct))
    return attempts


def _attempt_from_struct(struct: Any) -> Attempt:
    return Attempt(
        number=struct.number,
        exception_number=struct.exception_number,
        status=struct.status,
        cause=Cause(struct.cause),
        action=Action(struct.action),
        reason=None if struct.reason < 0 else Reason(struct.reason),
        delay=struct.delay,
        delay_source=DelaySource(struct.delay_source),
        reconnects=struct.reconnects,
        started_ms=struct.started_ms,
        ended_ms=struct.ended_ms,
        retry_after=None if struct.retry_after < 0 else struct.retry_after,
        curl_code=struct.curl_code,
        curl_text=decoded(struct.curl_text),
    )


def _exception_of_call(handle: Handle, error: Error) -> BoxRetryError:
    attempts = _attempts(handle.pointer)
    detail = f"{error.text} (after {_counted(len(attempts))}"
    if attempts and attempts[-1].curl_text:
        detail += f"; libcurl: {attempts[-1].curl_text}"
    exception = exception_of(error, detail + ")")
    exception.attempts = attempts
    if _abi.boxretry_response_status(handle.pointer):
        exception.response = Response(handle)
    return exception


def _counted(attempts: int) -> str:
    return f"{attempts} attempt{'' if attempts == 1 else 's'}"
