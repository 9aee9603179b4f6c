"""How long one attempt may take (M1, M2)."""

from __future__ import annotations

from ctypes import pointer
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, SupportsIndex

from ._c import _abi
from ._c.arguments import INT64, integer, new
from .errors import InvalidArgumentError


@dataclass(frozen=True)
class Timeout:
    """The two timeouts of an attempt, in milliseconds. You can give one of them alone. None: no such timeout.

    >>> Timeout(timeout_interval_for_request_ms=5000)
    Timeout(timeout_interval_for_request_ms=5000, timeout_interval_for_resource_ms=21600000)
    """

    #: The longest time without any data. 60 seconds.
    timeout_interval_for_request_ms: SupportsIndex | None = 60_000
    #: The whole attempt. 6 hours.
    timeout_interval_for_resource_ms: SupportsIndex | None = 21_600_000

    def __post_init__(self) -> None:
        """Raises TypeError, InvalidArgumentError."""
        for field in fields(self):
            milliseconds = getattr(self, field.name)
            if milliseconds is None:
                continue
            if not hasattr(milliseconds, "__index__"):
                kind = type(milliseconds).__name__
                raise TypeError(f"{field.name}: must be a whole number of milliseconds, not {kind}")
            if integer(milliseconds, field.name, INT64) < 1:
                raise InvalidArgumentError(
                    f"{field.name}: must be 1 millisecond or more, or None for no timeout (got {milliseconds})"
                )


def timeouts_pointer(timeout: Timeout) -> Any:
    """The timeout in the library's form: a pointer to a boxretry_timeouts."""
    if not isinstance(timeout, Timeout):
        raise TypeError(
            f"timeout: must be a Timeout, not {type(timeout).__name__}; for 5 seconds without data, use Timeout(5000); "
            "for a limit of all attempts together, in seconds, use deadline"
        )
    return _pointer_to(
        _milliseconds(timeout.timeout_interval_for_request_ms, "timeout_interval_for_request_ms"),
        _milliseconds(timeout.timeout_interval_for_resource_ms, "timeout_interval_for_resource_ms"),
    )


@lru_cache(maxsize=64)
def _pointer_to(request_ms: int, resource_ms: int) -> Any:
    """A pointer to a boxretry_timeouts, which nothing changes. Most programs have few different timeouts."""
    struct = new(_abi.Timeouts, _abi.boxretry_timeouts_init)
    struct.timeout_interval_for_request_ms = request_ms
    struct.timeout_interval_for_resource_ms = resource_ms
    return pointer(struct)


def _milliseconds(value: SupportsIndex | None, name: str) -> int:
    return _abi.NO_TIMEOUT if value is None else integer(value, name, INT64)
