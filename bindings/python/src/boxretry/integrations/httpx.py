"""Transports for HTTPX: its clients, on this engine.

    client = httpx.Client(transport=RetryTransport())
    client = httpx.AsyncClient(transport=AsyncRetryTransport())

Redirects, cookies, auth and hooks are those of HTTPX; each request that they lead to has retries of its own.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

import certifi
import httpx

from ..aio import AsyncClient, AsyncStream
from ..calls.response import Response
from ..client import Client
from ..enums import Proxy
from ..errors import (
    AnyError,
    BoxRetryError,
    CancelledError,
    DeadlineError,
    IdleTimeoutError,
    InvalidArgumentError,
    NetworkError,
    ProtocolError,
    ReceiveError,
    ResourceTimeoutError,
    SendError,
    SourceError,
)
from ..options import ClientSettings, Strategy
from ..stream import Stream
from ._engine import (
    REQUEST_ARGUMENTS,
    Clients,
    as_sent,
    connect_timed_out,
    idle_timeout,
    is_of_proxy,
    raw_lines,
    sendable,
    was_connecting,
    with_strategy,
)
from ._sending import body_of_host, can_rewind, send, send_for_stream

if TYPE_CHECKING:
    from typing_extensions import Unpack


class RetryTransport(httpx.BaseTransport):
    """Sends the requests of an `httpx.Client`, with retries.

    Of HTTPX's timeouts "connect" bounds connecting (name look-up, TCP, TLS and a proxy's CONNECT together) of each
    attempt, and "read" is the longest time in which nothing moves, connecting and sending included, of each attempt. A
    client without it (`timeout=None`) waits as long as the transport's own `timeout` says, by default without limit.
    There is no wait for a free connection that could time out. As with HTTPX's own transports, the proxy is said here
    (`proxy`), and not by the environment; and the certificates that are trusted (`ca_file`, `ca_path`, `tls_verify`)
    are those of certifi, or of SSL_CERT_FILE or SSL_CERT_DIR.

    The body of a 2xx response comes as it is read, also where HTTPX reads it at once: transports are not told. If it
    breaks off, that is raised, since the status has been told; with `streams=False` each response is read to its end
    before it is given, and one that breaks off is retried as any other exception. A request's content is read while it
    is sent, in the thread or the event loop that waits; it is sent again if it is in memory, or a form of what is in
    memory or can be rewound.

    When retries are exhausted, the last response is returned, whatever its status. What ends without one raises:
    ConnectError (TLS included), ConnectTimeout, ReadTimeout, TimeoutException (a deadline), ReadError (also if the
    call was canceled, as by closing the transport), WriteError, RemoteProtocolError, ProxyError, UnsupportedProtocol,
    LocalProtocolError, else TransportError. The BoxRetryError or CancelledError with all attempts is its `__cause__`.

    A transport is usable in a child of os.fork().
    """

    def __init__(
        self, strategy: Strategy | None = None, *, streams: bool = True, **settings: Unpack[ClientSettings]
    ) -> None:
        """As `boxretry.Client`: a strategy, a deadline, a proxy, … ."""
        self._streams = streams
        self._settings = _with_defaults(with_strategy(strategy, settings))
        self._clients = Clients(Client, self._settings)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, for a client. See the class."""
        arguments = {**_arguments(request, self._settings), **_body(request)}
        with _as_of_httpx(self._settings):
            if not self._streams:
                return _response(send(self._clients.get(), request.method, str(request.url), arguments))
            came = send_for_stream(self._clients.get(), request.method, str(request.url), arguments)
            return _streamed(came, _Body(came, self._settings))

    def close(self) -> None:
        """Closes all connections."""
        for client in self._clients.take_all():
            client.close()


class AsyncRetryTransport(httpx.AsyncBaseTransport):
    """As `RetryTransport`, for an `httpx.AsyncClient` under asyncio."""

    def __init__(
        self, strategy: Strategy | None = None, *, streams: bool = True, **settings: Unpack[ClientSettings]
    ) -> None:
        """As `boxretry.aio.AsyncClient`: a strategy, a deadline, a proxy, … ."""
        self._streams = streams
        self._settings = _with_defaults(with_strategy(strategy, settings))
        self._clients = Clients(AsyncClient, self._settings)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, for a client. See the class."""
        arguments = {**_arguments(request, self._settings), **_async_body(request)}
        with _as_of_httpx(self._settings):
            if not self._streams:
                return _response(await self._clients.get().request(request.method, str(request.url), **arguments))
            came = await self._clients.get().stream(request.method, str(request.url), **arguments).__aenter__()
            return _streamed(came, _AsyncBody(came, self._settings))

    async def aclose(self) -> None:
        """Closes all connections."""
        for client in self._clients.take_all():
            await client.aclose()


def _with_defaults(settings: dict[str, Any]) -> dict[str, Any]:
    return {"proxy": Proxy.NONE, **_trust(settings), **settings}


def _trust(settings: dict[str, Any]) -> dict[str, Any]:
    """What HTTPX trusts by default, unless the settings say what to trust."""
    if not settings.keys().isdisjoint(("ca_file", "ca_path", "tls_verify")):
        return {}
    if file := os.environ.get("SSL_CERT_FILE"):
        return {"ca_file": file}
    if folder := os.environ.get("SSL_CERT_DIR"):
        return {"ca_path": folder}
    return {"ca_file": certifi.where()}


def _arguments(request: httpx.Request, settings: dict[str, Any]) -> dict[str, Any]:
    """What `Client.request()` is given, but for the body."""
    return {
        "headers": sendable(request.headers.raw),
        **_timeouts(request, settings),
        **REQUEST_ARGUMENTS,
    }


def _timeouts(request: httpx.Request, settings: dict[str, Any]) -> dict[str, Any]:
    wanted = request.extensions.get("timeout", {})
    read = wanted.get("read")
    is_ours = read is None and "timeout" in settings
    return {"timeout": None if is_ours else idle_timeout(read), "connect_timeout": wanted.get("connect")}


def _body(request: httpx.Request) -> dict[str, Any]:
    if (content := _content(request)) is not None:
        return {"data": content or None}
    stream = request.stream
    if not isinstance(stream, httpx.SyncByteStream):
        raise RuntimeError("Attempted to send an async request with a sync Client instance.")
    if _is_lasting(stream):
        return body_of_host(stream, _length(request))
    return body_of_host(iter(stream), _length(request))


def _async_body(request: httpx.Request) -> dict[str, Any]:
    if (content := _content(request)) is not None:
        return {"data": content or None}
    stream = request.stream
    if not isinstance(stream, httpx.AsyncByteStream):
        raise RuntimeError("Attempted to send a sync request with an AsyncClient instance.")
    data = (lambda: stream) if _is_lasting(stream) else stream.__aiter__()
    return {"data": data, "data_length": _length(request)}


def _content(request: httpx.Request) -> bytes | None:
    """The content, if it is in memory; else None."""
    try:
        return request.content
    except httpx.RequestNotRead:
        # A redirect hands the stream of the first request on, unread.
        return b"".join(request.stream) if isinstance(request.stream, httpx.ByteStream) else None


def _is_lasting(stream: Any) -> bool:
    """Whether the content can be read again and again: a form without files that only go forward."""
    fields = getattr(stream, "fields", None)
    files = [] if fields is None else [field.file for field in fields if hasattr(field, "file")]
    return fields is not None and all(isinstance(file, (str, bytes)) or can_rewind(file) for file in files)


def _length(request: httpx.Request) -> int | None:
    length = request.headers.get("Content-Length")
    return None if length is None else int(length)


def _response(response: Response) -> httpx.Response:
    return httpx.Response(
        response.status,
        headers=raw_lines(response.headers),
        stream=httpx.ByteStream(response.content),
        extensions=_extensions(response.attempts[-1].http_version, response.reason_phrase),
    )


def _streamed(stream: Stream | AsyncStream, body: _Body | _AsyncBody) -> httpx.Response:
    return httpx.Response(
        stream.status,
        headers=raw_lines(stream.headers),
        stream=body,
        extensions=_extensions(stream.http_version, stream.reason_phrase),
    )


def _extensions(http_version: int, reason_phrase: str) -> dict[str, Any]:
    if http_version == 20:  # HTTP/2 has no reason phrases.
        return {"http_version": b"HTTP/2"}
    return {"http_version": b"HTTP/%d.%d" % divmod(http_version, 10), "reason_phrase": as_sent(reason_phrase)}


class _Body(httpx.SyncByteStream):
    """The body of a response that is read while it comes."""

    def __init__(self, stream: Stream, settings: dict[str, Any]) -> None:
        self._stream, self._settings = stream, settings

    def __iter__(self) -> Iterator[bytes]:
        with _as_of_httpx(self._settings):
            yield from self._stream.iter_bytes()

    def close(self) -> None:
        """Cancels the call, unless it has ended."""
        self._stream.close()


class _AsyncBody(httpx.AsyncByteStream):
    """The same, for an `AsyncRetryTransport`."""

    def __init__(self, stream: AsyncStream, settings: dict[str, Any]) -> None:
        self._stream, self._settings = stream, settings

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_of_httpx(self._settings):
            async for piece in self._stream.iter_bytes():
                yield piece

    async def aclose(self) -> None:
        """Cancels the call, unless it has ended."""
        await self._stream.aclose()


@contextlib.contextmanager
def _as_of_httpx(settings: dict[str, Any]) -> Iterator[None]:
    """What is raised in here is what HTTPX raises; what the content of a request has raised comes out as it is."""
    try:
        yield
    except SourceError as error:
        if error.__cause__ is not None:
            raise error.__cause__ from None
        raise httpx.TransportError(str(error)) from error
    except (BoxRetryError, CancelledError) as error:
        raise _exception_class(error, settings)(str(error)) from error


def _exception_class(error: AnyError, settings: dict[str, Any]) -> type[httpx.TransportError]:
    if connect_timed_out(error):
        return httpx.ConnectTimeout
    if settings["proxy"] is not Proxy.NONE and is_of_proxy(error):
        return httpx.ProxyError
    if isinstance(error, (IdleTimeoutError, ResourceTimeoutError)):
        return httpx.ConnectTimeout if was_connecting(error) else httpx.ReadTimeout
    if isinstance(error, DeadlineError):
        return httpx.TimeoutException
    if isinstance(error, (ReceiveError, CancelledError)):
        return httpx.ReadError
    if isinstance(error, SendError):
        return httpx.WriteError
    if isinstance(error, ProtocolError):
        return httpx.RemoteProtocolError
    if isinstance(error, NetworkError):
        return httpx.ConnectError
    if isinstance(error, InvalidArgumentError):
        return httpx.UnsupportedProtocol if ".url" in error.detail else httpx.LocalProtocolError
    return httpx.TransportError
