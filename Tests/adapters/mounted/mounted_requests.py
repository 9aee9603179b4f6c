"""A plugin of pytest: each new session of requests has a RetryAdapter where it would have an HTTPAdapter."""

from __future__ import annotations

from typing import Any

import requests.sessions
from boxretry import RetryStrategy
from boxretry.integrations.requests import RetryAdapter


def _adapter(**unused: Any) -> RetryAdapter:
    # The retries are the point of the adapter; their delays would only make the suite slow.
    return RetryAdapter(RetryStrategy(retry_base_interval=0.001))


requests.sessions.HTTPAdapter = _adapter  # type: ignore[assignment,misc]
