"""Transports for httpx2, which newer API clients use in place of HTTPX: its clients, on this engine.

Retries multiply if an API client on top of httpx2 retries by itself. Turn its own retries off first, such as with
`OpenAI(max_retries=0)`; the project's docs/api-clients.md has the line for other clients.

    client = httpx2.Client(transport=RetryTransport())
    client = httpx2.AsyncClient(transport=AsyncRetryTransport())

Redirects, cookies, auth and hooks are those of httpx2; each request that they lead to has retries of its own.
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
    """As `boxretry.integrations.httpx.RetryTransport`, but raises the exceptions of httpx2.

    The certificates that are trusted are the system's, or those of SSL_CERT_FILE or SSL_CERT_DIR.
    """

    _host: ClassVar[ModuleType] = httpx2

    @classmethod
    def _default_trust(cls) -> dict[str, Any]:
        return _trust()


class AsyncRetryTransport(AsyncSending, httpx2.AsyncBaseTransport):  # type: ignore[misc]
    """As `RetryTransport`, for an `httpx2.AsyncClient` under asyncio."""

    _host: ClassVar[ModuleType] = httpx2

    @classmethod
    def _default_trust(cls) -> dict[str, Any]:
        return _trust()
