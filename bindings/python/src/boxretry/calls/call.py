"""A call in progress, and the switch that cancels calls."""

from __future__ import annotations

import _thread
import contextlib
import math
import threading
import time
from typing import Callable

from .._c import _abi
from .._c.arguments import Real, Text, real
from .._c.handle import Handle, HandleOwner, new_handle
from ..enums import Error
from ..errors import ClosedError, InvalidArgumentError, Response, check
from ._interrupts import on_main_thread, waited
from ._token_calls import Provider
from .response import raise_from_callbacks, response_of_call
from .watched import Watched

#: The longest single wait of the main thread. Only the main thread runs signal handlers, but not while it waits in the
#: library, so Ctrl-C may take effect this much later.
SLICE_MS = 100


class CancelSwitch(HandleOwner):
    """Cancels any number of calls at once, of any clients. Any number of threads may use a switch at once."""

    def __init__(self) -> None:
        """Raises OutOfMemoryError."""
        self._handle = new_handle(_abi.boxretry_cancel_new, free=_abi.boxretry_cancel_free)

    def trigger(self) -> None:
        """Cancels every call that has this switch, now and later. You can call it again, and anywhere."""
        _abi.boxretry_cancel_trigger(self._open_handle().pointer)


class Call:
    """A call in progress, made by `Client.submit()`. Any number of threads may use a call at once.

    A call is canceled when nothing refers to it any more.
    """

    def __init__(self, handle: Handle, watched: Watched | None, method: Text, provider: Provider | None) -> None:
        self._handle = handle
        self._method = method
        self._watched = watched
        self._provider = provider
        self._taking = threading.Lock()
        self._result: Handle | None = None
        self._response: Response | None = None
        #: A caller has asked for the result.
        self._is_told = False
        #: Known to have ended.
        self._has_ended = False

    def wait(self, timeout: Real | None = None) -> None:
        """Waits until the call has ended, with any result.

        timeout: seconds, 0 or more; 0 only checks. None: no limit. Ctrl-C ends the wait, but not the call.

        Raises WaitTimeoutError; InvalidArgumentError, InCallbackError, ForkedError.
        """
        pointer = self._handle.pointer
        wait_in_slices(lambda slice_ms: _abi.boxretry_call_wait(pointer, slice_ms), timeout)

    def _wait_for_news(self) -> None:
        """Waits until the call has ended, or a callback has woken this thread; also returns from time to time."""
        if self._take_result() is not None:  # It has ended already: a wait would take much longer.
            self._has_ended = True
            return
        status = waited(_abi.boxretry_call_wait, self._handle.pointer, slice_ms())
        self._has_ended = not status
        if status and status != Error.WAIT_TIMEOUT:
            check(status)

    def cancel(self) -> None:
        """Cancels the call (CancelledError), unless it has ended already (K1). You can call it again, and anywhere."""
        with contextlib.suppress(ClosedError):  # In a `__del__`: then it is canceled already.
            _abi.boxretry_call_cancel(self._handle.pointer)

    def resume(self) -> None:
        """Resumes a body whose source or sink has returned `PAUSE`.

        Does nothing if the call is not paused; but a source or sink that is about to pause is then called again
        immediately. Anywhere.
        """
        _abi.boxretry_call_resume(self._handle.pointer)

    def response(self, timeout: Real | None = None) -> Response:
        """Waits like `wait()`, and returns the response. You can call it again.

        Raises the error that a call without a response ended with, see `Client.request()`; an exception of a custom
        strategy, `on_event` or `on_progress`, for the first caller; and what `wait()` raises.
        """
        self.wait(timeout)
        return self._response_of_ended()

    def _response_of_ended(self) -> Response:
        """Like `response()`, for a call that has ended."""
        result = self._take_result()
        assert result is not None
        raise_from_callbacks(self._watched, result, self._method)
        with self._taking:
            is_first, self._is_told = not self._is_told, True
            if self._response is None:
                # A new exception is made each time: a kept one would refer to the frames that it passed through, and so
                # to this call.
                self._response = response_of_call(result, self._method, self._provider, is_first=is_first)
            return self._response

    def _take_result(self) -> Handle | None:
        """The boxretry_response; None: the call has not ended."""
        with self._taking:
            if self._result is None:
                pointer = _abi.boxretry_call_take_response(self._handle.pointer)
                if pointer is not None:
                    self._result = Handle(pointer, _abi.boxretry_response_free)
            return self._result


def end_and_free(lent: object, call: int) -> None:
    """Ends the use of a call. A body that the library has borrowed has to be kept until the call has ended.

    This function does not wait: the garbage collector calls it, in the middle of any other code.
    """
    _abi.boxretry_call_cancel(call)
    if _abi.boxretry_call_wait(call, 0) in (Error.WAIT_TIMEOUT, Error.IN_CALLBACK):
        # Not threading.Thread: this thread may hold the locks that it needs.
        _thread.start_new_thread(_wait_and_free, (lent, call))
    else:
        _abi.boxretry_call_free(call)


def _wait_and_free(lent: object, call: int) -> None:
    _abi.boxretry_call_wait(call, _abi.NO_TIMEOUT)
    _abi.boxretry_call_free(call)


def slice_ms() -> int:
    """The longest single wait of this thread."""
    return SLICE_MS if on_main_thread() else _abi.NO_TIMEOUT


def wait_in_slices(wait: Callable[[int], int], timeout: Real | None) -> None:
    """Waits with a function of the library that takes milliseconds, in slices, so that signal handlers can run.

    Raises the exception for the function's result, WaitTimeoutError included.
    """
    longest = slice_ms()
    limit = None if timeout is None else real(timeout, "timeout")
    if limit is None or limit > threading.TIMEOUT_MAX:
        while (status := waited(wait, longest)) == Error.WAIT_TIMEOUT:
            pass
        return check(status)
    if not limit >= 0:
        raise InvalidArgumentError(f"timeout: must be 0 or more (got {limit:g})")
    due = time.monotonic() + limit
    while True:
        left_ms = max(math.ceil((due - time.monotonic()) * 1000), 0)
        status = waited(wait, min(longest, left_ms))
        if status != Error.WAIT_TIMEOUT or left_ms <= longest:
            return check(status)
