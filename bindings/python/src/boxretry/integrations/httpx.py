"""Transports for HTTPX: its clients, on this engine.

If an API client on top of HTTPX has its own retries, retries multiply. Turn its retries off first, for example with
`OpenAI(max_retries=0)`; the project's docs/api-clients.md has the line for other clients.

    client = httpx.Client(transport=RetryTransport())
    client = httpx.AsyncClient(transport=AsyncRetryTransport())

HTTPX itself handles redirects, cookies, auth and hooks; each request that they lead to is retried separately.
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

    HTTPX's timeout "connect" limits the time to connect (resolving the name, TCP, TLS and a proxy's CONNECT together)
    in each attempt. "read" is the longest time without any data in each attempt, including connecting and sending. A
    client without it (`timeout=None`) has the limits of the transport's own `timeout`, by default none. There is no
    timeout for a free connection. As with HTTPX's own transports, set the proxy here (`proxy`); the environment's is
    not used. The trusted certificates (`ca_file`, `ca_path`, `tls_verify`) are by default those of certifi, or of
    SSL_CERT_FILE or SSL_CERT_DIR.

    The body of a 2xx response arrives while it is read, also if HTTPX reads it immediately: transports do not know
    that. If it breaks off, that raises, because the status has been reported already. With `streams=False` each
    response is read to its end before it is returned, and one that breaks off is retried like any other exception.
    The waiting thread or event loop reads a request's content while it is sent; it is sent again if it is in memory,
    or if it is a form whose parts are in memory or can be rewound.

    The extensions `timeout` and `target` are supported. `trace` reports the last attempt, but no connections. The
    response's `network_stream` has no data about the connection. `sni_hostname` is not supported.

    When retries are exhausted, the last response is returned, with any status. A call without a response raises
    ConnectError (TLS included, and files of certificates that cannot be used), ConnectTimeout, ReadTimeout,
    TimeoutException (a deadline), ReadError (also if the call was canceled, for example by closing the transport),
    WriteTimeout, WriteError, RemoteProtocolError (also if the body breaks off), ProxyError, UnsupportedProtocol,
    LocalProtocolError, otherwise TransportError. The BoxRetryError or CancelledError with all attempts is its
    `__cause__`.

    A transport can be used in a child of os.fork().
    """

    _host: ClassVar[ModuleType] = httpx

    @classmethod
    def _default_trust(cls) -> dict[str, Any]:
        return _trust()


class AsyncRetryTransport(AsyncSending, httpx.AsyncBaseTransport):
    """Like `RetryTransport`, for an `httpx.AsyncClient` under asyncio."""

    _host: ClassVar[ModuleType] = httpx

    @classmethod
    def _default_trust(cls) -> dict[str, Any]:
        return _trust()
