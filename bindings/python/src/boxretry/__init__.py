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
from .attempt import Attempt
from .call import Call, CancelSwitch
from .client import Client, ClientStats
from .clock import ManualClock
from .custom import CustomRetryStrategy
from .decision import Decision
from .delays import TokenRetryPolicy, backoff_delay, parse_retry_after, token_delay
from .enums import (
    Action,
    Cause,
    DelaySource,
    Error,
    EventKind,
    Proxy,
    Reason,
    RequestSent,
    RetryAfterState,
    RetrySafety,
)
from .errors import (
    BoxRetryError,
    CallbackFailedError,
    CancelledError,
    ClosedError,
    ConnectError,
    DeadlineError,
    EndedError,
    ExhaustedError,
    ForkedError,
    HTTPStatusError,
    IdleTimeoutError,
    InCallbackError,
    InvalidArgumentError,
    NetworkError,
    NotUsableError,
    OutOfMemoryError,
    ProtocolError,
    ReceiveError,
    ResolveError,
    ResourceTimeoutError,
    ResponseTooLargeError,
    SendError,
    SettingError,
    TLSError,
    WaitTimeoutError,
)
from .event import Event
from .loop import RetryLoop
from .outcome import Outcome, Request
from .response import Response, ResponseHeaders
from .strategy import RetryStrategy
from .timeout import Timeout

__all__ = [
    "Action",
    "Attempt",
    "BoxRetryError",
    "Call",
    "CallbackFailedError",
    "CancelSwitch",
    "CancelledError",
    "Cause",
    "Client",
    "ClientStats",
    "ClosedError",
    "ConnectError",
    "CustomRetryStrategy",
    "DeadlineError",
    "Decision",
    "DelaySource",
    "EndedError",
    "Error",
    "Event",
    "EventKind",
    "ExhaustedError",
    "ForkedError",
    "HTTPStatusError",
    "IdleTimeoutError",
    "InCallbackError",
    "InvalidArgumentError",
    "ManualClock",
    "NetworkError",
    "NotUsableError",
    "OutOfMemoryError",
    "Outcome",
    "ProtocolError",
    "Proxy",
    "Reason",
    "ReceiveError",
    "Request",
    "RequestSent",
    "ResolveError",
    "ResourceTimeoutError",
    "Response",
    "ResponseHeaders",
    "ResponseTooLargeError",
    "RetryAfterState",
    "RetryLoop",
    "RetrySafety",
    "RetryStrategy",
    "SendError",
    "SettingError",
    "TLSError",
    "Timeout",
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
