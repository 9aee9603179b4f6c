"""The exceptions: one class for each error of the library."""

from __future__ import annotations

from . import _abi
from .enums import Error


class BoxRetryError(Exception):
    """The library, or this package in its place, did not do what it was asked to."""

    #: Which error this is.
    error: Error

    def __init__(self, detail: str = "") -> None:
        """`detail` says what was wrong, such as "options.max_attempts: must be from 0 to 1000000, but is -1"."""
        super().__init__(detail)
        self.detail = detail

    @property
    def name(self) -> str:
        """The error's stable name, such as "invalid_argument"."""
        name: bytes = _abi.boxretry_error_name(self.error)
        return name.decode()


class InvalidArgumentError(BoxRetryError, ValueError):
    """An argument is not valid; the detail says which and why."""

    error = Error.INVALID_ARGUMENT


class OutOfMemoryError(BoxRetryError, MemoryError):
    """Memory could not be had."""

    error = Error.OUT_OF_MEMORY


class NotUsableError(BoxRetryError):
    """A value does not say a delay that could be used."""

    error = Error.NOT_USABLE


class CallbackFailedError(BoxRetryError):
    """A custom strategy gave an answer that is none."""

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


CLASSES = {
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
    )
}


def check(status: int) -> None:
    """Raises what the last call of this thread answered, unless it is OK. An error that is new is a BoxRetryError."""
    if status:
        detail: bytes = _abi.boxretry_last_error_detail()
        error = CLASSES.get(Error(status), BoxRetryError)(detail.decode())
        error.error = Error(status)
        raise error
