# mypy: disable-error-code="import-not-found"
"""A plugin of pytest: the tests of the transports for HTTPX are about those for httpx2 (F145)."""

from __future__ import annotations

import sys

import boxretry.integrations.httpx2
import httpx2

sys.modules["httpx"] = httpx2
sys.modules["boxretry.integrations.httpx"] = boxretry.integrations.httpx2
