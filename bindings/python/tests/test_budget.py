"""RetryBudget: clients and retry loops share it to limit their retries (C1)."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from boxretry import (
    Action,
    BudgetStats,
    Cause,
    Client,
    ClosedError,
    ConnectError,
    CustomRetryStrategy,
    Decision,
    EndedError,
    InvalidArgumentError,
    Outcome,
    Reason,
    RetryBudget,
    RetryLoop,
    RetryStrategy,
)

DOWN, WELL = Outcome(503), Outcome(200)


def first_decision(budget: RetryBudget, outcome: Outcome = DOWN) -> Decision:
    """The decision of a new call with that budget after its first attempt."""
    with RetryStrategy() as strategy, RetryLoop(strategy, budget=budget) as loop:
        return loop.next(outcome)


def test_c1_half_of_a_budget_can_be_taken_and_successes_give_back() -> None:
    """C1. Given one of 4, two loops retry once each, the third ends; after a success a retry is possible again."""
    with RetryBudget(4, ratio=0.5) as budget:
        decisions = [first_decision(budget) for _ in range(3)]
        assert [decision.reason for decision in decisions] == [
            Reason.SERVER_ERROR,
            Reason.SERVER_ERROR,
            Reason.RETRY_BUDGET_SPENT,
        ]
        assert (decisions[2].action, decisions[2].delay, decisions[2].attempt_number) == (Action.STOP, 0, 1)
        assert budget.stats() == BudgetStats(taken=2, given_back=0, refused=1, level=2.0)
        assert first_decision(budget, WELL).action is Action.SUCCEED
        assert first_decision(budget).retry
        assert budget.stats() == BudgetStats(taken=3, given_back=1, refused=1, level=1.5)


def test_c1_a_loop_that_was_refused_has_ended() -> None:
    """C1. After the decision to stop, the loop takes no further outcome."""
    with RetryBudget(1) as budget, RetryStrategy() as strategy, RetryLoop(strategy, budget=budget) as loop:
        assert loop.next(DOWN).retry
        assert loop.next(Outcome(cause=Cause.CONNECT)).reason is Reason.RETRY_BUDGET_SPENT
        with pytest.raises(EndedError):
            loop.next(WELL)


def test_c1_failures_that_are_not_retried_take_and_give_nothing() -> None:
    """C1. A 404 is neither a retry nor a success."""
    with RetryBudget(10) as budget:
        assert first_decision(budget, Outcome(404)).reason is Reason.NOT_RETRYABLE
        assert budget.stats() == BudgetStats(0, 0, 0, 10.0)


def test_c1_a_success_never_fills_a_budget_beyond_its_capacity() -> None:
    """C1. A full budget stays full."""
    with RetryBudget(1, ratio=1) as budget:
        for _ in range(3):
            first_decision(budget, WELL)
        assert budget.stats() == BudgetStats(0, 3, 0, 1.0)


def test_c1_custom_strategies_are_charged_too() -> None:
    """C1. It does not matter what decides to retry."""

    class Always(CustomRetryStrategy):
        def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            return True

    with RetryBudget(2) as budget, RetryLoop(Always(), budget=budget) as loop:
        assert loop.next(Outcome(404)).retry
        assert loop.next(Outcome(404)).reason is Reason.RETRY_BUDGET_SPENT


def test_c1_loops_and_clients_share_one_and_it_may_be_closed_first() -> None:
    """C1. Given a client and a loop with one budget, what one takes is not available to the other."""
    budget = RetryBudget(2)
    kept = RetryBudget(2)
    with Client(RetryStrategy(retry_base_interval=0), budget=budget) as client, RetryStrategy() as strategy:
        with RetryLoop(strategy, budget=kept) as loop:
            kept.close()
            assert loop.next(DOWN).retry
            assert loop.next(DOWN).reason is Reason.RETRY_BUDGET_SPENT
        with pytest.raises(ClosedError):
            kept.stats()
        assert first_decision(budget).retry
        with pytest.raises(ConnectError) as refused:
            client.get("http://127.0.0.1:1/")
        assert [attempt.reason for attempt in refused.value.attempts] == [Reason.RETRY_BUDGET_SPENT]
        assert budget.stats() == BudgetStats(1, 0, 1, 1.0)


def test_c1_a_client_takes_one_kind_of_budget() -> None:
    """C1. A shared budget and the fields for a private one exclude each other."""
    with RetryBudget(2) as budget, pytest.raises(InvalidArgumentError, match="budget"):
        Client(budget=budget, budget_capacity=2)


def test_c1_threads_take_exactly_half() -> None:
    """C1. Given 8 threads that want 1,000 retries of a budget of 2,000, exactly 1,000 are allowed in all."""
    with RetryBudget(2_000) as budget:

        def run() -> None:
            for _ in range(1_000):
                first_decision(budget)

        threads = [threading.Thread(target=run) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert budget.stats() == BudgetStats(taken=1_000, given_back=0, refused=7_000, level=1_000.0)


@pytest.mark.parametrize("capacity", [0, -1, 1_000_001])
def test_capacities_out_of_range_are_refused(capacity: int) -> None:
    """C1. Capacities are 1 to 1,000,000."""
    with pytest.raises(InvalidArgumentError, match="capacity: must be from 1 to 1000000"):
        RetryBudget(capacity)


@pytest.mark.parametrize("ratio", [-0.1, 1.1, float("nan"), float("inf")])
def test_ratios_out_of_range_are_refused(ratio: float) -> None:
    """C1. Ratios are 0 to 1."""
    with pytest.raises(InvalidArgumentError, match="ratio: must be from 0 to 1"):
        RetryBudget(10, ratio)


@pytest.mark.parametrize("other", [1, "budget", RetryStrategy()], ids=lambda value: type(value).__name__)
def test_only_a_budget_is_a_budget(other: Any) -> None:
    """C1. Other objects are refused."""
    with pytest.raises(TypeError, match="budget: must be a RetryBudget"):
        Client(budget=other)
    with RetryStrategy() as strategy, pytest.raises(TypeError, match="budget: must be a RetryBudget"):
        RetryLoop(strategy, budget=other)
