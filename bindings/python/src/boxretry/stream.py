"""A response that is read while it comes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Callable

from ._arguments import Text, integer
from ._sending import Sending
from .call import Call
from .enums import PAUSE, Pause
from .errors import ClosedError, InvalidArgumentError
from .response import Response, ResponseHeaders

#: How many bytes wait for their reader before the transfer is paused, and from how few on it goes on.
_HIGH, _LOW = 1024 * 1024, 256 * 1024


class Stream:
    """Made by `Client.stream()`. Entering it sends the request, and waits for the body's first bytes, or for the end.

    However slow the reader is, no more than about 1 MiB waits for him. Leaving it early cancels the call. A delivery
    that breaks off when something has been delivered is not retried: there is no way to take it back (B15). One thread
    at a time.
    """

    def __init__(
        self,
        submit: Callable[[Sending], Call],
        method: Text,
        url: Text,
        is_watched: bool,
        arguments: Mapping[str, Any],
    ) -> None:
        for name in ("to_file", "sink"):
            if arguments.get(name) is not None:
                raise TypeError(f"{name}: does not go with a stream")
        self._pieces = _Pieces()
        self._sending = Sending(method, url, is_watched, **{**arguments, "sink": self._pieces})
        self._sending.tell_end(self._pieces.end)
        self._submit = submit
        self._call: Call | None = None

    def __enter__(self) -> Stream:
        """Raises what `Client.request()` raises."""
        if self._call is not None:
            raise ClosedError("Stream: can be entered once")
        self._call = self._submit(self._sending)
        try:
            if not self._pieces.wait():
                self._call.response()
        except BaseException:
            self._call.cancel()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Cancels the call, unless it has ended. May be called again."""
        self._pieces.close()
        if self._call is not None:
            self._call.cancel()

    def iter_bytes(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """The body in pieces of this size, the last one smaller; None: as they come.

        The body of another response than a 2xx comes as well. Raises what the call ended with, if that is no response.
        """
        if chunk_size is None:
            return self._pieces_of_body()
        size = integer(chunk_size, "chunk_size")
        if size < 1:
            raise InvalidArgumentError(f"chunk_size: must be 1 or more, but is {size}")
        return _in_pieces_of(size, self._pieces_of_body())

    def read(self) -> bytes:
        """The rest of the body."""
        return b"".join(self.iter_bytes())

    @property
    def response(self) -> Response:
        """The response. Waits for the body's end, for which somebody has to read it: see `iter_bytes()`.

        Its `content` is empty, unless it is another response than a 2xx.
        """
        return self._open().response()

    @property
    def status(self) -> int:
        """100 to 999. As `response`."""
        return self.response.status

    @property
    def headers(self) -> ResponseHeaders:
        """The header lines. As `response`."""
        return self.response.headers

    def _pieces_of_body(self) -> Iterator[bytes]:
        call, was_delivered = self._open(), self._pieces.was_delivered
        while (piece := self._pieces.take(call)) is not None:
            was_delivered = True
            yield piece
        response = call.response()
        if not was_delivered and response.content:
            yield response.content

    def _open(self) -> Call:
        if self._call is None:
            raise ClosedError("Stream: is not entered")
        return self._call


class _Pieces:
    """The sink: a buffer between the thread that drives the call and the one that reads."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._is_paused = self._has_ended = self._is_closed = False
        self.was_delivered = False

    def write(self, data: bytes) -> Pause | None:
        with self._condition:
            if self._size and self._size + len(data) > _HIGH:
                self._is_paused = True
                return PAUSE
            self._pieces.append(data)
            self._size += len(data)
            self.was_delivered = True
            self._condition.notify_all()
            return None

    def end(self) -> None:
        with self._condition:
            self._has_ended = True
            self._condition.notify_all()

    def close(self) -> None:
        with self._condition:
            self._is_closed = True
            self._pieces.clear()
            self._size = 0
            self._condition.notify_all()

    def wait(self) -> bool:
        """Waits for a piece, or for the end. Whether there is a piece."""
        with self._condition:
            while not (self._pieces or self._has_ended):
                self._condition.wait()
            return bool(self._pieces)

    def take(self, call: Call) -> bytes | None:
        """The next piece; None: the call has ended."""
        with self._condition:
            while not (self._pieces or self._has_ended or self._is_closed):
                self._condition.wait()
            if self._is_closed:
                raise ClosedError("Stream: is closed")
            if not self._pieces:
                return None
            piece = self._pieces.popleft()
            self._size -= len(piece)
            goes_on = self._is_paused and self._size <= _LOW
            if goes_on:
                self._is_paused = False
        if goes_on:
            call.resume()
        return piece


def _in_pieces_of(size: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = bytearray()
    for piece in pieces:
        rest += piece
        start = 0
        while len(rest) - start >= size:
            yield bytes(rest[start : start + size])
            start += size
        del rest[:start]
    if rest:
        yield bytes(rest)
