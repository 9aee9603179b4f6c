"""The extension `trace` of HTTPX: reports about a request, with the names that HTTPX's own transports use."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .._c.texts import encoded
from ..calls.response_head import ResponseHead

#: The name of an event, and its data.
Event = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class TracedURL:
    """The parts of a URL, in the form of httpcore."""

    scheme: bytes
    host: bytes
    port: int | None
    target: bytes


@dataclass(frozen=True)
class TracedRequest:
    """A request, in the form of httpcore."""

    method: bytes
    url: TracedURL
    headers: list[tuple[bytes, bytes]]
    extensions: dict[str, Any] = field(default_factory=dict)


class Trace:
    """Reports the last attempt of a request: both heads, when the response's has arrived, then the body and the end.

    Connections are not reported, because the engine does not say which one it used.
    """

    def __init__(self, callback: Any, request: Any, http_version: int) -> None:
        """`http_version`: 10, 11, 20."""
        self._callback = callback
        self._request = request
        self._prefix = "http2" if http_version == 20 else "http11"
        self._version = b"HTTP/%d.%d" % divmod(http_version, 10)

    def of_head(self, head: ResponseHead) -> Iterator[Event]:
        """The request, and the head of the response."""
        request = _traced(self._request)
        lines = head.headers.raw
        value: tuple[Any, ...] = (head.status, lines)
        if self._prefix == "http11":
            value = (self._version, head.status, encoded(head.reason_phrase), lines)
        yield from self._both("send_request_headers", request)
        yield from self._both("send_request_body", request)
        yield from self._both("receive_response_headers", request, value)

    def of_body(self) -> Iterator[Event]:
        """Reading the body begins."""
        yield f"{self._prefix}.receive_response_body.started", {"request": _traced(self._request)}

    def of_body_end(self, error: BaseException | None = None) -> Iterator[Event]:
        """The body is complete, or failed with this error."""
        if error is None:
            yield f"{self._prefix}.receive_response_body.complete", {"return_value": None}
        else:
            yield f"{self._prefix}.receive_response_body.failed", {"exception": error}

    def of_close(self) -> Iterator[Event]:
        """The response is closed."""
        yield f"{self._prefix}.response_closed.started", {}
        yield f"{self._prefix}.response_closed.complete", {"return_value": None}

    def tell(self, events: Iterable[Event]) -> None:
        """Calls the function. Raises TypeError if it is asynchronous, and any exception of the function."""
        for event in events:
            answer = self._callback(*event)
            if inspect.iscoroutine(answer):
                answer.close()
                raise TypeError(
                    "If you are using a synchronous interface, the callback of the `trace` extension should"
                    " be a normal function instead of an asynchronous function."
                )

    async def tell_async(self, events: Iterable[Event]) -> None:
        """Awaits the function. Raises TypeError if it is not asynchronous, and any exception of the function."""
        for event in events:
            answer = self._callback(*event)
            if not inspect.iscoroutine(answer):
                raise TypeError(
                    "If you're using an asynchronous interface, the callback of the `trace` extension should"
                    " be an asynchronous function rather than a normal function."
                )
            await answer

    def watch(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yields the pieces of the body."""
        self.tell(self.of_body())
        try:
            yield from pieces
        except BaseException as error:
            self.tell(self.of_body_end(error))
            raise
        self.tell(self.of_body_end())

    async def watch_async(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Yields the pieces of the body."""
        await self.tell_async(self.of_body())
        try:
            async for piece in pieces:
                yield piece
        except BaseException as error:
            await self.tell_async(self.of_body_end(error))
            raise
        await self.tell_async(self.of_body_end())

    def _both(self, name: str, request: TracedRequest, value: Any = None) -> Iterator[Event]:
        yield f"{self._prefix}.{name}.started", {"request": request}
        yield f"{self._prefix}.{name}.complete", {"return_value": value}


def trace_of(request: Any, head: ResponseHead) -> Trace | None:
    """The trace of a request, which has this response; None: it has no such extension."""
    callback = request.extensions.get("trace")
    return None if callback is None else Trace(callback, request, head.http_version)


def _traced(request: Any) -> TracedRequest:
    url = request.url
    return TracedRequest(
        method=request.method.encode("ascii"),
        url=TracedURL(url.raw_scheme, url.raw_host, url.port, request.extensions.get("target", url.raw_path)),
        headers=list(request.headers.raw),
        extensions=dict(request.extensions),
    )
