"""A plugin of pytest: each new client of HTTPX has a transport of this package where it would have its own."""

from __future__ import annotations

from typing import Any

import httpx._client
from boxretry import RetryStrategy
from boxretry.integrations.httpx import AsyncRetryTransport, RetryTransport


def _settings(verify: Any, proxy: Any) -> dict[str, Any]:
    # Retries are the point of the transports: the suite counts the requests of servers that answer one.
    settings: dict[str, Any] = {"strategy": RetryStrategy(max_attempts=1, max_retries_on_exception=0)}
    if verify is False:
        settings["tls_verify"] = False
    if proxy is not None:
        settings["proxy"] = str(proxy.url)
    return settings


def _transport(verify: Any = True, proxy: Any = None, **unused: Any) -> RetryTransport:
    return RetryTransport(**_settings(verify, proxy))


def _async_transport(verify: Any = True, proxy: Any = None, **unused: Any) -> AsyncRetryTransport:
    return AsyncRetryTransport(**_settings(verify, proxy))


httpx._client.HTTPTransport = _transport  # type: ignore[attr-defined,assignment]
httpx._client.AsyncHTTPTransport = _async_transport  # type: ignore[attr-defined,assignment]
