"""Your own strategies (B9)."""

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
from ..calls._interrupts import waited
from ..calls.watched import Watched, find_watched
from ..enums import Action
from ..errors import InvalidArgumentError
from ..outcome import Outcome, Request, outcome_from_struct, request_of_loop
from .strategy import RetryStrategy


class CustomRetryStrategy(ABC):
    """Decides about outcomes, for a `RetryLoop` or a `Client`. Subclass it.

    A strategy sees every outcome, including successes. A loop calls it on the thread that called `RetryLoop.next()`;
    a client calls it on threads of the library; several loops or calls may call it at once on several threads. An
    exception that it raises is raised again by `RetryLoop.next()`, or where the client's call was made, and ends that
    loop or call. Inside it, functions that wait, and the loop that is deciding, raise InCallbackError. `max_attempts`
    does not exist here; the deadline and `max_total_attempts` still apply.

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
        """Whether to retry after this outcome: True, False, or Action.STOP, RETRY or REFRESH_TOKEN_AND_RETRY.

        `attempt_number` counts the network exceptions if the outcome is one, otherwise the attempts, from 1 (B4).
        """

    def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        """The seconds to wait; called only if there is a retry. NaN and negative numbers count as 0; the maximum is
        2^31 - 1.

        The default is Retry-After, otherwise the backoff, as in Box's strategy with its defaults.
        """
        return RetryStrategy().retry_after(outcome, attempt_number)


class AsyncCustomRetryStrategy(ABC):
    """Like `CustomRetryStrategy`, with coroutines, for a `boxretry.aio.AsyncClient`.

    They run on the event loop of the task that waits for the call, and are canceled with it. A thread of the library
    waits meanwhile, so use this for strategies that take their time, not for many thousands of calls at once.
    """

    @abstractmethod
    async def should_retry(self, outcome: Outcome, attempt_number: int) -> bool | Action:
        """Like `CustomRetryStrategy.should_retry()`."""

    async def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        """Like `CustomRetryStrategy.retry_after()`."""
        return RetryStrategy().retry_after(outcome, attempt_number)


AnyCustomStrategy = Union[CustomRetryStrategy, AsyncCustomRetryStrategy]
#: `AsyncCustomRetryStrategy` is for `AsyncClient`.
Strategy = Union[RetryStrategy, CustomRetryStrategy, AsyncCustomRetryStrategy]

# Ownership: the library gets no reference to a strategy, only its id() as the context of the callbacks, by which the
# strategy is found here. The handle of the loop, the client or the call keeps the strategy. So all references are
# Python's, and the garbage collector sees them: a strategy that refers to its own loop is collected with it. If the
# library had a reference, which it would end by `context_free`, the strategy would not be collected, and the library
# would call Python on any thread that ends the last use, at any time, also at the end of the interpreter.
_strategies: weakref.WeakValueDictionary[int, AnyCustomStrategy] = weakref.WeakValueDictionary()


class _Raised(threading.local):
    """What a callback raised on this thread; an exception cannot pass through the library itself."""

    exception: BaseException | None = None


_raised = _Raised()


def retry_loop_next(loop: int, outcome: Any, decision: Any) -> int:
    """The library's boxretry_retry_loop_next(), for a loop with a custom strategy: raises what the strategy raises."""
    _raised.exception = None  # In case a Ctrl-C came between the two lines below.
    status = waited(_abi.boxretry_retry_loop_next, loop, outcome, decision)
    exception, _raised.exception = _raised.exception, None
    if exception is not None:
        try:
            raise exception
        finally:
            del exception  # Its traceback refers to this frame.
    return status


# Everything is in the `try`, because an exception that leaves a callback is lost: ctypes prints it. Only a signal
# handler may raise one just before the `try`, or after it; `waited()` raises that one again.


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


# A client calls on threads of the library, so an exception has to be kept with the call. If nothing refers to that call
# any more, the exception cannot be reported either: the callback has given no answer.


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
    except InvalidArgumentError:  # More than a float can hold: a value that is too large saturates (B9).
        return math.inf if delay > 0 else -math.inf


def _awaited(answer: Any, watched: Watched | None) -> Any:
    """A strategy's answer, also if a coroutine returns it."""
    return watched.run(answer) if watched is not None and isinstance(answer, Coroutine) else answer


_FOR_LOOPS = _abi.ShouldRetryCallback(_should_retry), _abi.RetryAfterCallback(_retry_after)
_FOR_CLIENTS = _abi.ShouldRetryCallback(_should_retry_for_client), _abi.RetryAfterCallback(_retry_after_for_client)

# At the end of the interpreter ctypes would free their machine code, although a daemon thread may still be in C and
# about to call them. One more reference, which is never given back, prevents that.
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
