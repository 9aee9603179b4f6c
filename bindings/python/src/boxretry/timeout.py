"""How long one attempt may take (M1, M2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, SupportsIndex

from . import _abi
from ._arguments import INT64, integer, new


@dataclass(frozen=True)
class Timeout:
    """The two timeouts of an attempt, in milliseconds; either may be given alone. None: no such timeout.

    >>> Timeout(timeout_interval_for_request_ms=5000)
    Timeout(timeout_interval_for_request_ms=5000, timeout_interval_for_resource_ms=21600000)
    """

    #: The longest gap with nothing moving.
    timeout_interval_for_request_ms: SupportsIndex | None = 60_000
    #: The whole attempt. 6 hours.
    timeout_interval_for_resource_ms: SupportsIndex | None = 21_600_000


def timeouts_struct(timeout: Timeout) -> Any:
    """The timeout as the library sees it."""
    if not isinstance(timeout, Timeout):
        raise TypeError(f"timeout: must be a Timeout, not {type(timeout).__name__}")
    struct = new(_abi.Timeouts, _abi.boxretry_timeouts_init)
    for name in ("timeout_interval_for_request_ms", "timeout_interval_for_resource_ms"):
        milliseconds = getattr(timeout, name)
        setattr(struct, name, _abi.NO_TIMEOUT if milliseconds is None else integer(milliseconds, name, INT64))
    return struct
