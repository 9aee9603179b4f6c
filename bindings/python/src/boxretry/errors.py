"""The exceptions: one class for each error of the library."""

from __future__ import annotations

import sys
from concurrent.futures import CancelledError as _FutureCancelledError
from typing import TYPE_CHECKING, Union

from ._c import _abi
from .enums import Error

if TYPE_CHECKING:
    from .attempt import Attempt, Reconnect, Redirect
    from .calls.response import Response


class _DetailedError(Exception):
    """The details of this package's exceptions, beside their text."""

    #: Which error this is.
    error: Error

    def __init__(self, detail: str = "") -> None:
        """`detail` says what was wrong, such as "options.max_attempts: must be from 0 to 1000000 (got -1)"."""
        super().__init__(detail)
        self.detail = detail
        #: The attempts of the call that ended so; empty if no call did.
        self.attempts: list[Attempt] = []
        #: The redirects that it followed.
        self.redirects: list[Redirect] = []
        #: Its requests that were sent again on a new connection.
        self.reconnects: list[Reconnect] = []
        #: The last response of the call that ended so, if it has one to show.
        self.response: Response | None = None

    @property
    def name(self) -> str:
        """The error's stable name, such as "invalid_argument"."""
        name: bytes = _abi.boxretry_error_name(self.error)
        return name.decode()


class BoxRetryError(_DetailedError):
    """The library, or this package in its place, did not do what it was asked to."""


class InvalidArgumentError(BoxRetryError, ValueError):
    """An argument is not valid; the detail says which and why."""

    error = Error.INVALID_ARGUMENT


class OutOfMemoryError(BoxRetryError, MemoryError):
    """Out of memory."""

    error = Error.OUT_OF_MEMORY


class NotUsableError(BoxRetryError):
    """A value does not say a delay that could be used."""

    error = Error.NOT_USABLE


class CallbackFailedError(BoxRetryError):
    """A custom strategy gave an answer that is none, or `before_attempt` raised what is the cause of this."""

    error = Error.CALLBACK_FAILED


class InCallbackError(BoxRetryError):
    """This is not allowed inside a custom strategy; or a loop is used while it is deciding."""

    error = Error.IN_CALLBACK


class ForkedError(BoxRetryError):
    """The object was made before os.fork(), in the parent process."""

    error = Error.FORKED


class ClosedError(BoxRetryError):
    """The object was closed, before this call or during it."""

    error = Error.CLOSED


class EndedError(BoxRetryError):
    """The retry loop has already given its last decision."""

    error = Error.ENDED


class WaitTimeoutError(BoxRetryError, TimeoutError):
    """The time that was given for waiting has passed."""

    error = Error.WAIT_TIMEOUT


class ExhaustedError(BoxRetryError):
    """There are no descriptors or no threads left."""

    error = Error.EXHAUSTED


class CancelledError(_DetailedError, _FutureCancelledError):
    """The call was cancelled, or its token provider cancelled (K2, T4).

    Cancellation is control flow, not an error to retry: this is a concurrent.futures.CancelledError, and not a
    BoxRetryError. A token provider may raise it, too.
    """

    error = Error.CANCELLED


class DeadlineError(BoxRetryError, TimeoutError):
    """The call's deadline has passed during an attempt (B11)."""

    error = Error.DEADLINE


class NetworkError(BoxRetryError):
    """The last attempt ended in a network exception, and there are no retries left (B10)."""


class ResolveError(NetworkError):
    """The host name could not be resolved."""

    error = Error.RESOLVE


class ConnectError(NetworkError, ConnectionError):
    """No connection could be made."""

    error = Error.CONNECT


class TLSError(NetworkError):
    """The TLS handshake or the certificate check failed. The detail says why, such as "certificate has expired"."""

    error = Error.TLS


class SendError(NetworkError):
    """The request could not be sent."""

    error = Error.SEND


class ReceiveError(NetworkError):
    """The response broke off, or none came."""

    error = Error.RECEIVE


class ProtocolError(NetworkError):
    """The peer did not speak HTTP properly."""

    error = Error.PROTOCOL


class IdleTimeoutError(NetworkError, TimeoutError):
    """Nothing moved for `timeout_interval_for_request_ms` (M1)."""

    error = Error.TIMEOUT_IDLE


class ResourceTimeoutError(NetworkError, TimeoutError):
    """The attempt took longer than `timeout_interval_for_resource_ms` (M2)."""

    error = Error.TIMEOUT_RESOURCE


class ResponseTooLargeError(BoxRetryError):
    """The response is larger than a limit: `body_limit`, or those of the headers."""

    error = Error.RESPONSE_TOO_LARGE


class SettingError(BoxRetryError):
    """A setting cannot be used on this machine, such as a CA file."""

    error = Error.SETTING


class SourceError(BoxRetryError):
    """The body of the request could not be read. What a source of yours has raised is the cause of this."""

    error = Error.SOURCE


class SinkError(BoxRetryError):
    """The body of the response could not be put where it was to go. What a sink of yours has raised is the cause."""

    error = Error.SINK


class TooManyRedirectsError(BoxRetryError):
    """There were more redirects than are followed. That is no network exception, and not retried."""

    error = Error.TOO_MANY_REDIRECTS


class InvalidClientTokenError(BoxRetryError):
    """The token provider gave what cannot be a token (T6)."""

    error = Error.INVALID_CLIENT_TOKEN


class InvalidClientTokenExpirationError(BoxRetryError):
    """The token provider gave a token whose life is no number, or too short (T6)."""

    error = Error.INVALID_CLIENT_TOKEN_EXPIRATION


class ClientTokenProviderFailedError(BoxRetryError):
    """The token provider failed for good, or often enough (T6). What it raised is the cause."""

    error = Error.CLIENT_TOKEN_PROVIDER_FAILED


class TokenRequestEndedError(BoxRetryError):
    """A token request was answered before, has timed out, or its source was closed (T4)."""

    error = Error.TOKEN_REQUEST_ENDED


class TokenProviderError(Exception):
    """To be raised by token providers: there is no token.

    retryable: whether to try again, as the policy says (T5). The message must have no secret in it; it is shown to
    those who wait, unless the failure is retryable.
    """

    def __init__(self, message: str = "", *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class HTTPStatusError(BoxRetryError):
    """Raised by `Response.raise_for_status()`: the call has a response, and its status is no success."""

    error = Error.OK
    response: Response  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def status(self) -> int:
        """Of the response."""
        return self.response.status

    @property
    def code(self) -> str | None:
        """The error's code in the JSON body, such as "item_name_in_use". None: it has none, here and below."""
        return self.response.error_detail("code")

    @property
    def message(self) -> str | None:
        """The server's message for people, from the JSON body."""
        return self.response.error_detail("message")

    @property
    def request_id(self) -> str | None:
        """The id of the request at the server: from the body, X-Request-Id or Box-Request-Id."""
        return self.response.error_detail("request_id")

    @property
    def help_url(self) -> str | None:
        """The URL of an explanation, from the JSON body."""
        return self.response.error_detail("help_url")

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server asked to wait, by Retry-After (B7)."""
        return self.attempts[-1].retry_after if self.attempts else None


#: What a call, or a function of the library, may raise.
AnyError = Union[BoxRetryError, CancelledError]

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
    """Raises what the last call of this thread answered, unless it is OK. An error that is new is a BoxRetryError."""
    if status:
        detail: bytes = _abi.boxretry_last_error_detail()
        raise exception_of(status, detail.decode())


def is_cancellation(exception: BaseException | None) -> bool:
    """Whether the caller's own code raised it to report cancellation."""
    asyncio = sys.modules.get("asyncio")  # Without it, nobody can have raised its exception.
    return isinstance(exception, _FutureCancelledError) or (
        asyncio is not None and isinstance(exception, asyncio.CancelledError)
    )


def exception_of(status: int, detail: str) -> AnyError:
    """The exception for an error that is not OK."""
    error = Error(status)
    exception: AnyError = CLASSES.get(error, BoxRetryError)(detail)
    exception.error = error
    return exception


def refuse_in_callback() -> None:
    """Raises InCallbackError where one of the library's threads would wait for itself."""
    check(_abi.boxretry_clock_sleep(None, 0.0))
