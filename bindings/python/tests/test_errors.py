"""The exceptions: one class for each error of the library, and when each is raised."""

from __future__ import annotations

import concurrent.futures
import pickle
from typing import Callable

import pytest
from calls import strategy

import boxretry
from boxretry import (
    BoxRetryError,
    CancelledError,
    ClosedError,
    ConnectError,
    EndedError,
    InvalidArgumentError,
    ManualClock,
    NotUsableError,
    Outcome,
    OutOfMemoryError,
    RetryLoop,
    RetryStrategy,
    WaitTimeoutError,
    backoff_delay,
    errors,
    token_delay,
)
from boxretry._c import _abi
from boxretry.enums import Error

#: The library's names have their words in the other order.
TIMEOUTS = {"TimeoutIdleError": "IdleTimeoutError", "TimeoutResourceError": "ResourceTimeoutError"}


def test_every_error_of_the_library_has_its_class() -> None:
    """Also errors that no function of this package raises: this test finds any error without a class."""
    known = {number: _abi.boxretry_error_name(number).decode() for number in range(1, 1000)}
    known = {number: name for number, name in known.items() if name != "unknown"}
    for number, name in known.items():
        kind = errors.CLASSES[Error(number)]
        expected = "".join(word.capitalize() for word in name.split("_")) + "Error"
        assert kind.__name__ == {"TlsError": "TLSError", **TIMEOUTS}.get(expected, expected)
        assert kind.error == number
        assert getattr(boxretry, kind.__name__) is kind
        assert kind("why").name == name
    assert len(errors.CLASSES) == len(known) == len(Error) - 1


@pytest.mark.parametrize("kind", errors.CLASSES.values())
def test_every_class_is_a_box_retry_error(kind: type[errors.AnyError]) -> None:
    # Cancellation is control flow, which `except BoxRetryError` must not retry (T4).
    assert issubclass(kind, concurrent.futures.CancelledError if kind is CancelledError else BoxRetryError)
    assert issubclass(kind, BoxRetryError) == (kind is not CancelledError)
    error = kind("why")
    assert (str(error), error.detail, error.args) == ("why", "why", ("why",))


@pytest.mark.parametrize(
    ("kind", "built_in"),
    [
        (InvalidArgumentError, ValueError),
        (OutOfMemoryError, MemoryError),
        (WaitTimeoutError, TimeoutError),
        (ConnectError, ConnectionError),
    ],
)
def test_some_are_what_python_has_for_it_too(kind: type[Exception], built_in: type[Exception]) -> None:
    assert issubclass(kind, built_in)
    assert not issubclass(NotUsableError, (ValueError, MemoryError, OSError))


def test_an_error_that_a_newer_library_may_have_is_a_box_retry_error() -> None:
    with pytest.raises(BoxRetryError) as raised:
        errors.check(1000)
    assert type(raised.value) is BoxRetryError
    assert (raised.value.error, raised.value.name) == (1000, "unknown")


@pytest.mark.parametrize("kind", errors.CLASSES.values())
def test_every_class_survives_pickling(kind: type[BoxRetryError]) -> None:
    error = pickle.loads(pickle.dumps(kind("why")))
    assert (type(error), str(error), error.detail, error.attempts) == (kind, "why", "why", [])


def test_an_error_survives_pickling() -> None:
    """In the way that multiprocessing and concurrent.futures do it."""
    with pytest.raises(InvalidArgumentError) as raised:
        RetryStrategy(max_attempts=-1)
    error = pickle.loads(pickle.dumps(raised.value))
    assert (type(error), error.detail, error.error) == (
        InvalidArgumentError,
        raised.value.detail,
        Error.INVALID_ARGUMENT,
    )


def test_the_detail_says_which_argument_and_why() -> None:
    with pytest.raises(InvalidArgumentError) as raised:
        RetryStrategy(max_attempts=-1)
    assert raised.value.detail == "options.max_attempts: must be from 0 to 1000000 (got -1)"
    assert str(raised.value) == raised.value.detail
    assert (raised.value.error, raised.value.name) == (Error.INVALID_ARGUMENT, "invalid_argument")


def test_a_loop_that_has_ended_says_so() -> None:
    with RetryLoop(strategy()) as loop:
        loop.next(Outcome(404))
        with pytest.raises(EndedError, match="already made its last decision"):
            loop.next(Outcome(503))


def test_an_outcome_that_is_refused_is_not_counted() -> None:
    with RetryLoop(strategy()) as loop:
        with pytest.raises(InvalidArgumentError, match=r"outcome\.status"):
            loop.next(Outcome(99))
        assert loop.next(Outcome(503)).attempt_number == 1


CLOSED: dict[str, Callable[[], object]] = {}


def closed(call: Callable[[], object]) -> Callable[[], object]:
    CLOSED[call.__name__] = call
    return call


@closed
def strategy_should_retry() -> None:
    with RetryStrategy() as decider:
        pass
    decider.should_retry(Outcome(503), 1)


@closed
def strategy_retry_after() -> None:
    decider = RetryStrategy()
    decider.close()
    decider.close()
    decider.retry_after(Outcome(503), 1)


@closed
def loop_of_a_closed_strategy() -> None:
    with RetryStrategy() as decider:
        pass
    RetryLoop(decider)


@closed
def loop_with_a_closed_clock() -> None:
    with ManualClock() as clock:
        pass
    RetryLoop(strategy(), clock=clock)


@closed
def loop_next() -> None:
    with RetryLoop(strategy()) as loop:
        pass
    loop.next(Outcome(503))


@closed
def an_object_that_was_never_made() -> None:
    RetryLoop.__new__(RetryLoop).next(Outcome(503))


def closed_clock() -> ManualClock:
    clock = ManualClock()
    clock.close()
    clock.close()
    return clock


CLOSED |= {
    "clock_advance": lambda: closed_clock().advance(1),
    "clock_suspend": lambda: closed_clock().suspend(1),
    "clock_set_wall": lambda: closed_clock().set_wall(1),
    "clock_monotonic": lambda: closed_clock().monotonic(),
    "clock_boottime": lambda: closed_clock().boottime(),
    "clock_wall": lambda: closed_clock().wall(),
    "clock_sleep": lambda: closed_clock().sleep(0),
    "clock_wait_for_timer": lambda: closed_clock().wait_for_timer(0),
}


@pytest.mark.parametrize("name", CLOSED)
def test_what_was_closed_says_so(name: str) -> None:
    with pytest.raises(ClosedError, match="is closed"):
        CLOSED[name]()


def test_the_end_of_with_does_not_hide_an_exception() -> None:
    with pytest.raises(KeyError), RetryStrategy():
        raise KeyError


def test_b6_t5_arithmetic_out_of_range_is_refused() -> None:
    calls: list[Callable[[], float]] = [
        lambda: backoff_delay(-1),
        lambda: backoff_delay(1, 1.1),
        lambda: backoff_delay(1, retry_base_interval=-1),
        lambda: token_delay(0),
        lambda: token_delay(1, -0.1),
        lambda: token_delay(1, policy=boxretry.TokenRetryPolicy(maximum_attempts=0)),
        lambda: token_delay(1, policy=boxretry.TokenRetryPolicy(multiplier=0.5)),
    ]
    for call in calls:
        with pytest.raises(InvalidArgumentError):
            call()
