"""Clocks that are set, and machines that sleep, as a program sees them (M6, T2)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from boxretry import Action, ManualClock, Outcome, RetryLoop, RetryStrategy, TokenSource

HOUR = 3600.0


@pytest.fixture
def clock() -> Iterator[ManualClock]:
    with ManualClock() as clock:
        clock.set_wall(1_000_000_000)
        yield clock


@pytest.fixture
def source(clock: ManualClock) -> Iterator[TokenSource]:
    """Each of its tokens lives for an hour."""
    with TokenSource(lambda: ("token", HOUR), clock=clock) as source:
        yield source


def test_a_wall_clock_that_is_set_forward_makes_a_token_old(clock: ManualClock, source: TokenSource) -> None:
    """As after a virtual machine was restored: the smaller remaining life counts, from the next look on."""
    assert source.get().generation == 1
    clock.advance(2)
    clock.set_wall(clock.wall() + HOUR)
    assert source.get().generation == 2


def test_a_wall_clock_that_is_set_back_makes_no_token_young(clock: ManualClock, source: TokenSource) -> None:
    assert source.get().generation == 1
    clock.set_wall(clock.wall() - 10 * HOUR)
    clock.advance(HOUR / 2)
    assert source.get().generation == 1
    clock.advance(HOUR / 2)
    assert source.get().generation == 2


def test_a_token_grows_old_while_the_machine_sleeps(clock: ManualClock, source: TokenSource) -> None:
    assert source.get().generation == 1
    clock.suspend(HOUR)
    assert source.get().generation == 2


@pytest.mark.parametrize("seconds", [-HOUR, HOUR])
def test_a_deadline_is_none_of_the_wall_clock_s(clock: ManualClock, seconds: float) -> None:
    """But it passes while the machine sleeps."""
    with RetryLoop(RetryStrategy(retry_base_interval=1), deadline=60, clock=clock) as loop:
        clock.set_wall(clock.wall() + seconds)
        assert loop.next(Outcome(503)).action is Action.RETRY
        clock.suspend(60)
        assert loop.next(Outcome(503)).action is Action.STOP


@pytest.mark.parametrize(("ahead", "delay"), [(0, 30), (20, 10), (HOUR, 0), (-HOUR, HOUR + 30)])
def test_a_date_counts_from_the_wall_clock_as_it_is(clock: ManualClock, ahead: float, delay: float) -> None:
    """B7. If the response has no Date."""
    date = "Sun, 09 Sep 2001 01:47:10 GMT"  # 30 seconds from the clock's beginning
    with RetryLoop(RetryStrategy(), clock=clock) as loop:
        clock.set_wall(1_000_000_000 + ahead)
        assert loop.next(Outcome(503, headers={"Retry-After": date})).delay == delay
