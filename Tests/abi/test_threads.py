"""Several threads at once, as each section of the header allows. Real threads: ctypes lets others run during a call."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from custom import Custom
from isolated import LIMIT_SECONDS, isolated
from library import Library, address

THREADS = 8
ROUNDS = 2000


def in_threads(work: Callable[[int], None], count: int = THREADS) -> None:
    """Runs `work` in `count` threads, which begin together. What one raises fails the test."""
    sys.setswitchinterval(1e-6)  # they take turns as often as they can
    together = threading.Barrier(count)
    raised: list[BaseException] = []

    def run(number: int) -> None:
        try:
            together.wait()
            work(number)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


@isolated
def test_strategy_answers_many_threads_at_once() -> None:
    """Given one strategy and an outcome per thread, each thread gets the decision about its own."""
    library = Library()
    strategy = library.new("boxretry_strategy_new", None)

    def ask(number: int) -> None:
        name, value = ctypes.create_string_buffer(b"Retry-After"), ctypes.create_string_buffer(b"%d" % number)
        header = library.struct("boxretry_header", name=address(name), value=address(value))
        outcome = library.struct("boxretry_outcome", status=503, headers=address(header), header_count=1)
        decision = library.struct("boxretry_decision")
        for _ in range(ROUNDS):
            decision.delay = -1
            arguments = (strategy, address(outcome), 1, address(decision))
            assert library.call("boxretry_strategy_should_retry", *arguments) == "BOXRETRY_OK"
            assert decision.delay == number

    in_threads(ask)
    library.call("boxretry_strategy_free", strategy)


@isolated
def test_custom_strategy_is_asked_by_many_threads_at_once() -> None:
    custom = Custom()

    def ask(number: int) -> None:
        decision = custom.library.struct("boxretry_decision")
        for _ in range(ROUNDS // 10):
            arguments = (custom.strategy, address(custom.outcome), number, address(decision))
            assert custom.library.call("boxretry_strategy_should_retry", *arguments) == "BOXRETRY_OK"
            assert (decision.delay, decision.attempt_number) == (0.5, number)

    in_threads(ask)
    assert custom.called.count("should_retry") == custom.called.count("retry_after") == THREADS * (ROUNDS // 10)
    custom.free_both()
    assert custom.called.count("context_free") == 1


@isolated
def test_loops_of_many_threads_keep_their_strategy_alive() -> None:
    """Given loops in many threads, when the strategy is freed, then its context is freed once, with the last loop."""
    custom = Custom()
    custom.free_loop()
    all_made = threading.Barrier(THREADS)
    left: list[bool] = []

    def use(number: int) -> None:
        loops = [custom.library.new("boxretry_retry_loop_new", custom.strategy, None) for _ in range(ROUNDS // 10)]
        all_made.wait()
        if number == 0:
            custom.free_strategy()
        decision = custom.library.struct("boxretry_decision")
        for loop in loops:
            arguments = (loop, address(custom.outcome), address(decision))
            assert custom.library.call("boxretry_retry_loop_next", *arguments) == "BOXRETRY_OK"
            left.append("context_free" not in custom.called)
            custom.library.call("boxretry_retry_loop_free", loop)

    in_threads(use)
    assert all(left)
    assert custom.called.count("context_free") == 1


@isolated
def test_error_detail_is_each_threads_own() -> None:
    """Given threads that fail in different ways at once, each reads what was wrong with its own call."""
    library = Library()

    def fail(number: int) -> None:
        for _ in range(ROUNDS):
            library.call("boxretry_strategy_should_retry", None, None, 0, None)
            assert library.detail.startswith("strategy")
            library.call("boxretry_backoff_delay", None, -number - 1, 0.5, None)
            assert library.detail.startswith("attempt_number") and library.detail.endswith(f"(got -{number + 1})")

    in_threads(fail)


# The manual clock


def start(work: Callable[[], None]) -> threading.Thread:
    """Starts a thread whose work is one call that blocks, and returns once it is blocked in it."""
    sys.setswitchinterval(LIMIT_SECONDS)  # so that it keeps its turn from here on until it is in the call
    entered: list[bool] = []

    def run() -> None:
        entered.append(True)
        work()

    thread = threading.Thread(target=run)
    thread.start()
    stat = Path(f"/proc/self/task/{thread.native_id}/stat")
    while not entered or stat.read_text().rpartition(")")[2].split()[0] != "S":
        os.sched_yield()
    return thread


@isolated
def test_sleepers_wake_when_their_time_has_come() -> None:
    """Given threads that sleep for 1 s, 2 s and so on, when the clock advances by 1 s at a time, none wakes early."""
    library = Library()
    clock = library.new("boxretry_clock_new_manual")
    woke: dict[int, float] = {}

    def sleep(number: int) -> None:
        assert library.call("boxretry_clock_sleep", clock, number + 1) == "BOXRETRY_OK"
        now = ctypes.c_double()
        assert library.call("boxretry_clock_now", clock, 0, address(now)) == "BOXRETRY_OK"
        woke[number] = now.value

    def resume() -> None:
        while len(woke) < THREADS:
            if library.call("boxretry_clock_wait_for_timer", clock, 1) == "BOXRETRY_OK":
                assert library.call("boxretry_clock_advance", clock, 1) == "BOXRETRY_OK"

    in_threads(lambda number: sleep(number) if number < THREADS else resume(), THREADS + 1)
    assert all(time >= number + 1 for number, time in woke.items())


@isolated
def test_sleeper_does_not_wake_early() -> None:
    library = Library()
    clock = library.new("boxretry_clock_new_manual")
    answers: list[Any] = []
    sleeper = start(lambda: answers.append(library.call("boxretry_clock_sleep", clock, 10)))
    library.call("boxretry_clock_advance", clock, 9.999)
    assert library.call("boxretry_clock_wait_for_timer", clock, 0) == "BOXRETRY_OK", "it waits no more"
    assert answers == []
    library.call("boxretry_clock_advance", clock, 0.001)
    sleeper.join()
    assert answers == ["BOXRETRY_OK"]
    assert library.call("boxretry_clock_wait_for_timer", clock, 0) == "BOXRETRY_ERROR_WAIT_TIMEOUT"


@isolated
def test_wait_for_timer_ends_when_somebody_sleeps() -> None:
    """Given threads that wait for a timer without limit, when another one sleeps, then they all continue."""
    library = Library()
    clock = library.new("boxretry_clock_new_manual")
    answers: list[Any] = []
    for_ever = int(library.header.constants["BOXRETRY_NO_TIMEOUT"])

    def wait() -> None:
        answers.append(library.call("boxretry_clock_wait_for_timer", clock, for_ever))

    waiters = [start(wait) for _ in range(THREADS)]
    sleeper = start(lambda: answers.append(library.call("boxretry_clock_sleep", clock, 1)))
    for waiter in waiters:
        waiter.join()
    assert answers == ["BOXRETRY_OK"] * THREADS
    library.call("boxretry_clock_advance", clock, 1)
    sleeper.join()


@pytest.mark.parametrize(
    "name, argument",
    [("boxretry_clock_sleep", 1), ("boxretry_clock_wait_for_timer", 2**63 - 1)],
    ids=["sleep", "wait_for_timer"],
)
@isolated
def test_free_ends_all_that_wait_on_the_clock(name: str, argument: float) -> None:
    library = Library()
    clock = library.new("boxretry_clock_new_manual")
    answers: list[Any] = []

    def wait() -> None:
        answers.append((library.call(name, clock, argument), library.detail))

    waiters = [start(wait) for _ in range(THREADS)]
    library.call("boxretry_clock_free", clock)
    for waiter in waiters:
        waiter.join()
    assert [answer for answer, _ in answers] == ["BOXRETRY_ERROR_CLOSED"] * THREADS
    assert all(detail for _, detail in answers)


@isolated
def test_loop_keeps_its_clock_when_the_clock_is_freed() -> None:
    """Given a loop that has retained its clock, when the clock is freed, then the loop works."""
    library = Library()
    clock, strategy = library.new("boxretry_clock_new_manual"), library.new("boxretry_strategy_new", None)
    options = library.struct("boxretry_loop_options", clock=clock, deadline_ms=10**6)
    loop = library.new("boxretry_retry_loop_new", strategy, address(options))
    library.call("boxretry_strategy_free", strategy)
    library.call("boxretry_clock_free", clock)
    outcome, decision = library.struct("boxretry_outcome", status=500), library.struct("boxretry_decision")
    answer = library.call("boxretry_retry_loop_next", loop, address(outcome), address(decision))
    assert (answer, decision.action) == ("BOXRETRY_OK", 1)
    library.call("boxretry_retry_loop_free", loop)


@isolated
def test_clock_is_moved_by_many_threads_at_once() -> None:
    """Given threads that all move it, no step is lost."""
    library = Library()
    clock = library.new("boxretry_clock_new_manual")

    def move(number: int) -> None:
        for _ in range(ROUNDS):
            assert library.call("boxretry_clock_advance", clock, 0.5) == "BOXRETRY_OK"
            assert library.call("boxretry_clock_suspend", clock, 1) == "BOXRETRY_OK"

    in_threads(move)
    times = [ctypes.c_double() for _ in range(3)]
    for timeline, time in enumerate(times):
        assert library.call("boxretry_clock_now", clock, timeline, address(time)) == "BOXRETRY_OK"
    steps = THREADS * ROUNDS
    assert [time.value for time in times] == [0.5 * steps, 1.5 * steps, 1.5 * steps]
