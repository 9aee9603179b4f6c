"""Strategies of your own (B9)."""

from __future__ import annotations

import ctypes
import math
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from ctypes import byref
from typing import Any, Union

from .._c import _abi
from .._c.arguments import integer, new, real
from .._c.handle import Handle, new_handle
from ..calls.watched import Watched, find_watched
from ..enums import Action
from ..errors import InvalidArgumentError
from ..outcome import Outcome, Request, outcome_from_struct, request_of_loop
from .strategy import RetryStrategy


class CustomRetryStrategy(ABC):
    """Decides about outcomes, for a `RetryLoop` or a `Client`. Subclass it.

    A strategy sees every outcome, successes too. A loop asks it on the thread that called `RetryLoop.next()`, a client
    on threads of the library; from several threads at once, if several loops or calls have it. What it raises comes
    out of `RetryLoop.next()`, or where the client's call was made, and ends that loop or call. Inside, whatever waits
    and the very loop that asks are not to be used (InCallbackError). `max_attempts` does not exist here: the deadline
    and `max_total_attempts` still hold.

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


class AsyncCustomRetryStrategy(ABC):
    """As `CustomRetryStrategy`, with coroutines, for a `boxretry.aio.AsyncClient`.

    They run on the event loop of the task that waits for the call, and are cancelled with it. A thread of the library
    waits meanwhile: it is the strategy that may take its time, not many thousands of calls in theirs at once.
    """

    @abstractmethod
    async def should_retry(self, outcome: Outcome, attempt_number: int) -> bool | Action:
        """As `CustomRetryStrategy.should_retry()`."""

    async def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        """As `CustomRetryStrategy.retry_after()`."""
        return RetryStrategy().retry_after(outcome, attempt_number)


AnyCustomStrategy = Union[CustomRetryStrategy, AsyncCustomRetryStrategy]

# Who owns what: the library gets no reference to a strategy, only its id() as the context of the callbacks, and finds
# the strategy here. It is the handle of the loop, the client or the call that keeps the strategy. So all references are
# Python's own, which the garbage collector sees: a strategy that refers to its own loop is collected with it. With
# `context_free` to end a reference of the library's it would not be, and the library would have to call Python from
# whichever thread ends the last use, at whatever moment, the end of the interpreter included.
_strategies: weakref.WeakValueDictionary[int, AnyCustomStrategy] = weakref.WeakValueDictionary()


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
        action_out[0] = _action(context, outcome, attempt_number, request_of_loop(outcome.contents))
    except BaseException as exception:
        _raised.exception = exception


def _retry_after(context: int, outcome: Any, attempt_number: int, delay_out: Any) -> None:
    try:
        delay_out[0] = _delay(context, outcome, attempt_number, request_of_loop(outcome.contents))
    except BaseException as exception:
        _raised.exception = exception


# A client asks on threads of the library, so that what is raised has to be kept with the call. If nobody has that call
# any more, there is nobody to be told either: the callback has given no answer.


def _should_retry_for_client(context: int, outcome: Any, attempt_number: int, action_out: Any) -> None:
    watched = None
    try:
        watched = find_watched(outcome.contents.request.contents.user_pointer)
        if watched is not None:
            action_out[0] = _action(context, outcome, attempt_number, watched.request, watched)
    except BaseException as exception:
        action_out[0] = _abi.ACTION_UNANSWERED
        if watched is not None:
            watched.exception = exception


def _retry_after_for_client(context: int, outcome: Any, attempt_number: int, delay_out: Any) -> None:
    watched = None
    try:
        watched = find_watched(outcome.contents.request.contents.user_pointer)
        if watched is not None:
            delay_out[0] = _delay(context, outcome, attempt_number, watched.request, watched)
    except BaseException as exception:
        delay_out[0] = _abi.DELAY_UNANSWERED
        if watched is not None:
            watched.exception = exception


def _action(
    context: int, outcome: Any, attempt_number: int, request: Request | None, watched: Watched | None = None
) -> int:
    told = outcome_from_struct(outcome.contents, request)
    action = _awaited(_strategies[context].should_retry(told, attempt_number), watched)
    if not isinstance(action, (bool, Action)):
        raise TypeError(f"should_retry() must return a bool or an Action, not {type(action).__name__}")
    return integer(action, "what should_retry() returned")


def _delay(
    context: int, outcome: Any, attempt_number: int, request: Request | None, watched: Watched | None = None
) -> float:
    told = outcome_from_struct(outcome.contents, request)
    delay = _awaited(_strategies[context].retry_after(told, attempt_number), watched)
    try:
        return real(delay, "what retry_after() returned")
    except InvalidArgumentError:  # More than a float can hold: what is too large saturates (B9).
        return math.inf if delay > 0 else -math.inf


def _awaited(answer: Any, watched: Watched | None) -> Any:
    """What a strategy has answered, be it by a coroutine."""
    return watched.run(answer) if watched is not None and isinstance(answer, Coroutine) else answer


_FOR_LOOPS = _abi.ShouldRetryCallback(_should_retry), _abi.RetryAfterCallback(_retry_after)
_FOR_CLIENTS = _abi.ShouldRetryCallback(_should_retry_for_client), _abi.RetryAfterCallback(_retry_after_for_client)

# At the end of the interpreter ctypes would free their machine code, although a daemon thread may still be in C, on its
# way to them: hence one reference more, which nobody gives back.
for _callback in (*_FOR_LOOPS, *_FOR_CLIENTS):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_callback))


def custom_handle(strategy: AnyCustomStrategy, *, for_client: bool = False) -> Handle:
    """A handle for the strategy, which keeps it."""
    should_retry, retry_after = _FOR_CLIENTS if for_client else _FOR_LOOPS
    callbacks = new(_abi.StrategyCallbacks, _abi.boxretry_strategy_callbacks_init)
    callbacks.context = id(strategy)
    callbacks.should_retry = should_retry
    if type(strategy).retry_after not in (CustomRetryStrategy.retry_after, AsyncCustomRetryStrategy.retry_after):
        callbacks.retry_after = retry_after
    _strategies[id(strategy)] = strategy
    return new_handle(
        _abi.boxretry_strategy_new_custom, byref(callbacks), free=_abi.boxretry_strategy_free, keeps=strategy
    )
