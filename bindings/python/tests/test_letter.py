"""The examples and figures of the two sources, without a server. See docs/conformance.md."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Any

import pytest
from calls import decisions, waits

from boxretry import (
    Cause,
    ClientTokenProviderFailedError,
    CustomRetryStrategy,
    ManualClock,
    Outcome,
    Reason,
    RetryStrategy,
    TokenProviderError,
    TokenRetryPolicy,
    TokenSource,
    token_delay,
)

PATIENCE = 60.0

ERROR = Outcome(500)
EXCEPTION = Outcome(cause=Cause.CONNECT)


def test_b1_the_example_of_customized_parameters() -> None:
    """Box's page: maxAttempts 3, retryBaseInterval 2, retryRandomizationFactor 0.3, maxRetriesOnException 1."""
    strategy = RetryStrategy(3, 2, 0.3, 1)
    drawn = [waits(decisions(repeat(ERROR), strategy)) for _ in range(200)]
    assert all(len(wait) == 2 for wait in drawn)
    for base, delays in zip((4, 8), zip(*drawn)):
        assert 0.7 * base <= min(delays) < 0.8 * base < 1.2 * base < max(delays) <= 1.3 * base
    assert len(waits(decisions(repeat(EXCEPTION), strategy))) == 1


def test_b9_the_example_of_a_custom_strategy() -> None:
    """Box's page: 5xx is retried after 1 s as long as the attempt number is below 3; nothing else is retried."""

    class Custom(CustomRetryStrategy):
        def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            return outcome.status >= 500 and attempt_number < 3

        def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
            return 1.0

    assert waits(decisions(repeat(ERROR), Custom())) == [1.0, 1.0]
    for other in (Outcome(429), Outcome(401), EXCEPTION):
        assert waits(decisions(repeat(other), Custom())) == []


def test_b4_b5_exceptions_have_their_own_progression_and_count_as_attempts() -> None:
    """Given responses and exceptions in turn: each waits by the number of its own counter."""
    strategy = RetryStrategy(retry_randomization_factor=0)
    decided = decisions([ERROR, EXCEPTION, ERROR, EXCEPTION, ERROR, ERROR], strategy)
    assert waits(decided) == [2, 2, 8, 4]
    assert decided[-1].reason == Reason.ATTEMPTS_EXHAUSTED
    assert [decision.attempt_number for decision in decided] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("life", [300, 7200])
def test_t6_the_lives_of_januarys_tokens_pass(life: float) -> None:
    """January's page: tokens live for 300 to 7200 s. Each is used until 60 s are left."""
    calls: list[float] = []

    def provider() -> tuple[str, float]:
        calls.append(clock.monotonic())
        return "token", life

    with ManualClock() as clock, TokenSource(provider, clock=clock) as source:
        source.get()
        clock.advance(life - 60.001)
        source.get()
        assert len(calls) == 1
        clock.advance(0.001)
        source.get()
        assert len(calls) == 2


def test_t5_the_example_of_a_token_policy() -> None:
    """January's page: 4 attempts, 1 s at first, doubled up to 4 s, 20 % jitter: three waits, and then the error."""
    policy = TokenRetryPolicy(maximum_attempts=4, initial_delay=1, multiplier=2, maximum_delay=4, jitter_ratio=0.2)
    waits_between = [[token_delay(failure, end, policy=policy) for end in (0, 1)] for failure in (1, 2, 3)]
    assert waits_between == [pytest.approx(ends) for ends in ([0.8, 1.2], [1.6, 2.4], [3.2, 4])]

    calls: list[float] = []

    def provider() -> Any:
        calls.append(clock.monotonic())
        raise TokenProviderError("unreachable", retryable=True)

    with (
        ManualClock() as clock,
        TokenSource(provider, policy=policy, clock=clock) as source,
        ThreadPoolExecutor(1) as pool,
    ):
        waiting = pool.submit(source.get)
        for count, (least, most) in enumerate(waits_between, 1):
            clock.wait_for_timer(PATIENCE)
            clock.advance(least - 0.001)
            clock.wait_for_timer(PATIENCE)
            assert len(calls) == count
            clock.advance(most - least + 0.001)
        with pytest.raises(ClientTokenProviderFailedError, match=r"\(calls: 4\)$"):
            waiting.result(PATIENCE)
    assert len(calls) == 4
