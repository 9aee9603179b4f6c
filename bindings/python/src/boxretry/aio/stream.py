"""A response that a task reads while it arrives."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, Callable, SupportsIndex

from .._bodies.pieces import Cutter, Pieces
from .._c.arguments import Text
from ..calls.response_head import HasHead, ResponseHead
from ..client import Client
from ..errors import ClosedError, Response
from ..stream import cutter_of, head_of_response, refuse_other_places
from ._calls import AsyncCall


class AsyncStream(HasHead):
    """Made by `AsyncClient.stream()`. Entering it sends the request, and waits for the head of the response.

    It works like `Stream`. Leaving it early cancels the call, and so does canceling the task. One task at a time, on
    the event loop in which it was entered.
    """

    def __init__(
        self, client: Client, method: Text, url: Text, arguments: Mapping[str, Any], stream_errors: bool
    ) -> None:
        refuse_other_places(arguments)
        self._stream_errors = stream_errors
        self._client, self._method, self._url, self._arguments = client, method, url, arguments
        self._call: AsyncCall | None = None
        self._response_head: ResponseHead | None = None

    async def __aenter__(self) -> AsyncStream:
        """Raises what `AsyncClient.request()` raises."""
        if self._call is not None:
            raise ClosedError("AsyncStream: can be entered only once")
        loop = asyncio.get_running_loop()
        self._news = news = _News(loop)
        self._pieces = Pieces(self._stream_errors, news.tell)
        arguments = {**self._arguments, "sink": self._pieces}
        self._call = call = AsyncCall(self._client, self._method, self._url, arguments)
        weakref.finalize(self, _abandon, loop, call).atexit = False
        call.future.add_done_callback(news.wake)
        try:
            await self._wait_for(lambda: self._pieces.head is not None)
            self._response_head = self._pieces.head
            if self._response_head is None:
                # A response that was not delivered in pieces is known as a whole.
                self._response_head = head_of_response(await call.response())
        except BaseException:
            call.give_up()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Cancels the call, unless it has ended. You can call it again."""
        if self._call is not None:
            self._pieces.close()
            self._call.give_up()

    def iter_bytes(self, chunk_size: SupportsIndex | None = None) -> AsyncIterator[bytes]:
        """Yields the body in pieces of this size; the last may be smaller. None: as they arrive.

        This includes the body of a response other than 2xx. Raises the error that the call ended with, if it has no
        response.
        """
        cutter = cutter_of(chunk_size)
        return self._pieces_of_body() if cutter is None else _cut(cutter, self._pieces_of_body())

    async def read(self) -> bytes:
        """Reads the rest of the body."""
        return b"".join([piece async for piece in self.iter_bytes()])

    async def response(self) -> Response:
        """The response. Waits for the end of the body, which must be read for that: see `iter_bytes()`.

        Its `content` is empty for a 2xx response.
        """
        call = self._open()
        await self._wait_for(lambda: self._pieces.is_closed)
        if not call.future.done():
            raise ClosedError("AsyncStream: is closed")
        return await call.response()

    def _head(self) -> ResponseHead:
        if self._response_head is None:
            raise ClosedError("AsyncStream: is not entered")
        return self._response_head

    async def _pieces_of_body(self) -> AsyncIterator[bytes]:
        call = self._open()
        while True:
            await self._wait_for(lambda: self._pieces.has_news)
            piece, goes_on = self._pieces.take()
            if goes_on:
                call.resume()
            if piece is None:
                break
            yield piece
        response = await call.response()
        if self._pieces.head is None and response.content:
            yield response.content

    async def _wait_for(self, condition: Callable[[], bool]) -> None:
        """Waits until the condition holds, or the call has ended."""
        future = self._open().future
        while True:
            self._news.event.clear()
            if condition() or future.done():
                return
            await self._news.event.wait()

    def _open(self) -> AsyncCall:
        if self._call is None:
            raise ClosedError("AsyncStream: is not entered")
        return self._call


class _News:
    """An event that any thread may set. The loop handles many of them in one turn."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.event = asyncio.Event()
        self._loop = loop
        self._is_told = False

    def tell(self) -> None:
        if not self._is_told:
            self._is_told = True
            self._loop.call_soon_threadsafe(self.wake)

    def wake(self, future: object = None) -> None:
        """Called on the loop."""
        self._is_told = False
        self.event.set()


def _abandon(loop: asyncio.AbstractEventLoop, call: AsyncCall) -> None:
    """Nothing refers to the stream any more. The garbage collector calls this on any thread."""
    with contextlib.suppress(RuntimeError):  # The loop is closed, and its calls have ended.
        loop.call_soon_threadsafe(call.give_up)


async def _cut(cutter: Cutter, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for piece in pieces:
        for each in cutter.cut(piece):
            yield each
    for each in cutter.rest():
        yield each
