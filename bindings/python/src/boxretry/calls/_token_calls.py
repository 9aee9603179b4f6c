"""The calls between token sources and Python: the library calls providers, and reports results to callers that wait.

As with strategies (see `custom`), the library gets no reference to a Python object, only a number. The object is looked
up here by that number, unless it has been forgotten.
"""

from __future__ import annotations

import atexit
import ctypes
import itertools
import os
import threading
import weakref
from ctypes import c_void_p
from typing import TYPE_CHECKING, Any, Callable

from .._c import _abi
from .._c.arguments import real
from .._c.handle import Handle, HandleOwner
from ..enums import Error
from ..errors import TokenProviderError, check, exception_of, is_cancellation

if TYPE_CHECKING:
    import asyncio

_numbers = itertools.count(1)

# --- Providers ---


class Provider:
    """A provider, as its source keeps it."""

    def __init__(self, function: Callable[[], Any]) -> None:
        if not callable(function):
            raise TypeError(f"provider: must be callable, not {type(function).__name__}")
        self._function = function
        #: The last exception of the function; None after a success.
        self.exception: BaseException | None = None
        self.number = next(_numbers)
        _providers[self.number] = self

    def bind(self, loop: asyncio.AbstractEventLoop) -> None:
        """A call that this event loop waits for may need it. A function that blocks ignores this."""

    def answer(self, request: int) -> None:
        """Calls the function, and answers the request with its result."""
        try:
            provided = provided_token(self._function())
        except BaseException as exception:
            self.fail(request, exception)
        else:
            self.succeed(request, provided)

    def succeed(self, request: int, provided: tuple[bytes, float]) -> None:
        self.exception = None
        token, expires_in = provided
        # An answer that the library refuses is too late.
        _abi.boxretry_token_request_succeed(request, token, len(token), expires_in)

    def fail(self, request: int, exception: BaseException) -> None:
        self.exception = exception
        if is_cancellation(exception):
            _abi.boxretry_token_request_cancel(request)
            return
        if isinstance(exception, TokenProviderError):
            message, is_retryable = str(exception), exception.retryable
        else:  # Its message may contain secrets.
            message, is_retryable = type(exception).__name__, False
        text = message.replace("\0", " ").encode("utf-8", "replace")
        _abi.boxretry_token_request_fail(request, text, bool(is_retryable))


def provided_token(answer: Any) -> tuple[bytes, float]:
    """A token and its lifetime, in the library's form. The library decides whether they are valid (T6)."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise TypeError("a token provider must return a token and its lifetime in seconds")
    token, expires_in = answer
    if isinstance(token, str):
        token = token.encode("utf-8", "surrogatepass")
    if not isinstance(token, bytes):
        raise TypeError("a token provider must return the token as str or bytes")
    return token, real(expires_in, "the lifetime that a token provider returned")


_providers: weakref.WeakValueDictionary[int, Provider] = weakref.WeakValueDictionary()

#: Protects the number of providers that are running.
_changed = threading.Condition()
_calls = 0


def _provide(context: int, request: int) -> None:
    global _calls
    # A callback that returns has failed, so an exception in here cannot be taken for success.
    provider = _providers.get(context)
    if provider is None:
        return
    with _changed:
        _calls += 1
    try:
        provider.answer(request)
    finally:
        with _changed:
            _calls -= 1
            _changed.notify_all()


provider_callback = _abi.TokenProviderCallback(_provide)

# --- Waits ---


class TokenWait:
    """A caller that waits for a token."""

    def __init__(self, source: Handle, switch: Handle | None, tell: Callable[[], object] = bool) -> None:
        """Begins to wait. `tell` is called at the end, on any thread. Raises an exception if the library refuses."""
        self._tell = tell
        self.done = threading.Event()
        self._status = 0
        self._detail = ""
        self._token: Handle | None = None
        self._switch = switch
        self._number = next(_numbers)
        _waits[self._number] = self
        try:
            check(
                _abi.boxretry_token_source_get_async(
                    source.pointer, None if switch is None else switch.pointer, _token_callback, self._number
                )
            )
        except BaseException:
            self.forget()
            raise

    def forget(self) -> None:
        """The caller does not wait any more."""
        _waits.pop(self._number, None)

    @property
    def was_failed_by_provider(self) -> bool:
        """The provider's exception is the reason why there is no token."""
        return self._status == Error.CLIENT_TOKEN_PROVIDER_FAILED or (
            self._status == Error.CANCELLED and self._detail.startswith("the token provider")
        )

    def result(self) -> Handle:
        """The token. Raises the error if there is none."""
        if self._token is None:
            raise exception_of(self._status, self._detail)
        return self._token

    def finish(self, status: int, token: int | None) -> None:
        """Ends the wait, on the thread that learns of its end."""
        if token is not None:
            self._token = Handle(token, _abi.boxretry_token_free)
        else:
            detail: bytes = _abi.boxretry_last_error_detail()
            self._status, self._detail = status, detail.decode("utf-8", "replace")
        self.done.set()
        self._tell()


_waits: dict[int, TokenWait] = {}


def _on_token(context: int, status: int, token: int | None) -> None:
    wait = _waits.pop(context, None)
    if wait is not None:
        wait.finish(status, token)
    elif token is not None:
        _abi.boxretry_token_free(c_void_p(token))
    with _changed:
        _changed.notify_all()


_token_callback = _abi.TokenCallback(_on_token)

# Never freed: threads may be inside them.
for _callback in (provider_callback, _token_callback):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_callback))

# --- The end ---

#: Seconds that providers get to end when the interpreter exits.
_TIME_AT_EXIT = 10

open_sources: weakref.WeakSet[HandleOwner] = weakref.WeakSet()


def _close_all() -> None:
    """Ends all sources while Python callbacks can still run."""
    for source in list(open_sources):
        source.close()
    with _changed:
        _changed.wait_for(lambda: _calls == 0 and not _waits, _TIME_AT_EXIT)


def _forget_parent() -> None:
    """In a child of os.fork(): the threads that would end the work in progress do not exist there."""
    global _changed, _calls
    _changed = threading.Condition()
    _calls = 0
    _waits.clear()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forget_parent)
