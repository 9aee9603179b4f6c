"""Cases from the field: faults that users of other clients and retry libraries reported, by their numbers."""

from __future__ import annotations

from itertools import repeat

import pytest
from calls import decisions, response, strategy, waits

from boxretry import (
    Action,
    Cause,
    CustomRetryStrategy,
    DelaySource,
    InvalidArgumentError,
    ManualClock,
    Outcome,
    Reason,
    RetryAfterState,
    RetryLoop,
    RetryStrategy,
    backoff_delay,
    parse_retry_after,
)

LONGEST = 2147483647.0


def test_f1_b7_a_lower_case_retry_after_counts() -> None:
    decided = decisions([Outcome(429, headers={"retry-after": "7"}), Outcome(200)])
    assert waits(decided) == [7]
    assert decided[-1].action == Action.SUCCEED


def test_f2_b3_a_202_with_retry_after_is_retried() -> None:
    decided = decisions([Outcome(202, headers={"retry-after": "7"}), Outcome(200)])
    assert len(decided) == 2
    assert waits(decided) == [7]


def test_f3_b7_a_date_in_the_past_means_at_once() -> None:
    decided = decisions([response(503, "Wed, 21 Oct 2015 07:28:00 GMT"), Outcome(200)])
    assert waits(decided) == [0]
    assert decided[0].delay_source == DelaySource.RETRY_AFTER_DATE
    assert decided[-1].succeeded


@pytest.mark.parametrize(("values", "wait"), [(["5", "5"], 5), (["2814, 2"], 2814)])
def test_f4_b7_of_several_values_the_largest_counts(values: list[str], wait: float) -> None:
    assert waits(decisions([response(429, *values), Outcome(200)])) == [wait]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("nan", None),
        ("inf", None),
        ("1e400", LONGEST),
        ("9" * 5000, LONGEST),
        ("0" * 5000, 0.0),
        ("99999999999999999", LONGEST),
    ],
)
def test_f5_b7_extreme_values_are_not_usable_or_saturate(value: str, seconds: float | None) -> None:
    assert parse_retry_after(value) == seconds

    first, *_ = decisions([response(503, value), Outcome(200)])
    if seconds is None:
        assert (first.delay, first.retry_after_state) == (2, RetryAfterState.NOT_USABLE)
    else:
        assert (first.delay, first.retry_after) == (seconds, seconds)


def test_f6_b7_a_202_with_an_empty_retry_after_waits_for_the_backoff() -> None:
    decided = decisions([response(202, ""), Outcome(200)])
    assert waits(decided) == [2]
    assert len(decided) == 2


def test_f7_b7_retry_after_0_means_at_once_and_the_attempt_counts() -> None:
    decided = decisions([response(503, "0"), Outcome(503)])
    assert waits(decided) == [0, 4]
    assert [decision.attempt_number for decision in decided] == [1, 2]


@pytest.mark.parametrize("value", ["0.503", "292.052427053"])
def test_f8_b7_a_fraction_of_a_second_counts(value: str) -> None:
    assert waits(decisions([response(503, value)])) == [pytest.approx(float(value), abs=1e-12)]


def test_f9_b11_a_wait_beyond_the_deadline_is_not_begun() -> None:
    decided = decisions(repeat(response(503, "3600")), deadline=60)
    assert len(decided) == 1
    assert (decided[0].action, decided[0].reason) == (Action.STOP, Reason.DEADLINE)
    assert decided[0].retry_after == 3600


def test_f10_b3_a_409_is_not_retried_whatever_its_retry_after() -> None:
    decided = decisions(repeat(response(409, "5")))
    assert len(decided) == 1
    assert decided[0].reason == Reason.NOT_RETRYABLE


def test_f11_b7_a_date_counts_from_the_response_s_own_date() -> None:
    """Given a server whose clock is an hour behind the local one."""
    with ManualClock() as clock:
        clock.set_wall(1445412450 + 3600)
        an_hour_behind = response(503, "Wed, 21 Oct 2015 07:28:00 GMT", Date="Wed, 21 Oct 2015 07:27:30 GMT")
        assert waits(decisions([an_hour_behind], clock=clock)) == [30]


class AlwaysAtOnce(CustomRetryStrategy):
    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        return True

    def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        return 0


@pytest.mark.parametrize(("options", "count"), [({}, 1000), ({"max_total_attempts": 7}, 7)])
def test_f13_b14_a_strategy_that_always_retries_ends_at_the_ceiling(options: dict[str, int], count: int) -> None:
    decided = decisions(repeat(Outcome(503)), AlwaysAtOnce(), **options)
    assert len(decided) == count
    assert decided[-1].reason == Reason.ATTEMPT_CEILING


def test_f117_b14_max_attempts_2000_means_2000() -> None:
    decided = decisions(repeat(Outcome(503)), strategy(max_attempts=2000))
    assert len(decided) == 2000
    assert decided[-1].reason == Reason.ATTEMPTS_EXHAUSTED


def test_f13_b14_a_strategy_that_always_retries_ends_at_the_deadline() -> None:
    with ManualClock() as clock, RetryLoop(AlwaysAtOnce(), clock=clock, deadline=10) as loop:
        seconds = 0
        while loop.next(Outcome(503)).retry:
            clock.advance(1)
            seconds += 1
        assert seconds == 10


def test_f14_b10_when_attempts_are_exhausted_every_attempt_was_told() -> None:
    outcomes = [
        Outcome(503),
        response(429, "3"),
        Outcome(cause=Cause.RECEIVE),
        Outcome(401, auth_available=True),
        Outcome(500),
    ]
    decided = decisions(outcomes)

    assert [
        (each.action, each.reason, each.delay, each.delay_source, each.attempt_number, each.exception_number)
        for each in decided
    ] == [
        (Action.RETRY, Reason.SERVER_ERROR, 2, DelaySource.BACKOFF, 1, 0),
        (Action.RETRY, Reason.RATE_LIMITED, 3, DelaySource.RETRY_AFTER, 2, 0),
        (Action.RETRY, Reason.NETWORK_EXCEPTION, 2, DelaySource.BACKOFF, 3, 1),
        (Action.REFRESH_TOKEN_AND_RETRY, Reason.UNAUTHORIZED, 16, DelaySource.BACKOFF, 4, 0),
        (Action.STOP, Reason.ATTEMPTS_EXHAUSTED, 0, DelaySource.NONE, 5, 0),
    ]


def test_f20_b6_the_backoff_never_falls_and_saturates() -> None:
    for base in (1.0, 0.001, 1e-300, 5e-324):
        numbers = [*range(30, 71), 1024, 2**31 - 1]
        delays = [backoff_delay(number, retry_base_interval=base) for number in numbers]
        assert delays == sorted(delays)
        assert delays[0] >= 0
        assert delays[-1] == LONGEST


@pytest.mark.parametrize("attempt_number", [0, 1, 1023, 1024, 1025, 2**31 - 1])
def test_f21_b6_a_base_of_0_gives_0(attempt_number: int) -> None:
    assert backoff_delay(attempt_number, retry_base_interval=0) == 0


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("retry_randomization_factor", 1.5),
        ("retry_randomization_factor", -0.1),
        ("retry_randomization_factor", float("nan")),
        ("retry_base_interval", float("nan")),
        ("retry_base_interval", -1),
        ("retry_base_interval", float("inf")),
        ("max_attempts", -1),
        ("max_attempts", 1000001),
        ("max_retries_on_exception", -1),
        ("backoff_cap", float("nan")),
        ("retry_after_cap", -1),
    ],
)
def test_f22_b1_a_wrong_option_is_refused_by_its_name(option: str, value: float) -> None:
    with pytest.raises(InvalidArgumentError, match=rf"\b{option}\b"):
        RetryStrategy(**{option: value})  # type: ignore[arg-type]


def test_f23_b11_the_cap_holds_for_the_jitter_too() -> None:
    assert backoff_delay(1, 1.0, retry_randomization_factor=0.5, backoff_cap=1) == 1


def test_f24_b6_two_clients_draw_different_delays() -> None:
    def delays() -> list[float]:
        """The first delay of 1,000 calls."""
        client = RetryStrategy()
        return [wait for _ in range(1000) for wait in waits(decisions([Outcome(503)], client))]

    first, second = delays(), delays()

    assert len(first) == 1000
    assert len(set(first)) > 990
    assert first != second


def test_f25_b6_the_first_delay_is_2_seconds_at_the_middle() -> None:
    assert waits(decisions([Outcome(503)])) == [2]
    assert backoff_delay(1) == 2
    assert strategy().retry_after(Outcome(503), 1) == 2
