"""Strategies of your own (B9)."""

from __future__ import annotations

import ctypes
import threading
import weakref
from abc import ABC, abstractmethod
from ctypes import byref
from typing import Any

from . import _abi
from ._arguments import integer, new, real
from ._handle import Handle, new_handle
from .enums import Action
from .outcome import Outcome, outcome_from_struct
from .strategy import RetryStrategy


class CustomRetryStrategy(ABC):
    """Decides about outcomes, for a `RetryLoop`. Subclass it.

    A strategy sees every outcome, successes too. It is asked on the thread that called `RetryLoop.next()`, and from
    several threads at once if several loops have it. What it raises comes out of `RetryLoop.next()`, which then has
    ended. Inside, `ManualClock.sleep()`, `ManualClock.wait_for_timer()` and the very loop that asks are not to be
    used (InCallbackError). `max_attempts` does not exist here: the loop's deadline and its `max_total_attempts` still
    hold.

    >>> class OnlyTeapots(CustomRetryStrategy):
    ...     def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
    ...         return outcome.status == 418 and attempt_number < 3
    >>> from boxretry import RetryLoop
    >>> with RetryLoop(OnlyTeapots()) as loop:
    ...     loop.next(Outcome(418)).retry, loop.next(Outcome(503)).retry
    (True, False)
    """

    @abstractmethod
    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool | Action:
        """Whether the outcome is retried: True, False, or Action.STOP, RETRY or REFRESH_TOKEN_AND_RETRY.

        `attempt_number` counts the network exceptions if the outcome is one, else the attempts, from 1 (B4).
        """

    def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        """The seconds to wait; asked only when there is a retry. NaN and negative ones count as 0, 2^31 - 1 is the
        most.

        Without a method of your own it is Retry-After, else the backoff, as in Box's strategy with its defaults.
        """
        return RetryStrategy().retry_after(outcome, attempt_number)


# Who owns what: the library gets no reference to a strategy, only its id() as the context of the callbacks, and finds
# the strategy here. It is the loop's handle that keeps the strategy. So all references are Python's own, which the
# garbage collector sees: a strategy that refers to its own loop is collected with it. With `context_free` to end a
# reference of the library's it would not be, and the library would have to call Python from whichever thread ends the
# last use, at whatever moment, the end of the interpreter included.
_strategies: weakref.WeakValueDictionary[int, CustomRetryStrategy] = weakref.WeakValueDictionary()


class _Raised(threading.local):
    """What a callback has raised on this thread, on its way through the library, through which it cannot go itself."""

    exception: BaseException | None = None


_raised = _Raised()


def retry_loop_next(loop: int, outcome: Any, decision: Any) -> int:
    """The library's boxretry_retry_loop_next(), for a loop with a custom strategy: raises what the strategy raises."""
    _raised.exception = None  # If a Ctrl-C once came between the two lines below.
    status: int = _abi.boxretry_retry_loop_next(loop, outcome, decision)
    exception, _raised.exception = _raised.exception, None
    if exception is not None:
        try:
            raise exception
        finally:
            del exception  # Its traceback refers to this frame.
    return status


# Everything is in the `try`, since what leaves a callback is lost: ctypes prints it. Should a Ctrl-C come in the
# instant before the `try` begins, the callback has given no answer, and CallbackFailedError is raised in its place.


def _should_retry(context: int, outcome: Any, attempt_number: int, action_out: Any) -> None:
    try:
        action = _strategies[context].should_retry(outcome_from_struct(outcome.contents), attempt_number)
        if not isinstance(action, (bool, Action)):
            raise TypeError(f"should_retry() must return a bool or an Action, not {type(action).__name__}")
        action_out[0] = integer(action, "what should_retry() returned")
    except BaseException as exception:
        _raised.exception = exception


def _retry_after(context: int, outcome: Any, attempt_number: int, delay_out: Any) -> None:
    try:
        delay = _strategies[context].retry_after(outcome_from_struct(outcome.contents), attempt_number)
        delay_out[0] = real(delay, "what retry_after() returned")
    except BaseException as exception:
        _raised.exception = exception


_should_retry_callback = _abi.ShouldRetryCallback(_should_retry)
_retry_after_callback = _abi.RetryAfterCallback(_retry_after)

# At the end of the interpreter ctypes would free their machine code, although a daemon thread may still be in C, on its
# way to them: hence one reference more, which nobody gives back.
for _callback in (_should_retry_callback, _retry_after_callback):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_callback))


def custom_handle(strategy: CustomRetryStrategy) -> Handle:
    """A handle for the strategy, which keeps it."""
    callbacks = new(_abi.StrategyCallbacks, _abi.boxretry_strategy_callbacks_init)
    callbacks.context = id(strategy)
    callbacks.should_retry = _should_retry_callback
    if type(strategy).retry_after is not CustomRetryStrategy.retry_after:
        callbacks.retry_after = _retry_after_callback
    _strategies[id(strategy)] = strategy
    return new_handle(
        _abi.boxretry_strategy_new_custom, byref(callbacks), free=_abi.boxretry_strategy_free, keeps=strategy
    )
