"""Calls with retries: a loop, its outcomes, and its decisions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from boxretry import CustomRetryStrategy, Decision, Outcome, RetryLoop, RetryStrategy


def strategy(**options: Any) -> RetryStrategy:
    """Box's strategy with the jitter at its middle."""
    return RetryStrategy(retry_randomization_factor=0, **options)


def response(status: int, *retry_after: str, **headers: str) -> Outcome:
    """A response with a Retry-After line for each value."""
    return Outcome(status, headers=[*(("Retry-After", value) for value in retry_after), *headers.items()])


def decisions(
    outcomes: Iterable[Outcome], decider: RetryStrategy | CustomRetryStrategy | None = None, **options: Any
) -> list[Decision]:
    """The decisions about the outcomes, up to the end of the call. Each decision is one request."""
    decided = []
    with RetryLoop(strategy() if decider is None else decider, **options) as loop:
        for outcome in outcomes:
            decided.append(loop.next(outcome))
            if not decided[-1].retry:
                break
    return decided


def waits(decided: Iterable[Decision]) -> list[float]:
    """The delays before the next attempts."""
    return [decision.delay for decision in decided if decision.retry]
