"""ManualClock: a clock that only moves when told to."""

from __future__ import annotations

import inspect
import signal
import threading
import traceback
import weakref
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import FrameType, FunctionType
from typing import Any, Callable

import pytest

from boxretry import ClosedError, InvalidArgumentError, ManualClock, Outcome, RetryLoop, RetryStrategy, WaitTimeoutError


@pytest.fixture
def clock() -> Iterator[ManualClock]:
    with ManualClock() as clock:
        yield clock


@pytest.fixture
def in_thread(clock: ManualClock) -> Iterator[Callable[..., Future[Any]]]:
    """Runs a call in a separate thread; waits on the clock end with the test."""
    with ThreadPoolExecutor(16) as threads:
        yield threads.submit
        clock.close()


def test_its_timelines_begin_at_0(clock: ManualClock) -> None:
    assert (clock.monotonic(), clock.boottime(), clock.wall()) == (0, 0, 0)


def test_advance_moves_all_timelines(clock: ManualClock) -> None:
    clock.advance(1.5)
    clock.advance(1)
    assert (clock.monotonic(), clock.boottime(), clock.wall()) == (2.5, 2.5, 2.5)


def test_m6_suspend_leaves_the_monotonic_timeline_alone(clock: ManualClock) -> None:
    clock.advance(1)
    clock.suspend(5)
    assert (clock.monotonic(), clock.boottime(), clock.wall()) == (1, 6, 6)


def test_set_wall_sets_the_wall_clock_alone(clock: ManualClock) -> None:
    clock.advance(1)
    clock.set_wall(1445412450)
    assert (clock.monotonic(), clock.boottime(), clock.wall()) == (1, 1, 1445412450)
    clock.set_wall(-62135596800)
    clock.set_wall(253402300799)


@pytest.mark.parametrize("seconds", [-1, -1e-9, 2**31, float("nan"), float("inf"), 10**400])
def test_seconds_that_are_no_delay_are_refused(seconds: float, clock: ManualClock) -> None:
    for method in (clock.advance, clock.suspend, clock.sleep):
        with pytest.raises(InvalidArgumentError, match="seconds"):
            method(seconds)
    assert (clock.monotonic(), clock.boottime()) == (0, 0)


def test_it_goes_no_further_than_2_to_the_32_seconds(clock: ManualClock) -> None:
    clock.advance(2**31 - 1)
    clock.advance(2**31 - 1)
    clock.advance(2)
    with pytest.raises(InvalidArgumentError, match="seconds"):
        clock.advance(1)
    assert clock.monotonic() == 2**32


@pytest.mark.parametrize("unix_time", [float("nan"), -62135596801, 253402300800, float("inf")])
def test_a_wall_clock_outside_the_years_1_to_9999_is_refused(unix_time: float, clock: ManualClock) -> None:
    with pytest.raises(InvalidArgumentError, match="unix_time"):
        clock.set_wall(unix_time)


def test_a_sleep_ends_when_its_time_has_come(clock: ManualClock, in_thread: Callable[..., Future[None]]) -> None:
    sleeper = in_thread(clock.sleep, 10)
    clock.wait_for_timer()

    clock.advance(9.999)
    clock.suspend(100)
    assert not sleeper.done()
    clock.wait_for_timer(0)

    clock.advance(0.001)
    sleeper.result()
    with pytest.raises(WaitTimeoutError):
        clock.wait_for_timer(0)


def test_sleeps_end_in_the_order_of_their_times(clock: ManualClock, in_thread: Callable[..., Future[None]]) -> None:
    ended: list[int] = []

    def sleep(seconds: int) -> None:
        clock.sleep(seconds)
        ended.append(seconds)

    sleepers = {}
    for seconds in (3, 1, 2):
        sleepers[seconds] = in_thread(sleep, seconds)
    while len(clock._sleepers) < 3:  # There is no public way to wait for three sleepers.
        clock.wait_for_timer()

    for seconds in (1, 2, 3):
        clock.advance(1)
        sleepers[seconds].result()
    assert ended == [1, 2, 3]


@pytest.mark.parametrize("seconds", [0.1, 1.001, 0.07, 4.35])
def test_a_sleep_of_several_steps_ends_with_the_last(
    seconds: float, clock: ManualClock, in_thread: Callable[..., Future[None]]
) -> None:
    """No step is lost to rounding."""
    clock.advance(2**31 - 1)
    sleeper = in_thread(clock.sleep, 3 * seconds)
    clock.wait_for_timer()
    clock.advance(seconds)
    clock.advance(seconds)
    assert not sleeper.done()
    clock.advance(seconds)
    sleeper.result()


def test_a_sleep_of_0_ends_at_once(clock: ManualClock) -> None:
    clock.sleep(0)


def test_close_ends_sleeps_and_waits(clock: ManualClock, in_thread: Callable[..., Future[None]]) -> None:
    sleeper = in_thread(clock.sleep, 10)
    clock.wait_for_timer()
    clock.close()
    with pytest.raises(ClosedError):
        sleeper.result()


def test_close_ends_a_wait_for_a_timer(clock: ManualClock, in_thread: Callable[..., Future[None]]) -> None:
    waiter = in_thread(clock.wait_for_timer)
    clock.close()
    with pytest.raises(ClosedError):
        waiter.result()


def helper_of(clock: ManualClock) -> threading.Thread:
    """The thread that waits in the library for a sleep, as after `auto_advance` was on for a moment, without a jump."""
    with clock._changed:
        clock._sleep_in_library(clock._usable_handle(), clock._sleepers[0])
    (helper,) = [thread for thread in threading.enumerate() if thread.name == "boxretry.ManualClock"]
    return helper


def test_close_ends_the_threads_that_wait_in_the_library(
    clock: ManualClock, in_thread: Callable[..., Future[None]]
) -> None:
    sleeper = in_thread(clock.sleep, 1000)
    clock.wait_for_timer()
    helper = helper_of(clock)
    clock.close()
    with pytest.raises(ClosedError):
        sleeper.result()
    helper.join(60)
    assert not helper.is_alive()


def test_close_ends_a_sleep_before_its_time_also_if_its_thread_in_the_library_ends_first(
    clock: ManualClock, in_thread: Callable[..., Future[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeper = in_thread(clock.sleep, 1000)
    clock.wait_for_timer()
    helper, wake = helper_of(clock), clock._changed.notify_all
    monkeypatch.setattr(clock._changed, "notify_all", lambda: None)
    clock.close()
    helper.join(60)
    assert not helper.is_alive()
    with clock._changed:
        wake()
    with pytest.raises(ClosedError):
        sleeper.result()


def test_a_closed_clock_stands_still_while_it_is_used(
    clock: ManualClock, in_thread: Callable[..., Future[None]]
) -> None:
    """The threads that wait in the library end with its last user."""
    loop = RetryLoop(RetryStrategy(retry_randomization_factor=0), clock=clock, deadline=5)
    handle = weakref.ref(clock._open_handle())
    sleeper = in_thread(clock.sleep, 1000)
    clock.wait_for_timer()
    helper = helper_of(clock)
    clock.close()
    with pytest.raises(ClosedError):
        sleeper.result()
    assert handle() is not None
    assert helper.is_alive()
    assert loop.next(Outcome(503)).delay == 2
    loop.close()
    assert handle() is None
    helper.join(60)
    assert not helper.is_alive()


def test_close_while_many_sleep_and_advance(clock: ManualClock, in_thread: Callable[..., Future[None]]) -> None:
    """A thread that is about to wait, or in the middle of a call, gets an error; nothing that it uses is freed."""

    def work() -> None:
        while True:
            clock.advance(0.5)
            clock.sleep(0.25)
            clock.wall()

    workers = [in_thread(work) for _ in range(8)]
    clock.wait_for_timer()
    clock.close()
    for worker in workers:
        with pytest.raises(ClosedError):
            worker.result()


@pytest.mark.parametrize("timeout", [0, 0.001, 0.0])
def test_a_wait_for_a_timer_that_does_not_come_times_out(timeout: float, clock: ManualClock) -> None:
    with pytest.raises(WaitTimeoutError) as raised:
        clock.wait_for_timer(timeout)
    assert isinstance(raised.value, TimeoutError)


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("-inf")])
def test_a_timeout_that_is_none_is_refused(timeout: float, clock: ManualClock) -> None:
    with pytest.raises(InvalidArgumentError, match="timeout"):
        clock.wait_for_timer(timeout)


@pytest.mark.parametrize("timeout", [None, 1e300, float("inf"), 3600])
def test_a_wait_for_a_timer_ends_when_someone_sleeps(
    timeout: float | None, clock: ManualClock, in_thread: Callable[..., Future[None]]
) -> None:
    waiter = in_thread(clock.wait_for_timer, timeout)
    in_thread(clock.sleep, 1)
    waiter.result()


@pytest.mark.parametrize("wait", [lambda clock: clock.sleep(10), lambda clock: clock.wait_for_timer()])
def test_k1_ctrl_c_ends_a_wait(wait: FunctionType, clock: ManualClock, in_thread: Callable[..., Future[None]]) -> None:
    """When a signal comes while the main thread waits, then an exception of the signal's handler ends the wait."""
    lines, first_line = inspect.getsourcelines(threading.Condition.wait)
    waits_from = first_line + [line.strip().partition(" ")[0] for line in lines].index("try:")
    was_interrupted = False

    def interrupt(_: int, frame: FrameType | None) -> None:
        nonlocal was_interrupted
        assert frame
        is_waiting = frame.f_code is threading.Condition.wait.__code__ and frame.f_lineno > waits_from
        is_in_the_clock = wait.__code__ in [each.f_code for each, _ in traceback.walk_stack(frame)]
        if is_waiting and is_in_the_clock and not was_interrupted:
            was_interrupted = True
            raise KeyboardInterrupt

    def send_signals() -> None:
        while not was_interrupted:  # A signal that comes before the wait does not end it.
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    handler = signal.signal(signal.SIGINT, interrupt)
    try:
        sender = in_thread(send_signals)
        with pytest.raises(KeyboardInterrupt):
            wait(clock)
        sender.result()
    finally:
        signal.signal(signal.SIGINT, handler)

    with pytest.raises(WaitTimeoutError):
        clock.wait_for_timer(0)
    clock.advance(1)


def test_a_loop_keeps_a_clock_that_was_closed() -> None:
    clock = ManualClock()
    loop = RetryLoop(RetryStrategy(retry_randomization_factor=0), clock=clock, deadline=5)
    clock.close()
    assert loop.next(Outcome(503)).delay == 2


def test_b11_the_deadline_counts_on_boottime(clock: ManualClock) -> None:
    clock.advance(100)
    with RetryLoop(RetryStrategy(retry_randomization_factor=0), clock=clock, deadline=10) as loop:
        assert loop.next(Outcome(503)).retry
        clock.suspend(6)
        assert not loop.next(Outcome(503)).retry
