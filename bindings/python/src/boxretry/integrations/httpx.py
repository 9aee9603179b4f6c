"""Transports for HTTPX: its clients, on this engine.

    client = httpx.Client(transport=RetryTransport())
    client = httpx.AsyncClient(transport=AsyncRetryTransport())

Redirects, cookies, auth and hooks are those of HTTPX; each request that they lead to has retries of its own.
"""

from __future__ import annotations

import os
from typing import Any

import certifi
import httpx

from ..aio import AsyncClient
from ..client import Client
from ..enums import Proxy
from ..errors import (
    BoxRetryError,
    DeadlineError,
    IdleTimeoutError,
    InvalidArgumentError,
    NetworkError,
    ProtocolError,
    ReceiveError,
    ResourceTimeoutError,
    SendError,
)
from ..response import Response
from ..timeout import Timeout
from ._engine import REQUEST_ARGUMENTS, Clients, idle_timeout, is_of_proxy, sendable


class RetryTransport(httpx.BaseTransport):
    """Sends the requests of an `httpx.Client`, with retries.

    Of HTTPX's timeouts "read" counts: the longest time in which nothing moves, connecting and sending included, of each
    attempt; a client without it (`timeout=None`) waits as long as the transport's own `timeout` says, by default for
    ever. There is no wait for a free connection that could time out. As with HTTPX's own transports, the proxy is
    said here (`proxy`), and not by the environment; and the certificates that are trusted (`ca_file`) are those of
    certifi, or of SSL_CERT_FILE.

    A response is read to its end before it is given.

    When retries are exhausted, the last response is returned, whatever its status. What ends without one raises:
    ConnectError (TLS included), ReadTimeout (connecting included), TimeoutException (a deadline), ReadError,
    WriteError, RemoteProtocolError, ProxyError, UnsupportedProtocol, LocalProtocolError, else TransportError. The
    BoxRetryError with all attempts is its `__cause__`.

    A transport is usable in a child of os.fork().
    """

    def __init__(self, **settings: Any) -> None:
        """The settings are those of `boxretry.Client`: a strategy, a deadline, a proxy, … ."""
        self._settings = _with_defaults(settings)
        self._clients = Clients(Client, self._settings)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, for a client. See the class."""
        request.read()
        try:
            return _response(self._clients.get().request(**_arguments(request, self._settings)))
        except BoxRetryError as error:
            raise _exception_class(error, self._settings)(str(error)) from error

    def close(self) -> None:
        """Closes all connections."""
        for client in self._clients.take_all():
            client.close()


class AsyncRetryTransport(httpx.AsyncBaseTransport):
    """As `RetryTransport`, for an `httpx.AsyncClient` under asyncio."""

    def __init__(self, **settings: Any) -> None:
        """The settings are those of `boxretry.aio.AsyncClient`: a strategy, a deadline, a proxy, … ."""
        self._settings = _with_defaults(settings)
        self._clients = Clients(AsyncClient, self._settings)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, for a client. See the class."""
        await request.aread()
        try:
            return _response(await self._clients.get().request(**_arguments(request, self._settings)))
        except BoxRetryError as error:
            raise _exception_class(error, self._settings)(str(error)) from error

    async def aclose(self) -> None:
        """Closes all connections."""
        for client in self._clients.take_all():
            await client.aclose()


def _with_defaults(settings: dict[str, Any]) -> dict[str, Any]:
    return {"proxy": Proxy.NONE, "ca_file": os.environ.get("SSL_CERT_FILE") or certifi.where(), **settings}


def _arguments(request: httpx.Request, settings: dict[str, Any]) -> dict[str, Any]:
    """What `Client.request()` is given for a request that was read."""
    return {
        "method": request.method,
        "url": str(request.url),
        "headers": sendable(request.headers.raw),
        "data": request.content or None,
        "timeout": _timeout(request, settings),
        **REQUEST_ARGUMENTS,
    }


def _timeout(request: httpx.Request, settings: dict[str, Any]) -> Timeout | None:
    read = request.extensions.get("timeout", {}).get("read")
    return None if read is None and "timeout" in settings else idle_timeout(read)


def _response(response: Response) -> httpx.Response:
    return httpx.Response(response.status, headers=response.headers.pairs, stream=httpx.ByteStream(response.content))


def _exception_class(error: BoxRetryError, settings: dict[str, Any]) -> type[httpx.TransportError]:
    if settings["proxy"] is not Proxy.NONE and is_of_proxy(error):
        return httpx.ProxyError
    if isinstance(error, (IdleTimeoutError, ResourceTimeoutError)):
        return httpx.ReadTimeout
    if isinstance(error, DeadlineError):
        return httpx.TimeoutException
    if isinstance(error, ReceiveError):
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
