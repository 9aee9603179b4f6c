"""A request under way, and the switch that ends any number of them."""

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
from ..errors import ClosedError, InvalidArgumentError, check
from ._token_calls import Provider
from .response import Response, raise_from_callbacks, response_of_call
from .watched import Watched

#: How long the main thread waits at a stretch. Only it runs signal handlers, and not while it waits in the library: so
#: this is how late Ctrl-C may come.
SLICE_MS = 100


class CancelSwitch(HandleOwner):
    """Ends any number of calls at once, of any clients. Any number of threads may use a switch at once."""

    def __init__(self) -> None:
        """Raises OutOfMemoryError."""
        self._handle = new_handle(_abi.boxretry_cancel_new, free=_abi.boxretry_cancel_free)

    def trigger(self) -> None:
        """Cancels every call that has this switch, now and later. May be called again, and anywhere."""
        _abi.boxretry_cancel_trigger(self._open_handle().pointer)


class Call:
    """A request under way, made by `Client.submit()`. Any number of threads may use a call at once.

    A call that nobody refers to any more is cancelled.
    """

    def __init__(self, handle: Handle, watched: Watched | None, method: Text, provider: Provider | None) -> None:
        self._handle = handle
        self._method = method
        self._watched = watched
        self._provider = provider
        self._taking = threading.Lock()
        self._result: Handle | None = None
        self._response: Response | None = None

    def wait(self, timeout: Real | None = None) -> None:
        """Waits until the call has ended, however it did.

        timeout: seconds, 0 or more; 0 only looks. None: for ever. Ctrl-C ends the wait, but not the call.

        Raises WaitTimeoutError; InvalidArgumentError, InCallbackError, ForkedError.
        """
        pointer = self._handle.pointer
        wait_in_slices(lambda slice_ms: _abi.boxretry_call_wait(pointer, slice_ms), timeout)

    def cancel(self) -> None:
        """Ends the call with CancelledError, unless it has ended already (K1). May be called again, and anywhere."""
        with contextlib.suppress(ClosedError):  # In a `__del__`: then it is cancelled already.
            _abi.boxretry_call_cancel(self._handle.pointer)

    def resume(self) -> None:
        """Goes on with a body whose source or sink has answered `PAUSE`.

        Does nothing to a call that is not paused; but one that is about to pause is then asked again at once. Anywhere.
        """
        _abi.boxretry_call_resume(self._handle.pointer)

    def response(self, timeout: Real | None = None) -> Response:
        """Waits as `wait()` does, and answers with the response. May be asked for again.

        Raises what a call without a response ended with, see `Client.request()`; what a custom strategy, `on_event` or
        `on_progress` raised, to whoever asks first; and what `wait()` raises.
        """
        self.wait(timeout)
        with self._taking:
            is_first = self._result is None
            if self._result is None:
                pointer = _abi.boxretry_call_take_response(self._handle.pointer)
                self._result = Handle(pointer, _abi.boxretry_response_free)
        raise_from_callbacks(self._watched, self._result, self._method)
        with self._taking:
            if self._response is None:
                # An exception is made anew each time: one that was kept would refer to the frames it went through, and
                # so to this call.
                self._response = response_of_call(self._result, self._method, self._provider, is_first=is_first)
            return self._response


def end_and_free(lent: object, call: int) -> None:
    """Ends the use of a call. A body that is lent to the library has to be kept until the call has ended.

    Waits for nothing here, since this is what the garbage collector calls, in the middle of whatever.
    """
    _abi.boxretry_call_cancel(call)
    if _abi.boxretry_call_wait(call, 0) in (Error.WAIT_TIMEOUT, Error.IN_CALLBACK):
        # No threading.Thread: its locks may be those that this thread holds.
        _thread.start_new_thread(_wait_and_free, (lent, call))
    else:
        _abi.boxretry_call_free(call)


def _wait_and_free(lent: object, call: int) -> None:
    _abi.boxretry_call_wait(call, _abi.NO_TIMEOUT)
    _abi.boxretry_call_free(call)


def wait_in_slices(wait: Callable[[int], int], timeout: Real | None) -> None:
    """Waits by a function of the library that takes milliseconds, so that signal handlers get their turn.

    Raises what the function answers, WaitTimeoutError too.
    """
    slice_ms = SLICE_MS if threading.current_thread() is threading.main_thread() else _abi.NO_TIMEOUT
    limit = None if timeout is None else real(timeout, "timeout")
    if limit is None or limit > threading.TIMEOUT_MAX:
        while (status := wait(slice_ms)) == Error.WAIT_TIMEOUT:
            pass
        return check(status)
    if not limit >= 0:
        raise InvalidArgumentError(f"timeout: must be 0 or more, but is {limit:g}")
    due = time.monotonic() + limit
    while True:
        left_ms = max(math.ceil((due - time.monotonic()) * 1000), 0)
        status = wait(min(slice_ms, left_ms))
        if status != Error.WAIT_TIMEOUT or left_ms <= slice_ms:
            return check(status)
