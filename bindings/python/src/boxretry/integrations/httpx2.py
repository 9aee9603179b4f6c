"""Transports for httpx2, which newer API clients use instead of HTTPX: its clients, on this engine.

If an API client on top of httpx2 has its own retries, retries multiply. Turn its retries off first, for example with
`OpenAI(max_retries=0)`; the project's docs/api-clients.md has the line for other clients.

    client = httpx2.Client(transport=RetryTransport())
    client = httpx2.AsyncClient(transport=AsyncRetryTransport())

httpx2 itself handles redirects, cookies, auth and hooks; each request that they lead to is retried separately.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any, ClassVar

import httpx2

from ._httpx import AsyncSending, SyncSending


def _trust() -> dict[str, Any]:
    if file := os.environ.get("SSL_CERT_FILE"):
        return {"ca_file": file}
    if folder := os.environ.get("SSL_CERT_DIR"):
        return {"ca_path": folder}
    return {}


class RetryTransport(SyncSending, httpx2.BaseTransport):  # type: ignore[misc]
    """Like `boxretry.integrations.httpx.RetryTransport`, but raises the exceptions of httpx2.

    By default the trusted certificates are the system's, or those of SSL_CERT_FILE or SSL_CERT_DIR.
    """

    _host: ClassVar[ModuleType] = httpx2

    @classmethod
    def _default_trust(cls) -> dict[str, Any]:
        return _trust()


class AsyncRetryTransport(AsyncSending, httpx2.AsyncBaseTransport):  # type: ignore[misc]
    """Like `RetryTransport`, for an `httpx2.AsyncClient` under asyncio."""

    _host: ClassVar[ModuleType] = httpx2

    @classmethod
    def _default_trust(cls) -> dict[str, Any]:
        return _trust()
