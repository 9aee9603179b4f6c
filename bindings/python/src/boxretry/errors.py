"""The exceptions: one class for each error of the library; and the response, which they have."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from concurrent.futures import CancelledError as _FutureCancelledError
from typing import Any, Union

from ._c import _abi
from .attempt import Attempt, Reconnect, Redirect
from .enums import Error
from .response_headers import ResponseHeaders


class _DetailedError(Exception):
    """Common base of this package's exceptions: their details."""

    #: Which error this is.
    error: Error

    def __init__(self, detail: str = "") -> None:
        """`detail` says what was wrong, for example "options.max_attempts: must be from 0 to 1000000 (got -1)"."""
        super().__init__(detail)
        self.detail = detail
        #: The attempts of the call that ended with this error; empty if it is not the error of a call.
        self.attempts: list[Attempt] = []
        #: The redirects that the call followed.
        self.redirects: list[Redirect] = []
        #: The requests that the call sent again on a new connection.
        self.reconnects: list[Reconnect] = []
        #: The last response of the call, if there is one to show.
        self.response: Response | None = None

    @property
    def name(self) -> str:
        """The error's stable name, such as "invalid_argument"."""
        name: bytes = _abi.boxretry_error_name(self.error)
        return name.decode()


class BoxRetryError(_DetailedError):
    """The library, or this package on its behalf, could not do what it was asked to."""


class InvalidArgumentError(BoxRetryError, ValueError):
    """Invalid argument; the detail says which one and why."""

    error = Error.INVALID_ARGUMENT


class OutOfMemoryError(BoxRetryError, MemoryError):
    """Out of memory."""

    error = Error.OUT_OF_MEMORY


class NotUsableError(BoxRetryError):
    """Not a valid delay."""

    error = Error.NOT_USABLE


class CallbackFailedError(BoxRetryError):
    """A callback returned no answer or an invalid answer; if `before_attempt` raised an exception, it is the cause."""

    error = Error.CALLBACK_FAILED


class InCallbackError(BoxRetryError):
    """Not allowed inside a callback of the library, or in a retry loop while it is deciding."""

    error = Error.IN_CALLBACK


class ForkedError(BoxRetryError):
    """The handle was made before fork(), in the parent process."""

    error = Error.FORKED


class ClosedError(BoxRetryError):
    """The object was closed or freed, before this call or during it."""

    error = Error.CLOSED


class EndedError(BoxRetryError):
    """The retry loop has already made its last decision."""

    error = Error.ENDED


class WaitTimeoutError(BoxRetryError, TimeoutError):
    """The wait timed out."""

    error = Error.WAIT_TIMEOUT


class ExhaustedError(BoxRetryError):
    """No file descriptors or threads are left."""

    error = Error.EXHAUSTED


class CancelledError(_DetailedError, _FutureCancelledError):
    """The call was canceled, or its token provider reported cancellation (K2, T4).

    Cancellation is control flow, not an error to retry: this class is a concurrent.futures.CancelledError, and not
    a BoxRetryError. A token provider may raise it too.
    """

    error = Error.CANCELLED


class DeadlineError(BoxRetryError, TimeoutError):
    """The call's deadline passed (B11)."""

    error = Error.DEADLINE


class NetworkError(BoxRetryError):
    """The last attempt ended with a network exception, and no retries are left (B10)."""


class ResolveError(NetworkError):
    """The host name could not be resolved."""

    error = Error.RESOLVE


class ConnectError(NetworkError, ConnectionError):
    """Could not connect."""

    error = Error.CONNECT


class TLSError(NetworkError):
    """The TLS handshake or the certificate check failed. The detail says why, such as "certificate has expired"."""

    error = Error.TLS


class SendError(NetworkError):
    """The request could not be sent."""

    error = Error.SEND


class ReceiveError(NetworkError):
    """The response broke off, or there was none."""

    error = Error.RECEIVE


class ProtocolError(NetworkError):
    """The server's response is not valid HTTP."""

    error = Error.PROTOCOL


class IdleTimeoutError(NetworkError, TimeoutError):
    """No data was transferred within the request timeout, `timeout_interval_for_request_ms` (M1)."""

    error = Error.TIMEOUT_IDLE


class ResourceTimeoutError(NetworkError, TimeoutError):
    """The attempt took longer than the resource timeout, `timeout_interval_for_resource_ms` (M2)."""

    error = Error.TIMEOUT_RESOURCE


class ResponseTooLargeError(BoxRetryError):
    """The response exceeds a size limit: `body_limit`, or one of the headers' limits."""

    error = Error.RESPONSE_TOO_LARGE


class SettingError(BoxRetryError):
    """A setting, such as a CA file, does not work on this machine."""

    error = Error.SETTING


class SourceError(BoxRetryError):
    """The request body could not be read. If your source raised an exception, it is the cause."""

    error = Error.SOURCE


class SinkError(BoxRetryError):
    """The response body could not be written. If your sink raised an exception, it is the cause."""

    error = Error.SINK


class TooManyRedirectsError(BoxRetryError):
    """Too many redirects. This is not a network exception, and is not retried."""

    error = Error.TOO_MANY_REDIRECTS


class InvalidClientTokenError(BoxRetryError):
    """The token provider returned an invalid token (T6)."""

    error = Error.INVALID_CLIENT_TOKEN


class InvalidClientTokenExpirationError(BoxRetryError):
    """The token provider returned a token with an invalid or too short lifetime (T6)."""

    error = Error.INVALID_CLIENT_TOKEN_EXPIRATION


class ClientTokenProviderFailedError(BoxRetryError):
    """The token provider failed, permanently or as often as the policy allows (T6). What it raised is the cause."""

    error = Error.CLIENT_TOKEN_PROVIDER_FAILED


class TokenRequestEndedError(BoxRetryError):
    """The token request was answered already, timed out, or its source was closed (T4)."""

    error = Error.TOKEN_REQUEST_ENDED


class TokenProviderError(Exception):
    """For token providers to raise: they cannot return a token.

    retryable: whether to try again as the policy says (T5). Put no secrets into the message: callers that wait for
        the token see it, unless the failure is retryable.
    """

    def __init__(self, message: str = "", *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class HTTPStatusError(BoxRetryError):
    """Raised by `Response.raise_for_status()`: the call has a response, and its status is not a success."""

    error = Error.OK
    response: Response  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def status(self) -> int:
        """The status of the response."""
        return self.response.status

    @property
    def code(self) -> str | None:
        """The error's code in the JSON body, such as "item_name_in_use". Here and below, None: there is none."""
        return self.response.error_detail("code")

    @property
    def message(self) -> str | None:
        """The server's message for people, from the JSON body."""
        return self.response.error_detail("message")

    @property
    def request_id(self) -> str | None:
        """The server's id of the request: from the body, X-Request-Id or Box-Request-Id."""
        return self.response.error_detail("request_id")

    @property
    def help_url(self) -> str | None:
        """The URL of an explanation, from the JSON body."""
        return self.response.error_detail("help_url")

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server's Retry-After asks to wait (B7)."""
        return self.attempts[-1].retry_after if self.attempts else None


#: What a call or a function of the library may raise.
AnyError = Union[BoxRetryError, CancelledError]


class Response(ABC):
    """The response of a call, with any status. Its parts are fetched from the library when they are first used.

    In a child of os.fork(), parts that were not used before raise ForkedError. Copies and pickles have all parts.
    """

    # It is next to the exceptions because they have it, and it has one.

    #: 100 to 999.
    status: int

    @property
    @abstractmethod
    def ok(self) -> bool:
        """The status is that of a success or a redirect (B10).

        False for a redirect that was not followed because the body of the request cannot be sent again (R3).
        """

    @property
    @abstractmethod
    def content(self) -> bytes:
        """The body."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The body as text, in the charset of its Content-Type, otherwise in UTF-8. Invalid bytes become U+FFFD."""

    @abstractmethod
    def json(self) -> Any:
        """The body, parsed as JSON. Raises ValueError if it is not valid JSON."""

    @property
    @abstractmethod
    def content_is_cut_off(self) -> bool:
        """The body is truncated: it exceeds `error_body_limit` (B15)."""

    @property
    @abstractmethod
    def headers(self) -> ResponseHeaders:
        """The header lines of the final response."""

    @property
    @abstractmethod
    def http_version(self) -> int:
        """The HTTP version of the response: 10, 11, 20."""

    @property
    @abstractmethod
    def reason_phrase(self) -> str:
        """The reason phrase of the status line, such as "Not Found"; "" if there is none, as in HTTP/2."""

    @property
    @abstractmethod
    def url(self) -> str:
        """The URL of the response: the last one, if there were redirects."""

    @property
    @abstractmethod
    def sink_length(self) -> int:
        """Bytes of the body that the file or the sink has taken; 0 without one."""

    @property
    @abstractmethod
    def redirects(self) -> list[Redirect]:
        """The redirects that were followed, of all attempts, in order."""

    @property
    @abstractmethod
    def reconnects(self) -> list[Reconnect]:
        """The requests that were sent again on a new connection, of all attempts, in order (B13)."""

    @property
    @abstractmethod
    def attempts(self) -> list[Attempt]:
        """Every attempt of the call, in order; the last one led to this response."""

    @property
    @abstractmethod
    def token_error(self) -> AnyError | None:
        """Why there was no access token for a replay, so that the original 401 is the response (R4); otherwise None.

        If a token provider in Python raised an exception, it is the cause.
        """

    @abstractmethod
    def error_detail(self, name: str) -> str | None:
        """A detail of an error response (status 400 or above), from its JSON body or its headers; None: it has none.

        name: "code", "message", "request_id", "help_url" or "retry_after" (the header as the server sent it).
        """

    @abstractmethod
    def raise_for_status(self) -> Response:
        """Returns this response if it is `ok`; otherwise raises HTTPStatusError, which has it and its error details."""


CLASSES: dict[Error, type[AnyError]] = {
    each.error: each
    for each in (
        InvalidArgumentError,
        OutOfMemoryError,
        NotUsableError,
        CallbackFailedError,
        InCallbackError,
        ForkedError,
        ClosedError,
        EndedError,
        WaitTimeoutError,
        ExhaustedError,
        CancelledError,
        DeadlineError,
        ResolveError,
        ConnectError,
        TLSError,
        SendError,
        ReceiveError,
        ProtocolError,
        IdleTimeoutError,
        ResourceTimeoutError,
        ResponseTooLargeError,
        SettingError,
        SourceError,
        SinkError,
        TooManyRedirectsError,
        InvalidClientTokenError,
        InvalidClientTokenExpirationError,
        ClientTokenProviderFailedError,
        TokenRequestEndedError,
    )
}


def check(status: int) -> None:
    """Raises the exception for the status of the thread's last call, unless it is OK; BoxRetryError if unknown."""
    if status:
        detail: bytes = _abi.boxretry_last_error_detail()
        raise exception_of(status, detail.decode())


def is_cancellation(exception: BaseException | None) -> bool:
    """Whether the caller's own code raised this to report cancellation."""
    asyncio = sys.modules.get("asyncio")  # If it is not imported, its exception cannot have been raised.
    return isinstance(exception, _FutureCancelledError) or (
        asyncio is not None and isinstance(exception, asyncio.CancelledError)
    )


def exception_of(status: int, detail: str) -> AnyError:
    """The exception for an error other than OK."""
    error = Error(status)
    exception: AnyError = CLASSES.get(error, BoxRetryError)(detail)
    exception.error = error
    return exception


def refuse_in_callback() -> None:
    """Raises InCallbackError if one of the library's threads would wait for itself."""
    check(_abi.boxretry_clock_sleep(None, 0.0))
