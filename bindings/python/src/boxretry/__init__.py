"""The right retries, timeouts and access tokens for HTTP APIs: Python over libboxretry.

The rules are two published ones, to the letter: Box's retry strategy, and January's token lifecycle. Clause numbers
such as (B3) or (T5) point into the project's docs/semantics.md, where each rule is written out.

>>> import time
>>> def send(attempts=iter([503, 200])):  # Yours: sends the request.
...     return Outcome(next(attempts), headers={"Retry-After": "0"})
>>> with RetryStrategy() as strategy, RetryLoop(strategy) as loop:
...     while (decision := loop.next(send())).retry:
...         time.sleep(decision.delay)
>>> decision.action, decision.attempt_number
(<Action.SUCCEED: 3>, 2)
"""

from . import _abi
from .clock import ManualClock
from .custom import CustomRetryStrategy
from .decision import Decision
from .delays import TokenRetryPolicy, backoff_delay, parse_retry_after, token_delay
from .enums import Action, Cause, DelaySource, Error, Reason, RequestSent, RetryAfterState, RetrySafety
from .errors import (
    BoxRetryError,
    CallbackFailedError,
    ClosedError,
    EndedError,
    ForkedError,
    InCallbackError,
    InvalidArgumentError,
    NotUsableError,
    OutOfMemoryError,
    WaitTimeoutError,
)
from .loop import RetryLoop
from .outcome import Outcome, Request
from .strategy import RetryStrategy

__all__ = [
    "Action",
    "BoxRetryError",
    "CallbackFailedError",
    "Cause",
    "ClosedError",
    "CustomRetryStrategy",
    "Decision",
    "DelaySource",
    "EndedError",
    "Error",
    "ForkedError",
    "InCallbackError",
    "InvalidArgumentError",
    "ManualClock",
    "NotUsableError",
    "OutOfMemoryError",
    "Outcome",
    "Reason",
    "Request",
    "RequestSent",
    "RetryAfterState",
    "RetryLoop",
    "RetrySafety",
    "RetryStrategy",
    "TokenRetryPolicy",
    "WaitTimeoutError",
    "backoff_delay",
    "parse_retry_after",
    "token_delay",
    "version",
]


def version() -> str:
    """The version of the library that the program runs with.

    >>> version()
    '0.1.0'
    """
    text: bytes = _abi.boxretry_version()
    return text.decode()
