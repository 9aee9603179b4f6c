"""CustomRetryStrategy (B9): its arguments, its possible answers, and what happens to its exceptions."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import traceback
import weakref
from fractions import Fraction
from types import FrameType
from typing import Any, Callable

import pytest
from calls import decisions, response, waits
from threads import run_in_threads

from boxretry import (
    Action,
    CallbackFailedError,
    Cause,
    CustomRetryStrategy,
    DelaySource,
    EndedError,
    InCallbackError,
    ManualClock,
    Outcome,
    Reason,
    Request,
    RequestSent,
    RetryLoop,
    RetrySafety,
    RetryStrategy,
)
from boxretry._c import _abi


class Answers(CustomRetryStrategy):
    """Returns a function's result; records its arguments."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer
        self.told: list[tuple[Outcome, int]] = []

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool | Action:
        self.told.append((outcome, attempt_number))
        answer: bool | Action = self.answer()
        return answer


class Waits(CustomRetryStrategy):
    """Always retries, after the delay that a function returns; records its arguments."""

    def __init__(self, delay: Callable[[], Any]) -> None:
        self.delay = delay
        self.told: list[tuple[Outcome, int]] = []

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        return True

    def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        self.told.append((outcome, attempt_number))
        delay: float = self.delay()
        return delay


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        (True, Action.RETRY),
        (False, Action.STOP),
        (Action.RETRY, Action.RETRY),
        (Action.STOP, Action.STOP),
        (Action.REFRESH_TOKEN_AND_RETRY, Action.REFRESH_TOKEN_AND_RETRY),
    ],
)
def test_it_answers_with_a_bool_or_an_action(answer: bool | Action, action: Action) -> None:
    (decision,) = decisions([Outcome(404)], Answers(lambda: answer))
    assert decision.action is action
    assert decision.reason is Reason.CUSTOM


def test_it_sees_successes_too() -> None:
    """A success that it does not retry counts as one."""
    decided = decisions([Outcome(204), Outcome(204)], Answers(iter([True, False]).__next__))
    assert [each.action for each in decided] == [Action.RETRY, Action.SUCCEED]


def test_it_is_told_all_about_the_outcome() -> None:
    """The request is the same object that was passed, and headers are returned unchanged."""
    request = Request(
        "PUT", "https://example.com/é", [("A", "b")], b"a\0b", RetrySafety.SAFE, user_data={"anything": 1}
    )
    outcome = Outcome(
        status=502,
        cause=Cause.RECEIVE,
        headers=[("Name", "wört"), ("name", ""), (b"Bytes", b"\xff\x80")],
        auth_available=True,
        request_sent=RequestSent.SOME,
        request=request,
        body_replayable=False,
    )
    strategy = Answers(lambda: False)

    decisions([outcome], strategy)

    ((told, attempt_number),) = strategy.told
    assert attempt_number == 1
    assert told.request is request
    assert told.headers == [("Name", "wört"), ("name", ""), ("Bytes", "\udcff\udc80")]
    told.headers = outcome.headers
    assert told == outcome


def test_what_it_is_told_may_be_told_to_another() -> None:
    inner = RetryStrategy(retry_randomization_factor=0)

    class Delegates(CustomRetryStrategy):
        def should_retry(self, outcome: Outcome, attempt_number: int) -> Action:
            return inner.should_retry(outcome, attempt_number).action

        def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
            return inner.retry_after(outcome, attempt_number) + 0.5

    outcomes = [Outcome(503, headers=[(b"\xff", b"\xff"), ("Retry-After", "7")], request=Request()), Outcome(500)]
    assert waits(decisions(outcomes, Delegates())) == [7.5, 4.5]


def test_it_is_told_that_auth_is_available_if_the_loop_says_so() -> None:
    strategy = Answers(lambda: False)
    decisions([Outcome(401)], strategy, auth_available=True)
    assert strategy.told[0][0].auth_available


def test_b4_it_is_told_the_number_of_the_exception_or_of_the_attempt() -> None:
    strategy = Answers(lambda: True)
    exception = Outcome(cause=Cause.CONNECT)
    decisions([Outcome(503), exception, exception, Outcome(503)], strategy)
    assert [number for _, number in strategy.told] == [1, 1, 2, 4]


@pytest.mark.parametrize(
    ("delay", "waited"),
    [
        (1.5, 1.5),
        (3, 3),
        (0, 0),
        (-1, 0),
        (float("nan"), 0),
        (float("inf"), 2**31 - 1),
        (1e300, 2**31 - 1),
        (10**400, 2**31 - 1),
        (-(10**400), 0),
        (Fraction(10**400, 3), 2**31 - 1),
    ],
)
def test_its_delay_is_kept_in_the_range_of_delays(delay: Any, waited: float) -> None:
    (decision,) = decisions([Outcome(503)], Waits(lambda: delay))
    assert (decision.delay, decision.delay_source) == (waited, DelaySource.CUSTOM)


def test_it_is_asked_for_a_delay_only_if_there_is_a_retry() -> None:
    strategy = Waits(lambda: 1)
    decisions([Outcome(503, body_replayable=False)], strategy)
    decisions([Outcome(503)], strategy, max_total_attempts=1)
    assert strategy.told == []
    decisions([response(503, "7")], strategy)
    ((told, attempt_number),) = strategy.told
    assert (told.status, told.headers, attempt_number) == (503, [("Retry-After", "7")], 1)


def test_without_a_delay_of_its_own_it_has_that_of_box_s_strategy() -> None:
    strategy = Answers(lambda: True)

    first, second = decisions([response(404, "7"), Outcome(404)], strategy)

    assert (first.delay, first.delay_source) == (7, DelaySource.RETRY_AFTER)
    assert second.delay_source is DelaySource.BACKOFF
    assert 2 <= second.delay <= 6


def test_its_delay_may_build_on_that_of_box_s_strategy() -> None:
    class AtMostTen(CustomRetryStrategy):
        def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            return True

        def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
            return min(10, super().retry_after(outcome, attempt_number))

    assert waits(decisions([response(503, "7"), response(503, "70")], AtMostTen())) == [7, 10]


class OfThisTestError(Exception):
    pass


def fail_with(exception: BaseException) -> Callable[[], Any]:
    def fails() -> Any:
        raise exception

    return fails


@pytest.mark.parametrize("kind", [Answers, Waits])
@pytest.mark.parametrize(
    "exception", [OfThisTestError("why"), KeyboardInterrupt(), SystemExit(3), StopIteration(), GeneratorExit()]
)
def test_what_it_raises_comes_out_where_the_call_was_made(
    kind: type[Answers] | type[Waits], exception: BaseException
) -> None:
    """With its traceback; the loop has ended."""
    loop = RetryLoop(kind(fail_with(exception)))

    with pytest.raises(type(exception)) as raised:
        loop.next(Outcome(503))

    assert raised.value is exception
    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert names[0] == "test_what_it_raises_comes_out_where_the_call_was_made"
    assert names[-1] == "fails"
    with pytest.raises(EndedError):
        loop.next(Outcome(503))


@pytest.mark.parametrize("kind", [Answers, Waits])
def test_ctrl_c_in_it_comes_out_where_the_call_was_made(kind: type[Answers] | type[Waits]) -> None:
    """Given a real signal, whose handler runs inside the strategy."""
    loop = RetryLoop(kind(lambda: signal.raise_signal(signal.SIGINT)))
    with pytest.raises(KeyboardInterrupt):
        loop.next(Outcome(503))


@pytest.mark.parametrize("callback", ["_should_retry", "_retry_after"])
def test_f81_ctrl_c_just_before_a_callback(callback: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a real signal, whose handler runs before the callback's first line, which cannot catch what it raises."""
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    hook = sys.unraisablehook

    def profile(frame: FrameType, what: str, _: object) -> None:
        if what == "call" and frame.f_code.co_name == callback:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    loop = RetryLoop(Waits(lambda: 0.25))
    sys.setprofile(profile)
    try:
        with pytest.raises(KeyboardInterrupt) as raised:
            loop.next(Outcome(503))
    finally:
        sys.setprofile(None)

    assert raised.value.__context__ is None
    assert not told
    assert sys.unraisablehook is hook
    monkeypatch.undo()
    assert decisions([Outcome(503)], Waits(lambda: 0.25))[0].delay == 0.25


def test_what_it_raised_is_not_raised_again() -> None:
    with pytest.raises(OfThisTestError):
        decisions([Outcome(503)], Answers(fail_with(OfThisTestError())))
    assert decisions([Outcome(503)], Answers(lambda: False))[0].action is Action.STOP


def test_what_an_inner_call_raises_may_be_caught_in_the_outer_strategy() -> None:
    class CatchesTheInnerOne(CustomRetryStrategy):
        def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            with pytest.raises(OfThisTestError):
                decisions([outcome], Answers(fail_with(OfThisTestError())))
            return True

    assert decisions([Outcome(503)], CatchesTheInnerOne())[0].action is Action.RETRY


def test_what_an_inner_call_raises_comes_out_of_the_outer_one() -> None:
    exception = OfThisTestError()
    outer = Answers(lambda: decisions([Outcome(503)], Answers(fail_with(exception))))
    with pytest.raises(OfThisTestError) as raised:
        decisions([Outcome(503)], outer)
    assert raised.value is exception


@pytest.mark.parametrize("answer", [None, 1, 0, "yes", 1.0, Reason.CUSTOM, object()])
def test_an_answer_of_another_type_is_a_type_error(answer: object) -> None:
    with pytest.raises(TypeError, match=r"should_retry\(\) must return a bool or an Action"):
        decisions([Outcome(503)], Answers(lambda: answer))


@pytest.mark.parametrize("answer", [Action.SUCCEED, Action(-1), Action(4), Action(2**31 - 1)])
def test_an_action_that_is_no_answer_is_a_failure(answer: Action) -> None:
    with pytest.raises(CallbackFailedError, match="should_retry"):
        decisions([Outcome(503)], Answers(lambda: answer))


def test_an_action_far_out_of_range_is_not_cut() -> None:
    """2^32 + 1 must not be read as RETRY."""
    with pytest.raises(ValueError, match="should_retry"):
        decisions([Outcome(503)], Answers(lambda: Action(2**32 + 1)))


@pytest.mark.parametrize("delay", [None, "1", b"1", [], object(), 1j])
def test_a_delay_that_is_no_number_is_a_type_error(delay: object) -> None:
    with pytest.raises(TypeError, match=r"retry_after\(\)"):
        decisions([Outcome(503)], Waits(lambda: delay))


def test_a_strategy_needs_a_should_retry() -> None:
    abstract: Any = CustomRetryStrategy
    with pytest.raises(TypeError):
        abstract()


def test_its_own_loop_cannot_be_asked_inside_it() -> None:
    loop: RetryLoop

    def asks_its_own_loop() -> bool:
        with pytest.raises(InCallbackError):
            loop.next(Outcome(200, headers=[("X", "y")] * 50))
        return True

    loop = RetryLoop(Answers(asks_its_own_loop))
    assert loop.next(response(503, "7")).delay == 7


def test_a_loop_in_use_cannot_be_asked_by_another_thread() -> None:
    refused: list[InCallbackError] = []

    def another_thread_asks() -> bool:
        def ask() -> None:
            with pytest.raises(InCallbackError) as raised:
                loop.next(Outcome(200))
            refused.append(raised.value)

        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        return True

    loop = RetryLoop(Answers(another_thread_asks))
    assert loop.next(response(503, "7")).delay == 7
    assert "another thread" in str(refused[0])


def test_nothing_that_waits_is_allowed_inside_it() -> None:
    def waits_inside() -> bool:
        with pytest.raises(InCallbackError):
            clock.sleep(0)
        with pytest.raises(InCallbackError):
            clock.sleep(1)
        with pytest.raises(InCallbackError):
            clock.wait_for_timer(0)
        clock.advance(1)
        return True

    with ManualClock() as clock:
        assert decisions([Outcome(503)], Answers(waits_inside))[0].retry
        assert clock.monotonic() == 1


def test_the_loop_may_be_closed_inside_its_own_strategy() -> None:
    """Given a strategy that only its loop keeps, then both live until the call has ended."""
    freed: list[bool] = []

    class ClosesItsLoop(CustomRetryStrategy):
        def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            loop.close()
            gc.collect()
            return True

        def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
            gc.collect()
            assert not freed
            return 3

    strategy = ClosesItsLoop()
    weakref.finalize(strategy, freed.append, True)
    loop = RetryLoop(strategy)
    del strategy

    assert loop.next(Outcome(503)).delay == 3
    assert freed


def test_a_request_that_is_dropped_meanwhile_lives_until_the_call_is_over() -> None:
    """Given should_retry that takes the request from the outcome, then retry_after still gets it."""
    outcome = Outcome(503, request=Request(user_data="of the test"))

    class DropsTheRequest(CustomRetryStrategy):
        def should_retry(self, told: Outcome, attempt_number: int) -> bool:
            outcome.request = told.request = None
            gc.collect()
            return True

        def retry_after(self, told: Outcome, attempt_number: int) -> float:
            assert told.request is not None
            assert told.request.user_data == "of the test"
            return 3

    assert decisions([outcome], DropsTheRequest())[0].delay == 3


def test_it_lives_as_long_as_a_loop_has_it_and_no_longer() -> None:
    strategy = Answers(lambda: True)
    is_alive = weakref.ref(strategy)
    first, second = RetryLoop(strategy), RetryLoop(strategy)
    del strategy

    first.close()
    assert is_alive()
    assert second.next(Outcome(503)).retry
    second.close()
    assert not is_alive()


def test_one_that_refers_to_its_own_loop_is_collected() -> None:
    class HasItsLoop(CustomRetryStrategy):
        def __init__(self) -> None:
            self.loop = RetryLoop(self)

        def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            return True

    strategy = HasItsLoop()
    is_alive = weakref.ref(strategy)
    strategy.loop.next(Outcome(503, request=Request(user_data=strategy)))
    del strategy
    gc.collect()
    assert not is_alive()


def test_each_thread_gets_what_it_raised_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given another thread that decides after the library has returned, before the exception is looked up."""
    ask_the_library = _abi.boxretry_retry_loop_next
    first, second = OfThisTestError("first"), OfThisTestError("second")
    threads: list[threading.Thread] = []

    def ask(exception: OfThisTestError) -> None:
        with pytest.raises(OfThisTestError) as raised:
            decisions([Outcome(503)], Answers(fail_with(exception)))
        assert raised.value is exception

    def ask_the_library_and_let_another_thread_ask(*arguments: Any) -> Any:
        status = ask_the_library(*arguments)
        if not threads:
            threads.append(threading.Thread(target=ask, args=(second,)))
            threads[0].start()
            threads[0].join()
        return status

    monkeypatch.setattr(_abi, "boxretry_retry_loop_next", ask_the_library_and_let_another_thread_ask)
    ask(first)
    assert len(threads) == 1


def test_what_was_raised_before_a_ctrl_c_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a Ctrl-C after the library has returned, before the exception is looked up."""
    ask_the_library = _abi.boxretry_retry_loop_next

    def interrupted(*arguments: Any) -> None:
        ask_the_library(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(_abi, "boxretry_retry_loop_next", interrupted)
        with pytest.raises(KeyboardInterrupt):
            decisions([Outcome(503)], Answers(fail_with(OfThisTestError())))

    assert decisions([Outcome(503)], Answers(lambda: False))[0].action is Action.STOP


def test_several_threads_may_ask_one_at_once() -> None:
    """Each gets its own exception."""

    class RaisesTheUserData(CustomRetryStrategy):
        def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            assert outcome.request
            raise OfThisTestError(outcome.request.user_data)

    strategy = RaisesTheUserData()
    wrong: list[object] = []

    def work(number: int) -> None:
        for _ in range(500):
            with pytest.raises(OfThisTestError) as raised:
                decisions([Outcome(503, request=Request(user_data=number))], strategy)
            if raised.value.args != (number,):
                wrong.append(raised.value)

    run_in_threads(work, 4)
    assert wrong == []
