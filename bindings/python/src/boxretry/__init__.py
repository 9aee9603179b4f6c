"""Retries, timeouts and access tokens for HTTP APIs: the Python interface of libboxretry.

The library follows two published sets of rules: Box's retry strategy and January's token lifecycle. Clause numbers
such as (B3) or (T5) refer to the project's docs/semantics.md, which states each rule.

>>> import time
>>> def send(attempts=iter([503, 200])):  # Yours: sends the request.
...     return Outcome(next(attempts), headers={"Retry-After": "0"})
>>> with RetryStrategy() as strategy, RetryLoop(strategy) as loop:
...     while (decision := loop.next(send())).retry:
...         time.sleep(decision.delay)
>>> decision.action, decision.attempt_number
(<Action.SUCCEED: 3>, 2)
"""

from typing import TYPE_CHECKING

from . import _hints, _moved
from ._c import _abi
from .attempt import Attempt, Reconnect, Redirect
from .calls._protocols import Sink
from .calls.attempt_request import AttemptRequest
from .calls.call import Call, CancelSwitch
from .calls.event import Event
from .calls.progress import Progress
from .calls.response_head import ResponseHead
from .client import Client, ClientStats
from .clock import ManualClock
from .decisions.budget import BudgetStats, RetryBudget
from .decisions.custom import CustomRetryStrategy
from .decisions.decision import Decision
from .decisions.delays import TokenRetryPolicy, backoff_delay, parse_retry_after, token_delay
from .decisions.loop import RetryLoop
from .decisions.strategy import RetryStrategy
from .enums import (
    PAUSE,
    Action,
    BodyState,
    Cause,
    DelaySource,
    Error,
    EventKind,
    HTTPVersion,
    Preset,
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
    ClientTokenProviderFailedError,
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
    InvalidClientTokenError,
    InvalidClientTokenExpirationError,
    NetworkError,
    NotUsableError,
    OutOfMemoryError,
    ProtocolError,
    ReceiveError,
    ResolveError,
    ResourceTimeoutError,
    Response,
    ResponseTooLargeError,
    SendError,
    SettingError,
    SinkError,
    SourceError,
    TLSError,
    TokenProviderError,
    TokenRequestEndedError,
    TooManyRedirectsError,
    WaitTimeoutError,
)
from .outcome import Outcome, Request
from .response_headers import ResponseHeaders
from .stream import Stream
from .timeout import Timeout
from .tokens.endpoint import BoxClientCredentials, OAuth2Token
from .tokens.token import FixedToken, Token, TokenProvider, TokenSource

#: The version of this package.
__version__ = "0.2.0"

_moved.alias(__name__)

if not TYPE_CHECKING:  # Type checkers would otherwise accept every name.

    def __getattr__(name: str) -> object:
        raise _hints.missing_from_package(name)


__all__ = [
    "PAUSE",
    "Action",
    "Attempt",
    "AttemptRequest",
    "BodyState",
    "BoxClientCredentials",
    "BoxRetryError",
    "BudgetStats",
    "Call",
    "CallbackFailedError",
    "CancelSwitch",
    "CancelledError",
    "Cause",
    "Client",
    "ClientStats",
    "ClientTokenProviderFailedError",
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
    "FixedToken",
    "ForkedError",
    "HTTPStatusError",
    "HTTPVersion",
    "IdleTimeoutError",
    "InCallbackError",
    "InvalidArgumentError",
    "InvalidClientTokenError",
    "InvalidClientTokenExpirationError",
    "ManualClock",
    "NetworkError",
    "NotUsableError",
    "OAuth2Token",
    "OutOfMemoryError",
    "Outcome",
    "Preset",
    "Progress",
    "ProtocolError",
    "Proxy",
    "Reason",
    "ReceiveError",
    "Reconnect",
    "Redirect",
    "Request",
    "RequestSent",
    "ResolveError",
    "ResourceTimeoutError",
    "Response",
    "ResponseHead",
    "ResponseHeaders",
    "ResponseTooLargeError",
    "RetryAfterState",
    "RetryBudget",
    "RetryLoop",
    "RetrySafety",
    "RetryStrategy",
    "SendError",
    "SettingError",
    "Sink",
    "SinkError",
    "SourceError",
    "Stream",
    "TLSError",
    "Timeout",
    "Token",
    "TokenProvider",
    "TokenProviderError",
    "TokenRequestEndedError",
    "TokenRetryPolicy",
    "TokenSource",
    "TooManyRedirectsError",
    "WaitTimeoutError",
    "backoff_delay",
    "libcurl_version",
    "parse_retry_after",
    "token_delay",
    "version",
]


def version() -> str:
    """The version of the library at run time.

    >>> version()
    '0.2.0'
    """
    text: bytes = _abi.boxretry_version()
    return text.decode()


def libcurl_version() -> str:
    """The version of the libcurl that the library uses in this process, such as ``"8.14.1"``."""
    text: bytes = _abi.boxretry_libcurl_version()
    return text.decode()
