"""The arguments that clients and their requests share."""

from __future__ import annotations

import math
from typing import Any, SupportsIndex

from .._c import _abi
from .._c.arguments import INT32, Real, integer, seconds_ms
from .._c.handle import Handle
from .._connection import switch
from ..decisions.custom import AsyncCustomRetryStrategy, CustomRetryStrategy, Strategy, custom_handle
from ..decisions.strategy import RetryStrategy
from ..enums import Switch
from ..errors import InvalidArgumentError
from ..tokens.token import AnyTokenSource

#: The default of a client's `max_redirects`, which the header states.
_MAX_REDIRECTS = 20


def token_source_handle(token_source: AnyTokenSource) -> Handle:
    """The handle of a token source, for a client."""
    if not isinstance(token_source, AnyTokenSource):
        raise TypeError(f"token_source: must be a token source, not {type(token_source).__name__}")
    return token_source._open_handle()


def is_custom(strategy: object) -> bool:
    """Whether the strategy is Python code, called by callbacks."""
    return isinstance(strategy, (CustomRetryStrategy, AsyncCustomRetryStrategy))


def strategy_handle(strategy: Strategy) -> Handle:
    """The handle of a strategy, for a client."""
    if isinstance(strategy, (CustomRetryStrategy, AsyncCustomRetryStrategy)):
        return custom_handle(strategy, for_client=True)
    if isinstance(strategy, RetryStrategy):
        return strategy._open_handle()
    raise TypeError(f"strategy: must be a strategy, not {type(strategy).__name__}")


def seconds_or_none_ms(seconds: Real, name: str) -> int:
    """A deadline or timeout in seconds, converted to milliseconds. math.inf: none."""
    if seconds == math.inf:
        return _abi.NO_TIMEOUT
    milliseconds = seconds_ms(seconds, name)
    if milliseconds <= 0:
        raise InvalidArgumentError(f"{name}: must be above 0 (got {seconds})")
    return milliseconds


def positive(value: SupportsIndex, name: str, fits: range) -> int:
    """A number for which the library takes 0 as "not given"."""
    number = integer(value, name, fits)
    if number == 0:
        raise InvalidArgumentError(f"{name}: must be 1 or more (got 0)")
    return number


def called(callback: Any, name: str) -> Any:
    """The callback. Raises TypeError if it cannot be called."""
    if not callable(callback):
        raise TypeError(f"{name}: must be callable, not {type(callback).__name__}")
    return callback


def redirects(follow: bool | None, maximum: SupportsIndex | None) -> int:
    """The maximum number of redirects; 0: the default."""
    if follow is not None and switch(follow, "follow_redirects") is Switch.OFF:
        if maximum is not None:
            raise InvalidArgumentError("max_redirects: cannot be given with follow_redirects=False")
        return _abi.NO_REDIRECTS
    if maximum is not None:
        if maximum == 0:
            raise InvalidArgumentError(
                "max_redirects: must be 1 or more (got 0); use follow_redirects=False to follow none"
            )
        return positive(maximum, "max_redirects", INT32)
    return 0 if follow is None else _MAX_REDIRECTS
