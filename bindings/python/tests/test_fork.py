"""os.fork(): what a child can do with its parent's objects, and with its own."""

from __future__ import annotations

import faulthandler
import gc
import os
import threading
import traceback
from typing import Callable

import pytest
from calls import decisions, strategy, waits

from boxretry import (
    CustomRetryStrategy,
    ForkedError,
    ManualClock,
    Outcome,
    RetryLoop,
    RetryStrategy,
    backoff_delay,
)

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


#: Seconds after which a child process hangs: far more than any of them needs on a busy machine.
PATIENCE = 300


def in_child(work: Callable[[], object]) -> None:
    """Does the work in a child process. Fails if the work raises or hangs."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(PATIENCE, exit=True, file=write_end)  # It hangs.
        try:
            work()
        except BaseException:
            os.write(write_end, traceback.format_exc().encode())
            os._exit(1)
        os._exit(0)
    os.close(write_end)
    with open(read_end) as what_it_raised:
        text = what_it_raised.read()
    assert text == ""
    assert os.waitpid(child, 0)[1] == 0


class Always(CustomRetryStrategy):
    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        return True


def test_a_check_of_the_tests_own() -> None:
    """An exception in a child is seen here."""

    def work() -> None:
        raise KeyError("of the child")

    with pytest.raises(AssertionError, match="of the child"):
        in_child(work)


def test_what_the_parent_made_is_refused_in_the_child() -> None:
    clock, decider, custom = ManualClock(), strategy(), Always()
    loop, custom_loop = RetryLoop(decider, clock=clock), RetryLoop(custom)
    calls: list[Callable[[], object]] = [
        lambda: decider.should_retry(Outcome(503), 1),
        lambda: decider.retry_after(Outcome(503), 1),
        lambda: RetryLoop(decider),
        lambda: RetryLoop(strategy(), clock=clock),
        lambda: loop.next(Outcome(503)),
        lambda: custom_loop.next(Outcome(503)),
        lambda: clock.advance(1),
        lambda: clock.suspend(1),
        lambda: clock.set_wall(1),
        clock.monotonic,
        clock.boottime,
        clock.wall,
        lambda: clock.sleep(0),
        lambda: clock.sleep(1),
        lambda: clock.wait_for_timer(),
    ]

    def work() -> None:
        for call in calls:
            with pytest.raises(ForkedError):
                call()

    in_child(work)
    assert loop.next(Outcome(503)).retry
    assert clock.monotonic() == 0


def test_what_the_parent_made_may_be_closed_and_dropped_in_the_child() -> None:
    owners = [ManualClock(), strategy(), RetryLoop(strategy()), RetryLoop(Always())]

    def work() -> None:
        for owner in owners[:2]:
            owner.close()
        owners.clear()
        gc.collect()

    in_child(work)
    assert len(owners) == 4


def test_what_the_child_makes_works() -> None:
    custom = Always()

    def work() -> None:
        assert waits(decisions([Outcome(503)])) == [2]
        assert decisions([Outcome(503)], custom)[0].retry
        assert backoff_delay(1) == 2
        with ManualClock() as clock:
            sleeper = threading.Thread(target=clock.sleep, args=(1,))
            sleeper.start()
            clock.wait_for_timer()
            clock.advance(1)
            sleeper.join()

    in_child(work)


def test_b6_a_child_draws_other_delays_than_its_parent() -> None:
    """Given loops without a seed, made in both after the fork."""
    read_end, write_end = os.pipe()

    def delays() -> list[float]:
        with RetryLoop(RetryStrategy()) as loop:
            return [loop.next(Outcome(503)).delay for _ in range(4)]

    in_child(lambda: os.write(write_end, repr(delays()).encode()))
    os.close(write_end)
    with open(read_end) as of_the_child:
        assert of_the_child.read() != repr(delays())


def test_a_fork_while_a_thread_holds_the_clock_s_lock() -> None:
    """The child does not wait for that thread, which does not exist in it."""
    clock = ManualClock()

    def work() -> None:
        with pytest.raises(ForkedError):
            clock.advance(1)
        with pytest.raises(ForkedError):
            clock.sleep(1)
        with pytest.raises(ForkedError):
            clock.wait_for_timer()
        clock.close()

    holds, may_let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with clock._changed:
            holds.set()
            may_let_go.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    holds.wait()
    try:
        in_child(work)
    finally:
        may_let_go.set()
        holder.join()


def test_a_fork_while_a_loop_decides() -> None:
    """The child does not wait for it."""

    class Forks(CustomRetryStrategy):
        def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            thread = threading.Thread(target=in_child, args=(use_in_child,))
            thread.start()
            thread.join()
            return True

    def use_in_child() -> None:
        with pytest.raises(Exception, match=r"deciding|fork"):
            loop.next(Outcome(503))
        loop.close()

    loop = RetryLoop(Forks())
    assert loop.next(Outcome(503)).retry
