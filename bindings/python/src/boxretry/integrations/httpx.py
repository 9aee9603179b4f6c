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
    attempt. There is no wait for a free connection that could time out. As with HTTPX's own transports, the proxy is
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
        self._has_proxy, settings = _settings(settings)
        self._clients = Clients(Client, settings)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, for a client. See the class."""
        body = request.read()
        try:
            return _response(self._clients.get().request(request.method, str(request.url), **_arguments(request, body)))
        except BoxRetryError as error:
            raise _exception_class(error, self._has_proxy)(str(error)) from error

    def close(self) -> None:
        """Closes all connections."""
        for client in self._clients.take_all():
            client.close()


class AsyncRetryTransport(httpx.AsyncBaseTransport):
    """As `RetryTransport`, for an `httpx.AsyncClient` under asyncio."""

    def __init__(self, **settings: Any) -> None:
        """The settings are those of `boxretry.aio.AsyncClient`: a strategy, a deadline, a proxy, … ."""
        self._has_proxy, settings = _settings(settings)
        self._clients = Clients(AsyncClient, settings)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request, for a client. See the class."""
        body = await request.aread()
        client = self._clients.get()
        try:
            return _response(await client.request(request.method, str(request.url), **_arguments(request, body)))
        except BoxRetryError as error:
            raise _exception_class(error, self._has_proxy)(str(error)) from error

    async def aclose(self) -> None:
        """Closes all connections."""
        for client in self._clients.take_all():
            await client.aclose()


def _settings(settings: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
    """Whether there is a proxy, and the settings with HTTPX's defaults."""
    settings = {"proxy": Proxy.NONE, "ca_file": os.environ.get("SSL_CERT_FILE") or certifi.where(), **settings}
    return settings["proxy"] is not Proxy.NONE, settings


def _arguments(request: httpx.Request, body: bytes) -> dict[str, Any]:
    return {
        "headers": sendable(request.headers.raw),
        "data": body or None,
        "timeout": _timeout(request),
        **REQUEST_ARGUMENTS,
    }


def _timeout(request: httpx.Request) -> Timeout | None:
    timeouts = request.extensions.get("timeout")
    return None if timeouts is None else idle_timeout(timeouts.get("read"))


def _response(response: Response) -> httpx.Response:
    return httpx.Response(response.status, headers=response.headers.pairs, stream=httpx.ByteStream(response.content))


def _exception_class(error: BoxRetryError, has_proxy: bool) -> type[httpx.TransportError]:
    if has_proxy and is_of_proxy(error):
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
