"""The retry loop: for programs with their own transport."""

from __future__ import annotations

import threading
from ctypes import byref
from typing import SupportsIndex

from .._c import _abi
from .._c.arguments import UINT64, Real, integer, new, seconds_ms
from .._c.handle import HandleOwner, new_handle
from ..clock import ManualClock, clock_handle
from ..errors import InCallbackError, check
from ..outcome import Outcome, OutcomeStruct
from .budget import RetryBudget, budget_handle
from .custom import CustomRetryStrategy, custom_handle, retry_loop_next
from .decision import Decision, decision_from_struct
from .strategy import RetryStrategy


class RetryLoop(HandleOwner):
    """The retries of one call. Feed it the outcome of each attempt, and it decides what to do next.

    It counts attempts and network exceptions (B4), and applies their common limit (B5), the deadline (B11) and the
    maximum number of attempts (B14). One thread at a time.

    >>> strategy = RetryStrategy(retry_randomization_factor=0)
    >>> with RetryLoop(strategy) as loop:
    ...     for status in (503, 503, 200):  # Here you would send the request, and sleep for each delay.
    ...         decision = loop.next(Outcome(status))
    ...         print(decision.attempt_number, decision.action.name, decision.delay)
    1 RETRY 2.0
    2 RETRY 4.0
    3 SUCCEED 0.0
    """

    def __init__(
        self,
        strategy: RetryStrategy | CustomRetryStrategy,
        *,
        auth_available: bool = False,
        deadline: Real | None = None,
        clock: ManualClock | None = None,
        seed: SupportsIndex = 0,
        max_total_attempts: SupportsIndex | None = None,
        budget: RetryBudget | None = None,
    ) -> None:
        """Begins a call. You can close the strategy, the clock and the budget before the loop.

        auth_available: a new access token could be obtained, for every outcome (or set it in the outcome).
        deadline: time limit for all attempts and waits, in seconds from now, to the millisecond; above 0. A wait that
            would reach it is not begun. None: none.
        clock: None: the system's.
        seed: seed of the jitter, 0 to 2^64 - 1; the same seed gives the same delays. 0: random.
        max_total_attempts: maximum number of attempts, 1 to 1000000 (B14). None: 1000 for a custom strategy, no limit
            for `RetryStrategy`, which has `max_attempts`.
        budget: each retry takes from it, and a success gives back (C1). None: no budget.

        Raises InvalidArgumentError, ForkedError, ClosedError.
        """
        options = new(_abi.LoopOptions, _abi.boxretry_loop_options_init)
        options.auth_available = 1 if auth_available else 0
        if deadline is not None:
            options.deadline_ms = seconds_ms(deadline, "deadline")
        kept_clock = None
        if clock is not None:
            kept_clock = clock_handle(clock)
            options.clock = kept_clock.pointer
        options.seed = integer(seed, "seed", UINT64)
        if max_total_attempts is not None:
            options.max_total_attempts = integer(max_total_attempts, "max_total_attempts")
        # The library retains the budget; until then it must not be freed.
        kept_budget = None if budget is None else budget_handle(budget)
        if kept_budget is not None:
            options.budget = kept_budget.pointer

        if isinstance(strategy, CustomRetryStrategy):
            strategy_handle = custom_handle(strategy)
            self._next = retry_loop_next
        elif isinstance(strategy, RetryStrategy):
            strategy_handle = strategy._open_handle()
            self._next = _abi.boxretry_retry_loop_next
        else:
            raise TypeError(f"strategy: must be a strategy, not {type(strategy).__name__}")
        self._handle = new_handle(
            _abi.boxretry_retry_loop_new,
            strategy_handle.pointer,
            byref(options),
            free=_abi.boxretry_retry_loop_free,
            keeps=(strategy_handle, kept_clock),
        )
        # Reused for each outcome.
        self._deciding = threading.Lock()
        self._outcome = OutcomeStruct()
        self._decision = new(_abi.Decision, _abi.boxretry_decision_init)
        self._references = (byref(self._outcome.struct), byref(self._decision))

    def next(self, outcome: Outcome) -> Decision:
        """Takes the outcome of the next attempt, and decides what to do. After STOP or SUCCEED the loop has ended.

        Raises what a custom strategy raises, or TypeError or CallbackFailedError if its answer is invalid (each ends
        the loop too); EndedError; InvalidArgumentError (the attempt was not counted); InCallbackError if the loop is
        deciding already, for another thread or because this is its own custom strategy; ForkedError; ClosedError.
        """
        handle = self._open_handle()
        if not self._deciding.acquire(blocking=False):
            raise InCallbackError("loop: is already deciding, for another thread or an outer call")
        try:
            self._outcome.fill(outcome)
            check(self._next(handle.pointer, *self._references))
            return decision_from_struct(self._decision)
        finally:
            self._deciding.release()
