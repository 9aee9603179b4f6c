"""The enums of the C interface. A member's name in lower case is the library's name for it."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Any

from ._c import _abi


class _OpenEnum(IntEnum):
    """An enum that a newer library may have extended. A value that this package does not know is UNKNOWN_<number>."""

    @classmethod
    def _missing_(cls, value: object) -> Any:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value}"
        member._value_ = value
        return member

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self._value_,)  # Python 3.11.0 to 3.11.3 would look up the name in the class.


class Error(_OpenEnum):
    """The result of a library function. Each error but OK has its own exception class in this package."""

    OK = 0
    INVALID_ARGUMENT = 1
    OUT_OF_MEMORY = 2
    NOT_USABLE = 3
    CALLBACK_FAILED = 4
    IN_CALLBACK = 5
    FORKED = 6
    CLOSED = 7
    ENDED = 8
    WAIT_TIMEOUT = 9
    EXHAUSTED = 10
    CANCELLED = 11
    DEADLINE = 12
    RESOLVE = 13
    CONNECT = 14
    TLS = 15
    SEND = 16
    RECEIVE = 17
    PROTOCOL = 18
    TIMEOUT_IDLE = 19
    TIMEOUT_RESOURCE = 20
    RESPONSE_TOO_LARGE = 21
    SETTING = 22
    SOURCE = 23
    SINK = 24
    TOO_MANY_REDIRECTS = 25
    INVALID_CLIENT_TOKEN = 26
    INVALID_CLIENT_TOKEN_EXPIRATION = 27
    CLIENT_TOKEN_PROVIDER_FAILED = 28
    TOKEN_REQUEST_ENDED = 29

    @property
    def text(self) -> str:
        """The meaning of the error, as text for people."""
        text: bytes = _abi.boxretry_error_text(self)
        return text.decode()


class Cause(_OpenEnum):
    """The causes of network exceptions (B2)."""

    NONE = 0  #: No network exception, or one of unknown cause.
    RESOLVE = 1
    CONNECT = 2
    TLS = 3
    SEND = 4
    RECEIVE = 5
    PROTOCOL = 6
    TIMEOUT_IDLE = 7
    TIMEOUT_RESOURCE = 8


class Action(_OpenEnum):
    """What to do next."""

    STOP = 0  #: The call has failed with this outcome.
    RETRY = 1  #: Wait for the delay, then send the request again.
    REFRESH_TOKEN_AND_RETRY = 2  #: Drop the access token, get a new one, then continue as for RETRY.
    SUCCEED = 3  #: The call has succeeded with this response.


class DelaySource(_OpenEnum):
    """Where a delay comes from."""

    NONE = 0
    BACKOFF = 1
    RETRY_AFTER = 2  #: A number of seconds in Retry-After.
    RETRY_AFTER_DATE = 3  #: A date in Retry-After.
    CUSTOM = 4  #: The custom strategy.


class Reason(_OpenEnum):
    """Why a decision was made; `text` states it for people.

    SUCCESS is 0, and therefore false in a condition: to learn whether there is a reason, compare with None.

    >>> Reason.RATE_LIMITED.text
    'too many requests (status 429)'
    """

    SUCCESS = 0
    NETWORK_EXCEPTION = 1
    ACCEPTED = 2
    SERVER_ERROR = 3
    RATE_LIMITED = 4
    UNAUTHORIZED = 5
    NOT_RETRYABLE = 6
    ATTEMPTS_EXHAUSTED = 7
    EXCEPTIONS_EXHAUSTED = 8
    RETRIES_EXHAUSTED = 9
    RETRY_AFTER_OVER_CAP = 10
    UNSAFE_REQUEST = 11
    NOT_REPLAYABLE = 12
    DEADLINE = 13
    ATTEMPT_CEILING = 14
    CUSTOM = 15
    SINK_CANNOT_RESTART = 16
    TOKEN_EXPIRED = 17
    RETRY_BUDGET_SPENT = 18
    PROXY_UNAUTHORIZED = 19
    PARTIAL_CONTENT = 20
    RETRY_REQUESTED = 21
    RETRY_REFUSED = 22

    @property
    def text(self) -> str:
        """The meaning of the reason, as text for people."""
        text: bytes = _abi.boxretry_reason_text(self)
        return text.decode()


class RequestSent(_OpenEnum):
    """How much of the request left this machine."""

    UNKNOWN = 0
    NOTHING = 1  #: Not a byte: the server cannot have processed it.
    SOME = 2


class BodyState(_OpenEnum):
    """How much of a response's body an outcome has."""

    NONE = 0  #: No response, or its body is not known.
    COMPLETE = 1
    PARTIAL = 2  #: The body broke off, or exceeds the limit.
    PENDING = 3  #: Nothing yet: a sink is waiting for the decision (B15).


class RetryAfterState(_OpenEnum):
    """What a response says about when to send the request again."""

    ABSENT = 0
    USABLE = 1
    NOT_USABLE = 2  #: Its Retry-After is not a valid delay, so the backoff is used instead.


class RetrySafety(_OpenEnum):
    """Whether a request may be sent again although the server may have processed it (B12)."""

    BY_METHOD = 0  #: Not POST and PATCH; all other methods may.
    SAFE = 1
    UNSAFE = 2


class OverCap(IntEnum):
    """What to do with a Retry-After above the cap. The public interface takes a text, "clamp" or "stop"."""

    CLAMP = 0
    STOP = 1


class Timeline(IntEnum):
    """The three timelines of a clock. The public interface has a method for each."""

    MONOTONIC = 0
    BOOTTIME = 1
    WALL = 2


class Proxy(IntEnum):
    """Which proxy a client uses, if it does not get a proxy's URL."""

    ENVIRONMENT = 0  #: From http_proxy, https_proxy, all_proxy and no_proxy when the client is made.
    NONE = 1
    GIVEN = 2  #: Set by giving the URL.


class EventKind(_OpenEnum):
    """What happens to a call."""

    ATTEMPT_BEGAN = 0
    ATTEMPT_ENDED = 1  #: An attempt ended, and what to do next is decided.
    RECONNECT = 2  #: The connection was dead: the request is sent again immediately on a new one (B13).
    RETRY_SCHEDULED = 3  #: The wait before the next attempt begins.
    CALL_ENDED = 4
    REDIRECTED = 5  #: The attempt follows a redirect to another URL.
    TOKEN_WAIT_BEGAN = 6  #: No access token is available yet: the call waits for one.
    TOKEN_WAIT_ENDED = 7
    GATE_CLOSED = 8  #: The call's response holds all attempts to its origin, for `delay` seconds (C3).
    GATE_OPENED = 9  #: The call's response showed that attempts need not be held any longer.


class Preset(_OpenEnum):
    """Which of the two sources a client follows."""

    BOX = 0  #: Box's retry strategy, with its defaults.
    JANUARY = 1  #: No retry strategy.


class HTTPVersion(_OpenEnum):
    """Which versions of HTTP are used."""

    HTTP_DEFAULT = 0  #: Of a request: the client's; of a client: HTTP_2.
    HTTP_1_1 = 1  #: HTTP/1.1.
    HTTP_2 = 2  #: HTTP/2 over TLS if the server offers it, else HTTP/1.1.
    HTTP_2_PRIOR_KNOWLEDGE = 3  #: HTTP/2 without asking the server, even without TLS.


class Switch(IntEnum):
    """A flag whose default is the client's setting. The public interface takes None, True and False."""

    DEFAULT = 0
    ON = 1
    OFF = -1


class Threads(IntEnum):
    """Whether the library starts threads for a client. Clients of this package have the default."""

    OWN = 0
    NONE = 1


class SourceKind(IntEnum):
    """Where the body of a request comes from. In the public interface, the type of `data` sets it."""

    FILE = 1
    DESCRIPTOR = 2
    CALLBACK = 3
    MULTIPART = 4


class SinkKind(IntEnum):
    """Where the body of a response goes."""

    FILE = 1
    CALLBACK = 2


class WriteAnswer(IntEnum):
    """What a sink's callback returns."""

    FAILED = 0
    TAKEN = 1
    PAUSE = 2


class Pause(Enum):
    """What a source or a sink returns if it has to wait before it can continue: see `Call.resume()`."""

    PAUSE = "pause"


PAUSE = Pause.PAUSE
