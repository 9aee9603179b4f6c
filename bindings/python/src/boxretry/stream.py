"""A response that is read while it arrives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Callable, SupportsIndex

from ._bodies.fed import FedSource
from ._bodies.pieces import Cutter, Pieces
from ._c.arguments import integer
from ._sending.sending import Sending
from .calls.call import Call, slice_ms
from .calls.response_head import HasHead, ResponseHead
from .errors import ClosedError, InvalidArgumentError, Response


class Stream(HasHead):
    """Made by `Client.stream()`. Entering it sends the request, and waits for the head of the response.

    However slowly the body is read, at most about 1 MiB of it is buffered. Leaving early cancels the call. If the
    response breaks off after its head was delivered, it is not retried: what was read cannot be taken back (B15). One
    thread at a time.
    """

    def __init__(
        self,
        submit: Callable[[Sending, int], Call],
        sending_of: Callable[[Mapping[str, Any]], Sending],
        arguments: Mapping[str, Any],
        stream_errors: bool,
    ) -> None:
        refuse_other_places(arguments)
        data = arguments.get("data")
        self._fed = data if isinstance(data, FedSource) else None
        self._pieces = Pieces(stream_errors)
        self._sending = sending_of({**arguments, "sink": self._pieces})
        self._sending.wake_waiting()
        self._submit = submit
        self._call: Call | None = None

    def __enter__(self) -> Stream:
        """Raises what `Client.request()` raises."""
        if self._call is not None:
            raise ClosedError("Stream: can be entered only once")
        self._call = call = self._submit(self._sending, slice_ms())
        try:
            if not self._may_be_read():
                self._wait_for(self._may_be_read)
            if self._pieces.head is None:
                call._response_of_ended()
        except BaseException:
            self._call.cancel()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Cancels the call, unless it has ended. You can call it again."""
        self._pieces.close()
        if self._call is not None and not self._call._has_ended:
            self._call.cancel()

    def iter_bytes(self, chunk_size: SupportsIndex | None = None) -> Iterator[bytes]:
        """Yields the body in pieces of this size; the last may be smaller. None: as they arrive.

        This includes the body of a response other than 2xx. Raises the error that the call ended with, if it has no
        response.
        """
        cutter = cutter_of(chunk_size)
        return self._pieces_of_body() if cutter is None else _cut(cutter, self._pieces_of_body())

    def read(self) -> bytes:
        """Reads the rest of the body."""
        return b"".join(self.iter_bytes())

    @property
    def response(self) -> Response:
        """The response. Waits for the end of the body, which must be read for that: see `iter_bytes()`.

        Its `content` is empty for a 2xx response.
        """
        return self._open().response()

    def _head(self) -> ResponseHead:
        # A response that was not delivered in pieces is known as a whole.
        return self._pieces.head or head_of_response(self._open().response())

    def _pieces_of_body(self) -> Iterator[bytes]:
        call, pieces = self._open(), self._pieces
        while True:
            if not pieces.has_news:
                self._wait_for(lambda: pieces.has_news)
            piece, goes_on = pieces.take()
            if goes_on:
                call.resume()
            if piece is None:
                break
            yield piece
        response = call._response_of_ended()
        if pieces.head is None and response.content:
            yield response.content

    def _may_be_read(self) -> bool:
        """The head is here, and the request's body was sent, unless that has to wait until the response is read."""
        is_sent = self._fed is None or self._fed.has_ended or self._pieces.is_paused
        return self._pieces.head is not None and is_sent

    def _wait_for(self, condition: Callable[[], bool]) -> None:
        """Waits until the condition holds, or the call has ended."""
        call = self._open()
        if self._fed is not None:
            return self._fed.feed(call, lambda: call._has_ended or condition())
        while not (call._has_ended or condition()):
            call._wait_for_news()
        return None

    def _open(self) -> Call:
        if self._call is None:
            raise ClosedError("Stream: is not entered")
        return self._call


def refuse_other_places(arguments: Mapping[str, Any]) -> None:
    """Raises TypeError if arguments send the body to another destination than the stream."""
    for name in ("to_file", "sink"):
        if arguments.get(name) is not None:
            raise TypeError(f"{name}: cannot be used with a stream")


def cutter_of(chunk_size: SupportsIndex | None) -> Cutter | None:
    """Cuts the body into pieces of this size; None: pieces stay as they are."""
    if chunk_size is None:
        return None
    size = integer(chunk_size, "chunk_size")
    if size < 1:
        raise InvalidArgumentError(f"chunk_size: must be 1 or more (got {size})")
    return Cutter(size)


def head_of_response(response: Response) -> ResponseHead:
    """The head of a response that was received completely."""
    return ResponseHead(response.status, response.http_version, response.url, response.headers, response.reason_phrase)


def _cut(cutter: Cutter, pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield from cutter.cut(piece)
    yield from cutter.rest()
