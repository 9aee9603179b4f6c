"""Ownership and lifetimes: closing, collecting, threads, and what is left behind."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any, Callable

import pytest
from calls import response, strategy
from memory import footprint
from paths import PACKAGE
from threads import run_in_threads

from boxretry import (
    BoxRetryError,
    ClosedError,
    CustomRetryStrategy,
    InCallbackError,
    ManualClock,
    Outcome,
    Request,
    RetryLoop,
    RetryStrategy,
)
from boxretry._c import _abi
from boxretry._c.handle import HandleOwner


class Freed:
    """The pointers that were freed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, function: str) -> None:
        self.pointers: list[int] = []
        free = getattr(_abi, function)

        def free_and_remember(pointer: int) -> None:
            self.pointers.append(pointer)
            free(pointer)

        monkeypatch.setattr(_abi, function, free_and_remember)


KINDS: dict[str, Callable[[], HandleOwner]] = {
    "boxretry_strategy_free": RetryStrategy,
    "boxretry_retry_loop_free": lambda: RetryLoop(RetryStrategy()),
    "boxretry_clock_free": ManualClock,
}


@pytest.mark.parametrize("function", KINDS)
@pytest.mark.parametrize("how", ["close", "close twice", "with", "dropped", "collected"])
def test_a_handle_is_freed_once(function: str, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    freed = Freed(monkeypatch, function)
    owner: Any = KINDS[function]()
    pointer = owner._handle.pointer
    assert pointer not in freed.pointers

    if how.startswith("close"):
        owner.close()
    if how == "close twice":
        owner.close()
    if how == "with":
        with owner:
            pass
    if how == "collected":
        owner.refers_to_itself = owner
    del owner
    gc.collect()

    assert freed.pointers.count(pointer) == 1


def test_a_call_keeps_its_handle_until_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a loop that another thread closes while it decides, then it is freed after the decision."""
    freed = Freed(monkeypatch, "boxretry_retry_loop_free")
    freed_meanwhile: list[int] = []

    class ClosedMeanwhile(CustomRetryStrategy):
        def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            closer = threading.Thread(target=loop.close)
            closer.start()
            closer.join()
            freed_meanwhile.extend(freed.pointers)
            return True

    loop = RetryLoop(ClosedMeanwhile())
    assert loop.next(response(503, "7")).delay == 7
    assert freed_meanwhile == []
    assert len(freed.pointers) == 1
    with pytest.raises(ClosedError):
        loop.next(Outcome(503))


def test_a_loop_keeps_a_strategy_that_was_closed() -> None:
    decider = strategy()
    loop = RetryLoop(decider)
    decider.close()
    assert loop.next(Outcome(503)).delay == 2


def test_texts_live_until_the_library_has_read_them() -> None:
    """Given texts whose bytes no other object keeps, and a garbage collector that runs all the time."""
    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        decider = RetryStrategy(
            retry_randomization_factor=0, delay_headers={"-".join(["x", str(number)]): 1 for number in range(16)}
        )
        with RetryLoop(decider) as loop:
            for number in range(4):
                headers = (("-".join(["X", str(line)]), str(line)[::-1]) for line in range(100, -1, -1))
                outcome = Outcome(503, headers=headers, request=Request("".join(["PO", "ST"]), "".join(["a", "b"])))
                assert loop.next(outcome).delay == 0, number
    finally:
        gc.set_threshold(*threshold)


class Always(CustomRetryStrategy):
    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        return True

    def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        return 1


class AlwaysFails(CustomRetryStrategy):
    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        raise KeyError


def decide_all_the_time() -> Callable[[], object]:
    outcome = Outcome(503, headers=[("Retry-After", "7"), ("X", "y")], request=Request("POST", "u", body=b"b"))
    loop = RetryLoop(strategy(max_attempts=1000000), max_total_attempts=1000000)
    return lambda: loop.next(outcome)


def decide_with_a_custom_strategy() -> Callable[[], object]:
    outcome = Outcome(503, headers=[("Retry-After", "7")], request=Request(user_data="data"))
    loop = RetryLoop(Always(), max_total_attempts=1000000)
    return lambda: loop.next(outcome)


def make_and_close() -> Callable[[], object]:
    def use() -> None:
        with ManualClock() as clock, strategy() as decider, RetryLoop(decider, clock=clock) as loop:
            loop.next(Outcome(404))

    return use


def fail() -> Callable[[], object]:
    def use() -> None:
        with pytest.raises(KeyError):
            RetryLoop(AlwaysFails()).next(Outcome(503))
        with pytest.raises(BoxRetryError):
            RetryStrategy(max_attempts=-1)

    return use


@pytest.mark.parametrize(
    ("make", "count"),
    [(decide_all_the_time, 100_000), (decide_with_a_custom_strategy, 20_000), (make_and_close, 5_000), (fail, 2_000)],
)
def test_nothing_is_left_behind(make: Callable[[], Callable[[], object]], count: int) -> None:
    """Neither objects, nor blocks of Python's memory, nor memory of C's heap."""
    use = make()

    for _ in range(count // 10):
        use()
    before = footprint()
    for _ in range(count):
        use()
    growth = footprint().growth(before)

    assert growth.objects < 10
    assert growth.blocks < 100
    assert growth.heap < count  # One byte for each use would be more.


def test_several_threads_may_use_one_strategy() -> None:
    decider = strategy()
    outcomes = [response(503, str(number)) for number in range(8)]
    wrong: list[object] = []

    def work(number: int) -> None:
        for _ in range(2000):
            decision = decider.should_retry(outcomes[number], 1)
            if (decision.delay, decider.retry_after(outcomes[number], 1)) != (number, number):
                wrong.append(decision)

    run_in_threads(work, 8)
    assert wrong == []


def test_several_threads_may_each_have_a_loop() -> None:
    decider = strategy(max_attempts=1000000)
    wrong: list[object] = []

    def work(number: int) -> None:
        with RetryLoop(decider, max_total_attempts=1000000) as loop:
            for attempt_number in range(1, 2001):
                decision = loop.next(response(503, str(number)))
                if (decision.delay, decision.attempt_number) != (number, attempt_number):
                    wrong.append(decision)

    run_in_threads(work, 8)
    assert wrong == []


def test_threads_that_fight_over_one_loop_get_decisions_or_errors() -> None:
    """Not a supported use; but no attempt is lost, none is mixed up, and nothing crashes, even while it is closed."""
    loop = RetryLoop(Always(), max_total_attempts=1000000)
    numbers: list[int] = []

    def work(number: int) -> None:
        outcome = Outcome(503, headers=[("X", str(number))] * number)
        for _ in range(1000):
            with suppress(InCallbackError):
                numbers.append(loop.next(outcome).attempt_number)

    run_in_threads(work, 4)
    assert sorted(numbers) == list(range(1, len(numbers) + 1))

    def use_until_closed() -> None:
        while True:
            with suppress(InCallbackError):
                loop.next(Outcome(503))

    def close_or_use(number: int) -> None:
        if number == 0:
            loop.close()
        else:
            with pytest.raises(ClosedError):
                use_until_closed()

    run_in_threads(close_or_use, 4)


def output_of_program(text: str) -> tuple[int, bytes, bytes]:
    """How a Python program exits, and its output."""
    environment = {**os.environ, "PYTHONPATH": f"{PACKAGE}/src"}
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, timeout=60, env=environment)
    return ran.returncode, ran.stdout, ran.stderr


def test_nothing_is_freed_at_exit() -> None:
    """Daemon threads may still be running then."""
    program = """
from boxretry import *
from boxretry._c import _abi
for name in ("strategy", "retry_loop", "clock"):
    setattr(_abi, f"boxretry_{name}_free", lambda pointer, name=name: print("freed", name))
everything = [ManualClock(), RetryStrategy(), RetryLoop(RetryStrategy())]
everything.append(everything)
"""
    assert output_of_program(program) == (0, b"", b"")
    # Objects that are dropped before are freed, and the program prints it.
    status, printed, _ = output_of_program(program + "everything.clear()")
    assert status == 0
    assert sorted(printed.split()) == sorted(b"freed retry_loop freed strategy freed strategy freed clock".split())


def test_a_process_may_end_with_everything_open_and_threads_at_work() -> None:
    program = """
import threading
from boxretry import *

class Always(CustomRetryStrategy):
    def should_retry(self, outcome, attempt_number):
        return True
    def __del__(self):
        loops.clear()

clock, strategy, custom = ManualClock(), RetryStrategy(), Always()
loops = [RetryLoop(strategy, clock=clock), RetryLoop(custom, max_total_attempts=1000000)]

def work():
    loop = RetryLoop(Always(), max_total_attempts=1000000)
    while True:
        loop.next(Outcome(503))

threading.Thread(target=clock.sleep, args=[1], daemon=True).start()
threading.Thread(target=work, daemon=True).start()
clock.wait_for_timer()
loops.append(loops)
"""
    assert output_of_program(program) == (0, b"", b"")
