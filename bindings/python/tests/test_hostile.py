"""Any argument leads at worst to a Python exception; and no value is truncated."""

from __future__ import annotations

import copy
import pickle
from typing import Any, Callable

import pytest

from boxretry import (
    Cause,
    CustomRetryStrategy,
    ManualClock,
    Outcome,
    Request,
    RequestSent,
    RetryLoop,
    RetrySafety,
    RetryStrategy,
    TokenRetryPolicy,
    backoff_delay,
    parse_retry_after,
    token_delay,
)


class Raises:
    """Raises whenever it is used."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __index__(self) -> int:
        raise RuntimeError("index")

    def __float__(self) -> float:
        raise RuntimeError("float")

    def __bool__(self) -> bool:
        raise RuntimeError("bool")


class IndexesAsText:
    def __index__(self) -> Any:
        return "1"


NOT_INTEGERS: list[Any] = ["1", b"1", 1.0, float("nan"), None, [], {}, object(), 1j, Raises(), IndexesAsText()]
HUGE_INTEGERS: list[Any] = [2**31, -(2**31) - 1, 2**32 + 1, 2**64, -(2**64), 10**5000]
NOT_NUMBERS: list[Any] = ["1", b"1", None, [], {}, object(), 1j, Raises()]
BAD_NUMBERS: list[Any] = [float("nan"), float("inf"), float("-inf"), -1, -1e-9, 10**400, 1e308]
NOT_TEXTS: list[Any] = [1, 1.0, object(), [], {}, bytearray(b"x"), memoryview(b"x"), Raises()]
BAD_TEXTS: list[Any] = ["a\0b", b"a\0b", "\0", "\ud800", "\U0010ffff\udbff"]

EXPECTED = (TypeError, ValueError, RuntimeError, AttributeError)


def ask(outcome: Any) -> None:
    with RetryStrategy() as strategy:
        strategy.should_retry(outcome, 1)
    with RetryLoop(RetryStrategy()) as loop:
        loop.next(outcome)


def with_clock(use: Callable[[ManualClock, Any], object]) -> Callable[[Any], None]:
    def use_with_value(value: Any) -> None:
        with ManualClock() as clock:
            use(clock, value)

    return use_with_value


#: Each argument of each call, with the values that it must refuse.
ARGUMENTS: dict[str, tuple[Callable[[Any], object], list[Any]]] = {
    # Strategy
    "max_attempts": (lambda value: RetryStrategy(max_attempts=value), [*NOT_INTEGERS, *HUGE_INTEGERS, -1]),
    "max_retries_on_exception": (
        lambda value: RetryStrategy(max_retries_on_exception=value), [*NOT_INTEGERS, *HUGE_INTEGERS, -1],
    ),
    "retry_base_interval": (
        lambda value: RetryStrategy(retry_base_interval=value), [*NOT_NUMBERS, *BAD_NUMBERS[:-1]],
    ),
    "retry_randomization_factor": (
        lambda value: RetryStrategy(retry_randomization_factor=value), [*NOT_NUMBERS, *BAD_NUMBERS, 1.1],
    ),
    "backoff_cap": (lambda value: RetryStrategy(backoff_cap=value), [*NOT_NUMBERS, *BAD_NUMBERS[:-1]]),
    "retry_after_cap": (lambda value: RetryStrategy(retry_after_cap=value), [*NOT_NUMBERS, *BAD_NUMBERS[:-1]]),
    "retry_after_jitter": (lambda value: RetryStrategy(retry_after_jitter=value), [*NOT_NUMBERS, *BAD_NUMBERS, 1.1]),
    "retry_after_over_cap": (
        lambda value: RetryStrategy(retry_after_over_cap=value), [None, 0, 1, "", "Clamp", b"stop", [], Raises()],
    ),
    "retry_unsafe_methods": (lambda value: RetryStrategy(retry_unsafe_methods=value), [Raises()]),
    "delay_headers": (lambda value: RetryStrategy(delay_headers=value), [1, "x", ["x"], {"x"}, Raises()]),
    "delay_headers, name": (
        lambda value: RetryStrategy(delay_headers={value: 1.0}),
        [1, None, *BAD_TEXTS, "", " ", "a b", "a:b", "x" * 257],
    ),
    "delay_headers, unit": (
        lambda value: RetryStrategy(delay_headers={"x": value}), [*NOT_NUMBERS, *BAD_NUMBERS, 0, 86401],
    ),
    "delay_headers, count": (
        lambda value: RetryStrategy(delay_headers={f"x{i}": 1 for i in range(value)}), [17, 1000],
    ),
    "attempt_number of should_retry": (
        lambda value: RetryStrategy().should_retry(Outcome(503), value), [*NOT_INTEGERS, *HUGE_INTEGERS, -1],
    ),
    "attempt_number of retry_after": (
        lambda value: RetryStrategy().retry_after(Outcome(503), value), [*NOT_INTEGERS, *HUGE_INTEGERS, -1],
    ),
    # Outcome
    "outcome": (ask, [None, 503, "503", object(), Outcome, Request(), Raises()]),
    "outcome.status": (
        lambda value: ask(Outcome(value)), [*NOT_INTEGERS, *HUGE_INTEGERS, -1, 1, 99, 1000, 2**32 + 503],
    ),
    "outcome.cause": (lambda value: ask(Outcome(cause=value)), [*NOT_INTEGERS, *HUGE_INTEGERS, -1, 9, Cause(9)]),
    "outcome.headers": (
        lambda value: ask(Outcome(503, headers=value)),
        [None, 1, "ab", b"ab", [1], ["a"], [("a",)], [("a", "b", "c")], Raises(), object(), {"a": None}, {1: "a"}],
    ),
    "outcome.headers, name": (lambda value: ask(Outcome(503, headers=[(value, "x")])), [None, *NOT_TEXTS, *BAD_TEXTS]),
    "outcome.headers, value": (lambda value: ask(Outcome(503, headers=[("x", value)])), [None, *NOT_TEXTS, *BAD_TEXTS]),
    "outcome.headers, count": (lambda value: ask(Outcome(503, headers=[("x", "y")] * value)), [65537, 100000]),
    "outcome.auth_available": (lambda value: ask(Outcome(401, auth_available=value)), [Raises()]),
    "outcome.request_sent": (
        lambda value: ask(Outcome(503, request_sent=value)), [*NOT_INTEGERS, *HUGE_INTEGERS, -1, 3, RequestSent(3)],
    ),
    "outcome.request": (
        lambda value: ask(Outcome(503, request=value)), [1, "x", object(), Outcome(), Request, Raises()],
    ),
    "outcome.body_replayable": (lambda value: ask(Outcome(503, body_replayable=value)), [Raises()]),
    # Request
    "request.method": (lambda value: ask(Outcome(request=Request(value))), [None, *NOT_TEXTS, *BAD_TEXTS]),
    "request.url": (lambda value: ask(Outcome(request=Request(url=value))), [*NOT_TEXTS, *BAD_TEXTS]),
    "request.headers": (
        lambda value: ask(Outcome(request=Request(headers=value))), [None, 1, ["a"], [("a", None)], [("a\0", "b")]],
    ),
    "request.headers, count": (lambda value: ask(Outcome(request=Request(headers=[("x", "y")] * value))), [65537]),
    "request.body": (
        lambda value: ask(Outcome(request=Request(body=value))), ["text", 1, [], bytearray(b"x"), object(), Raises()],
    ),
    "request.retry_safety": (
        lambda value: ask(Outcome(request=Request(retry_safety=value))),
        [*NOT_INTEGERS, *HUGE_INTEGERS, -1, 3, RetrySafety(3)],
    ),
    # Loop
    "strategy": (RetryLoop, [None, 1, object(), RetryStrategy, CustomRetryStrategy, ManualClock(), Raises()]),
    "auth_available": (lambda value: RetryLoop(RetryStrategy(), auth_available=value), [Raises()]),
    "deadline": (
        lambda value: RetryLoop(RetryStrategy(), deadline=value),
        ["1", b"1", [], object(), 1j, Raises(), *BAD_NUMBERS, 0, 1e300, 2.0**63],
    ),
    "clock": (lambda value: RetryLoop(RetryStrategy(), clock=value), [0, 1, object(), RetryStrategy(), Raises()]),
    "seed": (lambda value: RetryLoop(RetryStrategy(), seed=value), [*NOT_INTEGERS, -1, 2**64, 10**5000]),
    "max_total_attempts": (
        lambda value: RetryLoop(RetryStrategy(), max_total_attempts=value),
        [*(each for each in NOT_INTEGERS if each is not None), *HUGE_INTEGERS, -1, 1000001],
    ),
    # Clock
    "seconds of advance": (with_clock(ManualClock.advance), [*NOT_NUMBERS, *BAD_NUMBERS]),
    "seconds of suspend": (with_clock(ManualClock.suspend), [*NOT_NUMBERS, *BAD_NUMBERS]),
    "seconds of sleep": (with_clock(ManualClock.sleep), [*NOT_NUMBERS, *BAD_NUMBERS]),
    "unix_time of set_wall": (
        with_clock(ManualClock.set_wall), [*NOT_NUMBERS, float("nan"), float("inf"), 10**400, 1e308, -1e300],
    ),
    "timeout": (
        with_clock(ManualClock.wait_for_timer),
        ["1", [], object(), Raises(), float("nan"), -1, float("-inf"), 10**400],
    ),
    # Arithmetic
    "attempt_number of backoff_delay": (backoff_delay, [*NOT_INTEGERS, *HUGE_INTEGERS, -1]),
    "unit_random of backoff_delay": (lambda value: backoff_delay(1, value), [*NOT_NUMBERS, *BAD_NUMBERS, 1.1]),
    "options of backoff_delay": (
        lambda value: backoff_delay(1, retry_base_interval=value), [*NOT_NUMBERS, *BAD_NUMBERS[:-1]],
    ),
    "value of parse_retry_after": (parse_retry_after, [None, *NOT_TEXTS, *BAD_TEXTS]),
    "unix_time of parse_retry_after": (
        lambda value: parse_retry_after("1", value),
        [*(each for each in NOT_NUMBERS if each is not None), float("nan"), float("inf"), 10**400, 1e300, 2**63],
    ),
    "failed_attempt": (token_delay, [*NOT_INTEGERS, *HUGE_INTEGERS, 0, -1]),
    "unit_random of token_delay": (lambda value: token_delay(1, value), [*NOT_NUMBERS, *BAD_NUMBERS, 1.1]),
    "policy": (lambda value: token_delay(1, policy=value), [1, "x", object(), TokenRetryPolicy, Raises()]),
    "policy.maximum_attempts": (
        lambda value: token_delay(1, policy=TokenRetryPolicy(value)), [*NOT_INTEGERS, *HUGE_INTEGERS, 0, -1],
    ),
    "policy.initial_delay": (
        lambda value: token_delay(1, policy=TokenRetryPolicy(initial_delay=value)), [*NOT_NUMBERS, *BAD_NUMBERS[:-1]],
    ),
    "policy.multiplier": (
        lambda value: token_delay(1, policy=TokenRetryPolicy(multiplier=value)),
        [*NOT_NUMBERS, *BAD_NUMBERS[:-1], 0, 0.99],
    ),
    "policy.maximum_delay": (
        lambda value: token_delay(1, policy=TokenRetryPolicy(maximum_delay=value)), [*NOT_NUMBERS, *BAD_NUMBERS[:-1]],
    ),
    "policy.jitter_ratio": (
        lambda value: token_delay(1, policy=TokenRetryPolicy(jitter_ratio=value)), [*NOT_NUMBERS, *BAD_NUMBERS, 1.1],
    ),
}  # fmt: skip


def cases() -> list[Any]:
    cases = []
    for argument, (call, values) in ARGUMENTS.items():
        for index, value in enumerate(values):
            cases.append(pytest.param(call, value, id=f"{argument} {index} {type(value).__name__}"))
    return cases


@pytest.mark.parametrize(("call", "value"), cases())
def test_a_wrong_argument_raises(call: Callable[[Any], object], value: Any) -> None:
    with pytest.raises(EXPECTED):
        call(value)


def test_bools_and_numbers_of_other_types_are_numbers() -> None:
    from decimal import Decimal
    from fractions import Fraction

    assert RetryStrategy(True, Decimal("0.5"), Fraction(0)).should_retry(Outcome(503), False).delay == 0.5
    assert backoff_delay(True, Fraction(1, 2)) == 2


def test_long_texts_are_taken() -> None:
    assert parse_retry_after("0" * 10_000_000 + "7") == 7
    assert parse_retry_after(b"x" * 10_000_000) is None
    ask(Outcome(503, headers=[("x" * 1_000_000, "y" * 1_000_000)], request=Request(body=b"\0" * 10_000_000)))


@pytest.mark.parametrize("make", [ManualClock, lambda: RetryLoop(RetryStrategy())])
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_has_a_handle_cannot_be_copied(make: Callable[[], Any], duplicate: Callable[[Any], object]) -> None:
    """Two objects would free the same handle."""
    with make() as original, pytest.raises(TypeError, match="cannot be copied or pickled"):
        duplicate(original)
