"""A plugin of pytest: each new session of requests has a RetryAdapter where it would have an HTTPAdapter."""

from __future__ import annotations

from typing import Any

import requests.sessions
from boxretry import RetryStrategy
from boxretry.integrations.requests import RetryAdapter


def _adapter(**unused: Any) -> RetryAdapter:
    # Retries are the point of the adapter: the suite counts the requests of servers that answer one.
    return RetryAdapter(RetryStrategy(max_attempts=1, max_retries_on_exception=0))


requests.sessions.HTTPAdapter = _adapter  # type: ignore[assignment]
