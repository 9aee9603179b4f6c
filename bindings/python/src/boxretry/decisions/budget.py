"""A retry budget: limits the load that the retries of many calls add to a failing server."""

from __future__ import annotations

from ctypes import byref
from dataclasses import dataclass
from typing import SupportsIndex

from .._c import _abi
from .._c.arguments import Real, integer, new, real
from .._c.handle import Handle, HandleOwner, new_handle
from ..errors import check


@dataclass(frozen=True)
class BudgetStats:
    """A retry budget's counters."""

    #: Retries that were allowed.
    taken: int
    #: Successes; each gave back the ratio, up to the capacity.
    given_back: int
    #: Retries that were not allowed.
    refused: int
    #: The budget's present level, 0 to its capacity.
    level: float


class RetryBudget(HandleOwner):
    """A budget that clients and retry loops share (C1). Any number of threads may use one at once.

    It starts full. Each retry takes 1 from it, and each success gives back `ratio`. At half of the capacity or below,
    calls are not retried; their reason is RETRY_BUDGET_SPENT. First attempts take nothing and are always sent.

    >>> budget = RetryBudget(capacity=2)
    >>> strategy = RetryStrategy()
    >>> with RetryLoop(strategy, budget=budget) as first, RetryLoop(strategy, budget=budget) as second:
    ...     first.next(Outcome(503)).retry, second.next(Outcome(503)).retry
    (True, False)
    >>> budget.stats()
    BudgetStats(taken=1, given_back=0, refused=1, level=1.0)
    """

    def __init__(self, capacity: SupportsIndex, ratio: Real = 0.1) -> None:
        """Makes a full budget.

        capacity: retries, 1 to 1000000; half of them can be taken before a success gives something back.
        ratio: what a success gives back, 0 to 1 retries; 0: 0.1.

        Raises InvalidArgumentError.
        """
        self._handle = new_handle(
            _abi.boxretry_budget_new,
            integer(capacity, "capacity"),
            real(ratio, "ratio"),
            free=_abi.boxretry_budget_free,
        )

    def stats(self) -> BudgetStats:
        """Reads the budget's counters. Raises ForkedError, ClosedError.

        While other threads use the budget, the numbers may not add up.
        """
        struct = new(_abi.BudgetStats, _abi.boxretry_budget_stats_init)
        check(_abi.boxretry_budget_get_stats(self._open_handle().pointer, byref(struct)))
        return BudgetStats(struct.taken, struct.given_back, struct.refused, struct.level)


def budget_handle(budget: RetryBudget) -> Handle:
    """The handle of an argument that must be a budget."""
    if not isinstance(budget, RetryBudget):
        raise TypeError(f"budget: must be a RetryBudget, not {type(budget).__name__}")
    return budget._open_handle()
