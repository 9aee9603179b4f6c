"""Common parts of the transports for HTTPX and httpx2, which have the same interface."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Callable, ClassVar, NoReturn

from .._c.texts import encoded
from ..aio import AsyncClient, AsyncStream
from ..calls.response_head import ResponseHead
from ..client import Client
from ..enums import Proxy
from ..errors import AnyError, BoxRetryError, CancelledError
from ..options import ClientSettings, Strategy
from ..stream import Stream, head_of_response
from ._engine import (
    REQUEST_ARGUMENTS,
    Clients,
    idle_timeout,
    length_said_by,
    with_strategy,
    without_reserved,
)
from ._httpx_errors import raise_as_of_host
from ._httpx_trace import Trace, trace_of
from ._sending import body_of_host, can_rewind, send, send_for_stream

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Raises the package's exception for one of ours.
_Raise = Callable[[AnyError], NoReturn]


class _Sending:
    """Common parts of both kinds of transports."""

    #: The host package.
    _host: ClassVar[ModuleType]
    _settings: dict[str, Any]

    @classmethod
    def _default_trust(cls) -> dict[str, Any]:
        """The certificates that the package trusts by default, as settings."""
        raise NotImplementedError

    def _without_time(self, connect: float) -> Exception:
        """The package's exception if there is no time left to connect."""
        raise NotImplementedError

    def _take(self, strategy: Strategy | None, settings: Any) -> None:
        self._settings = {"proxy": Proxy.NONE, **with_strategy(strategy, settings)}
        if self._settings.keys().isdisjoint(("ca_file", "ca_path", "tls_verify")):
            self._settings.update(self._default_trust())

    def _raise(self, request: Any, error: AnyError) -> NoReturn:
        raise_as_of_host(error, self._host, request, self._settings["proxy"] is not Proxy.NONE)

    def _url(self, request: Any) -> str:
        """The URL, or that of the extension `target`. Its bytes are sent unchanged."""
        target = request.extensions.get("target")
        if target is None:
            url: str = str(request.url)
            return url
        if not target.startswith(b"/"):
            raise self._host.LocalProtocolError(f"The extension 'target' must begin with '/' (got {target!r})")
        origin = str(request.url.copy_with(raw_path=b"/")).rstrip("/")
        return f"{origin}{target.decode('latin-1')}"

    def _arguments(self, request: Any) -> dict[str, Any]:
        """The arguments for `Client.request()`, except the body."""
        wanted = request.extensions.get("timeout", {})
        connect, read = wanted.get("connect"), wanted.get("read")
        if connect is not None and connect <= 0:
            raise self._without_time(connect)
        is_ours = read is None and "timeout" in self._settings
        return {
            "headers": without_reserved(request.headers.raw),
            "timeout": None if is_ours else idle_timeout(read),
            "connect_timeout": connect,
            **REQUEST_ARGUMENTS,
        }


class SyncSending(_Sending):
    """A `RetryTransport` for either package."""

    def __init__(
        self, strategy: Strategy | None = None, *, streams: bool = True, **settings: Unpack[ClientSettings]
    ) -> None:
        """The settings are those of `boxretry.Client`: a strategy, a deadline, a proxy, …"""
        self._streams = streams
        self._take(strategy, settings)
        self._clients = Clients(Client, self._settings)

    def handle_request(self, request: Any) -> Any:
        """Sends a request for a client. See the class."""
        arguments = {**self._arguments(request), **_body(self._host, request)}
        url = self._url(request)
        try:
            client = self._clients.get()
            if not self._streams:
                response = send(client, request.method, url, arguments)
                head = head_of_response(response)
                if trace := trace_of(request, head):
                    trace.tell(trace.of_head(head))
                return _response(self._host, head, self._host.ByteStream(response.content))
            came = send_for_stream(client, request.method, url, arguments)
            head = came._head()
        except (BoxRetryError, CancelledError) as error:
            self._raise(request, error)
        if trace := trace_of(request, head):
            try:
                trace.tell(trace.of_head(head))
            except BaseException:
                came.close()
                raise
        make_body = _body_class(self._host)
        return _response(self._host, head, make_body(came, trace, functools.partial(self._raise, request)))

    def _without_time(self, connect: float) -> Exception:
        if connect < 0:
            return ValueError("Timeout value out of range")
        error: Exception = self._host.ConnectError("The connect timeout is 0: Operation now in progress")
        return error

    def close(self) -> None:
        """Closes all connections."""
        for client in self._clients.take_all():
            client.close()


class AsyncSending(_Sending):
    """An `AsyncRetryTransport` for either package."""

    def __init__(
        self, strategy: Strategy | None = None, *, streams: bool = True, **settings: Unpack[ClientSettings]
    ) -> None:
        """The settings are those of `boxretry.aio.AsyncClient`: a strategy, a deadline, a proxy, …"""
        self._streams = streams
        self._take(strategy, settings)
        self._clients = Clients(AsyncClient, self._settings)

    async def handle_async_request(self, request: Any) -> Any:
        """Sends a request for a client. See the class."""
        arguments = {**self._arguments(request), **_async_body(self._host, request)}
        url = self._url(request)
        try:
            client = self._clients.get()
            if not self._streams:
                response = await client.request(request.method, url, **arguments)
                head = head_of_response(response)
                if trace := trace_of(request, head):
                    await trace.tell_async(trace.of_head(head))
                return _response(self._host, head, self._host.ByteStream(response.content))
            came = await client.stream(request.method, url, stream_errors=True, **arguments).__aenter__()
            head = came._head()
        except (BoxRetryError, CancelledError) as error:
            self._raise(request, error)
        if trace := trace_of(request, head):
            try:
                await trace.tell_async(trace.of_head(head))
            except BaseException:
                await came.aclose()
                raise
        make_body = _async_body_class(self._host)
        return _response(self._host, head, make_body(came, trace, functools.partial(self._raise, request)))

    def _without_time(self, connect: float) -> Exception:
        error: Exception = self._host.ConnectTimeout(f"The connect timeout is {connect}")
        return error

    async def aclose(self) -> None:
        """Closes all connections."""
        for client in self._clients.take_all():
            await client.aclose()


def _body(host: ModuleType, request: Any) -> dict[str, Any]:
    if (content := _content(host, request)) is not None:
        return body_of_host(content or None, length_said_by(request.headers))
    stream = request.stream
    if not isinstance(stream, host.SyncByteStream):
        raise RuntimeError("Attempted to send an async request with a sync Client instance.")
    if _is_lasting(stream):
        return body_of_host(stream, length_said_by(request.headers))
    return body_of_host(iter(stream), length_said_by(request.headers))


def _async_body(host: ModuleType, request: Any) -> dict[str, Any]:
    if (content := _content(host, request)) is not None:
        return body_of_host(content or None, length_said_by(request.headers))
    stream = request.stream
    if not isinstance(stream, host.AsyncByteStream):
        raise RuntimeError("Attempted to send a sync request with an AsyncClient instance.")
    data = (lambda: stream) if _is_lasting(stream) else stream.__aiter__()
    return {"data": data, "data_length": length_said_by(request.headers)}


def _content(host: ModuleType, request: Any) -> bytes | None:
    """The content, if it is in memory; otherwise None."""
    try:
        content: bytes = request.content
        return content
    except host.RequestNotRead:
        # After a redirect, HTTPX passes on the stream of the first request, which was not read.
        return b"".join(request.stream) if isinstance(request.stream, host.ByteStream) else None


def _is_lasting(stream: Any) -> bool:
    """Whether the content can be read repeatedly: a form whose files can be rewound."""
    fields = getattr(stream, "fields", None)
    files = [] if fields is None else [field.file for field in fields if hasattr(field, "file")]
    return fields is not None and all(isinstance(file, (str, bytes)) or can_rewind(file) for file in files)


def _response(host: ModuleType, head: ResponseHead, body: Any) -> Any:
    return host.Response(
        head.status,
        headers=head.headers.raw,
        stream=body,
        extensions=_extensions(head.http_version, head.reason_phrase),
    )


def _extensions(http_version: int, reason_phrase: str) -> dict[str, Any]:
    if http_version == 20:  # HTTP/2 does not have reason phrases.
        return {"http_version": b"HTTP/2", "network_stream": NETWORK_STREAM}
    return {
        "http_version": b"HTTP/%d.%d" % divmod(http_version, 10),
        "reason_phrase": encoded(reason_phrase),
        "network_stream": NETWORK_STREAM,
    }


class _NetworkStream:
    """The extension `network_stream`. The connection belongs to the engine: it has no data here, and cannot be used."""

    def get_extra_info(self, info: str) -> Any:
        """None, as HTTPX's own transports return for what they do not know."""
        return None


NETWORK_STREAM = _NetworkStream()


@functools.cache
def _body_class(host: ModuleType) -> Any:
    class Body(host.SyncByteStream):  # type: ignore[misc,name-defined]
        """The body of a response that is read while it arrives."""

        # HTTPX's response refers to itself, and so its body waits for the garbage collector; the stream must not.
        _stream: Stream | None

        def __init__(self, stream: Stream, trace: Trace | None, fail: _Raise) -> None:
            self._stream, self._trace, self._fail = stream, trace, fail

        def __iter__(self) -> Iterator[bytes]:
            if self._stream is None:
                raise host.StreamClosed
            pieces = self._stream.iter_bytes()
            try:
                yield from pieces if self._trace is None else self._trace.watch(pieces)
            except (BoxRetryError, CancelledError) as error:
                self._fail(error)

        def close(self) -> None:
            """Cancels the call, unless it has ended."""
            stream, self._stream = self._stream, None
            if stream is None:
                return
            stream.close()
            if self._trace is not None:
                self._trace.tell(self._trace.of_close())

    return Body


@functools.cache
def _async_body_class(host: ModuleType) -> Any:
    class AsyncBody(host.AsyncByteStream):  # type: ignore[misc,name-defined]
        """The same, for an `AsyncRetryTransport`."""

        _stream: AsyncStream | None

        def __init__(self, stream: AsyncStream, trace: Trace | None, fail: _Raise) -> None:
            self._stream, self._trace, self._fail = stream, trace, fail

        async def __aiter__(self) -> AsyncIterator[bytes]:
            if self._stream is None:
                raise host.StreamClosed
            pieces = self._stream.iter_bytes()
            try:
                async for piece in pieces if self._trace is None else self._trace.watch_async(pieces):
                    yield piece
            except (BoxRetryError, CancelledError) as error:
                self._fail(error)

        async def aclose(self) -> None:
            """Cancels the call, unless it has ended."""
            stream, self._stream = self._stream, None
            if stream is None:
                return
            await stream.aclose()
            if self._trace is not None:
                await self._trace.tell_async(self._trace.of_close())

    return AsyncBody
