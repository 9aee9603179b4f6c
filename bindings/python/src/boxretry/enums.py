"""The enums of the C interface. A member's name, in lower case, is the name that the library has for it."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Any

from ._c import _abi


class _OpenEnum(IntEnum):
    """An enum to which a newer library may have added. What this package does not know becomes UNKNOWN_<number>."""

    @classmethod
    def _missing_(cls, value: object) -> Any:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value}"
        member._value_ = value
        return member

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self._value_,)  # Python 3.11.0 to 3.11.3 would look for the name in the class.


class Error(_OpenEnum):
    """What a function of the library answers. Each but OK has its own exception class in this package."""

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
        """The error as a sentence for people."""
        text: bytes = _abi.boxretry_error_text(self)
        return text.decode()


class Cause(_OpenEnum):
    """Why a network exception happened (B2)."""

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
    REFRESH_TOKEN_AND_RETRY = 2  #: Drop the access token, get a new one, then as RETRY.
    SUCCEED = 3  #: The call has succeeded with this response.


class DelaySource(_OpenEnum):
    """Where a delay comes from."""

    NONE = 0
    BACKOFF = 1
    RETRY_AFTER = 2  #: A number of seconds in Retry-After.
    RETRY_AFTER_DATE = 3  #: A date in Retry-After.
    CUSTOM = 4  #: The custom strategy.


class Reason(_OpenEnum):
    """Why a decision is what it is; `text` says it as a sentence.

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
        """The reason as a sentence for people."""
        text: bytes = _abi.boxretry_reason_text(self)
        return text.decode()


class RequestSent(_OpenEnum):
    """How much of the request left this machine."""

    UNKNOWN = 0
    NOTHING = 1  #: Not a byte: the server cannot have acted on it.
    SOME = 2


class BodyState(_OpenEnum):
    """How much of a response's body an outcome has."""

    NONE = 0  #: No response, or its body is not known.
    COMPLETE = 1
    PARTIAL = 2  #: It broke off, or is longer than what is kept.
    PENDING = 3  #: Nothing yet: a sink is waiting for the decision (B15).


class RetryAfterState(_OpenEnum):
    """What a response says about when to come back."""

    ABSENT = 0
    USABLE = 1
    NOT_USABLE = 2  #: It has a Retry-After that says nothing, so that the backoff is used instead.


class RetrySafety(_OpenEnum):
    """Whether a request may be sent again although the server may have acted on it (B12)."""

    BY_METHOD = 0  #: POST and PATCH may not, all others may.
    SAFE = 1
    UNSAFE = 2


class OverCap(IntEnum):
    """What is done with a Retry-After above the cap. Said as a text, "clamp" or "stop", in the public interface."""

    CLAMP = 0
    STOP = 1


class Timeline(IntEnum):
    """The three clocks in one. Methods of their own in the public interface."""

    MONOTONIC = 0
    BOOTTIME = 1
    WALL = 2


class Proxy(IntEnum):
    """What proxy a client uses, if it is not given a URL of one."""

    ENVIRONMENT = 0  #: As http_proxy, https_proxy, all_proxy and no_proxy say.
    NONE = 1
    GIVEN = 2  #: Said by giving the URL.


class EventKind(_OpenEnum):
    """What happens to a call."""

    ATTEMPT_BEGAN = 0
    ATTEMPT_ENDED = 1  #: And it is decided what to do.
    RECONNECT = 2  #: The connection was dead: it is sent again at once on a new one (B13).
    RETRY_SCHEDULED = 3  #: The wait before the next attempt begins.
    CALL_ENDED = 4
    REDIRECTED = 5  #: The request goes on to another URL, within its attempt.
    TOKEN_WAIT_BEGAN = 6  #: There is no access token at hand: the call waits for one.
    TOKEN_WAIT_ENDED = 7
    GATE_CLOSED = 8  #: The call's answer holds all attempts to its origin, for `delay` seconds (C3).
    GATE_OPENED = 9  #: The call's answer has shown that they need not be held any longer.


class Preset(_OpenEnum):
    """Which of the two sources a client follows."""

    BOX = 0  #: Box's retry strategy, with its defaults.
    JANUARY = 1  #: No retry strategy.


class HTTPVersion(_OpenEnum):
    """What versions of HTTP are spoken."""

    HTTP_DEFAULT = 0  #: Of a request: as its client does; of a client: HTTP_2.
    HTTP_1_1 = 1  #: Only HTTP/1.1.
    HTTP_2 = 2  #: HTTP/2 over TLS where the server offers it, else HTTP/1.1.
    HTTP_2_PRIOR_KNOWLEDGE = 3  #: HTTP/2 at once, also without TLS.


class Switch(IntEnum):
    """A flag for which there is also the client's own setting. None, True and False in the public interface."""

    DEFAULT = 0
    ON = 1
    OFF = -1


class SourceKind(IntEnum):
    """Where the body of a request comes from. Said by the type of `data` in the public interface."""

    FILE = 1
    DESCRIPTOR = 2
    CALLBACK = 3
    MULTIPART = 4


class SinkKind(IntEnum):
    """Where the body of a response goes."""

    FILE = 1
    CALLBACK = 2


class WriteAnswer(IntEnum):
    """What a sink's callback answers."""

    FAILED = 0
    TAKEN = 1
    PAUSE = 2


class Pause(Enum):
    """What a source or a sink answers if it can go on only later: see `Call.resume()`."""

    PAUSE = "pause"


PAUSE = Pause.PAUSE
