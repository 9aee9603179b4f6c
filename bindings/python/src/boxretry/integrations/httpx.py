"""Transports for HTTPX: its clients, on this engine.

Retries multiply if an API client on top of HTTPX retries by itself. Turn its own retries off first, such as with
`OpenAI(max_retries=0)`; the project's docs/api-clients.md has the line for other clients.

    client = httpx.Client(transport=RetryTransport())
    client = httpx.AsyncClient(transport=AsyncRetryTransport())

Redirects, cookies, auth and hooks are those of HTTPX; each request that they lead to has retries of its own.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any, ClassVar

import certifi
import httpx

from ._httpx import AsyncSending, SyncSending


def _trust() -> dict[str, Any]:
    if file := os.environ.get("SSL_CERT_FILE"):
        return {"ca_file": file}
    if folder := os.environ.get("SSL_CERT_DIR"):
        return {"ca_path": folder}
    return {"ca_file": certifi.where()}


class RetryTransport(SyncSending, httpx.BaseTransport):
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

    The extensions `timeout` and `target` are supported. `trace` reports the last attempt, but no connections. The
    response's `network_stream` knows nothing of the connection. `sni_hostname` is not supported.

    When retries are exhausted, the last response is returned, whatever its status. What ends without one raises:
    ConnectError (TLS included), ConnectTimeout, ReadTimeout, TimeoutException (a deadline), ReadError (also if the
    call was canceled, as by closing the transport), WriteTimeout, WriteError, RemoteProtocolError (the body breaks off,
    too), ProxyError, UnsupportedProtocol, LocalProtocolError, else TransportError. The BoxRetryError or CancelledError
    with all attempts is its `__cause__`.

    A transport is usable in a child of os.fork().
    """

    _host: ClassVar[ModuleType] = httpx

    @classmethod
    def _default_trust(cls) -> dict[str, Any]:
        return _trust()


class AsyncRetryTransport(AsyncSending, httpx.AsyncBaseTransport):
    """As `RetryTransport`, for an `httpx.AsyncClient` under asyncio."""

    _host: ClassVar[ModuleType] = httpx

    @classmethod
    def _default_trust(cls) -> dict[str, Any]:
        return _trust()
