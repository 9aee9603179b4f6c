"""Token sources with providers in Python (T): what is shared, what is kept, and who gets which result."""

from __future__ import annotations

import asyncio
import concurrent.futures
import copy
import pickle
import threading
import time
from contextlib import suppress
from ctypes import c_void_p
from typing import Any, Callable

import pytest
from threads import run_in_threads, seconds_to_wake

from boxretry import (
    BoxRetryError,
    CancelledError,
    CancelSwitch,
    ClientTokenProviderFailedError,
    ClosedError,
    ExhaustedError,
    FixedToken,
    InCallbackError,
    InvalidArgumentError,
    InvalidClientTokenError,
    InvalidClientTokenExpirationError,
    ManualClock,
    Token,
    TokenProviderError,
    TokenRetryPolicy,
    TokenSource,
    WaitTimeoutError,
)
from boxretry._c import _abi
from boxretry.calls import _token_calls
from boxretry.calls._token_calls import TokenWait
from boxretry.enums import Error

#: Longer than anything here takes; a test that would wait forever fails instead.
PATIENCE = 60.0


class Provider:
    """Gives the answers of a list, in order, and counts its calls. Functions are called."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.calls = 0

    def __call__(self) -> Any:
        self.calls += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            answer = answer()
        if isinstance(answer, BaseException):
            raise answer
        return answer


def in_background(work: Callable[[], Any]) -> Callable[[], Any]:
    """Runs it in a thread; the function that this returns waits for its result, or raises its exception."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append((work(), None))
        except Exception as error:
            results.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def result() -> Any:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "it has not ended"
        value, error = results[0]
        if error is not None:
            raise error
        return value

    return result


class Gate:
    """A provider that stops in its call until it is released."""

    def __init__(self, answer: Any = ("token", 3600)) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()
        self.answer = answer
        self.calls = 0

    def __call__(self) -> Any:
        self.calls += 1
        self.entered.set()
        assert self.opened.wait(PATIENCE)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.fixture
def stand_in_line(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Waits until this many more callers are in the queue of a source."""
    ask, asked = _abi.boxretry_token_source_get_async, threading.Semaphore(0)

    def ask_and_tell(*arguments: Any) -> int:
        status: int = ask(*arguments)
        asked.release()
        return status

    def wait(count: int) -> None:
        for _ in range(count):
            assert asked.acquire(timeout=PATIENCE)

    monkeypatch.setattr(_abi, "boxretry_token_source_get_async", ask_and_tell)
    return wait


# One call for all


def test_f60_callers_share_one_call_and_its_token() -> None:
    """T3: given 100 callers and an empty cache, one call of the provider, and one token for all."""
    gate = Gate()
    tokens: list[Token] = []
    with TokenSource(gate) as source:
        waiting = [in_background(source.get) for _ in range(100)]
        assert gate.entered.wait(PATIENCE)
        gate.opened.set()
        tokens = [wait() for wait in waiting]
        assert {(token.value, token.generation) for token in tokens} == {("token", 1)}
        assert gate.calls == 1
        assert source.get().generation == 1


def test_f60_who_came_first_is_woken_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """T3: for callers that get the token on the source's thread, in the order in which they asked."""
    gate = Gate()
    told: list[TokenWait] = []
    finish = TokenWait.finish

    def note(wait: TokenWait, status: int, token: int | None) -> None:
        told.append(wait)
        finish(wait, status, token)

    monkeypatch.setattr(TokenWait, "finish", note)
    with TokenSource(gate) as source:
        waits = [TokenWait(source._open_handle(), None) for _ in range(50)]
        gate.opened.set()
        for wait in waits:
            assert wait.done.wait(PATIENCE)
    assert told == waits


def test_f61_callers_share_the_failure(stand_in_line: Callable[[int], None]) -> None:
    """T3: given a provider that fails permanently, one series of attempts, and the same error for all."""
    gate = Gate(TokenProviderError("no such user"))
    with TokenSource(gate) as source:
        waiting = [in_background(source.get) for _ in range(20)]
        assert gate.entered.wait(PATIENCE)
        stand_in_line(20)
        gate.opened.set()
        for wait in waiting:
            with pytest.raises(ClientTokenProviderFailedError, match=r"\(calls: 1\): no such user") as raised:
                wait()
            assert raised.value.__cause__ is gate.answer
    assert gate.calls == 1


def test_t7_a_failure_is_not_kept() -> None:
    provider = Provider(TokenProviderError(), ("token", 3600))
    with TokenSource(provider) as source:
        with pytest.raises(ClientTokenProviderFailedError):
            source.get()
        assert source.get().value == "token"


def test_two_sources_never_block_each_other() -> None:
    """Given 20 sources whose providers do not return, then every function of another source still works."""
    gate = Gate()
    slow = [TokenSource(gate) for _ in range(20)]
    waiting = [in_background(source.get) for source in slow]
    end = time.monotonic() + PATIENCE
    while gate.calls < len(slow):
        assert time.monotonic() < end
        time.sleep(0.001)
    with TokenSource(Provider(("one", 3600), ("two", 3600), TokenProviderError("no more"))) as source:
        assert source.get(timeout=PATIENCE).value == "one"
        source.invalidate("one")
        assert source.get(timeout=PATIENCE).value == "two"
        source.clear()
        with pytest.raises(ClientTokenProviderFailedError, match="no more"):
            source.get(timeout=PATIENCE)
    assert not gate.opened.is_set()
    gate.opened.set()
    assert {wait().value for wait in waiting} == {"token"}
    for each in slow:
        each.close()


# Retries, in virtual time


def test_t5_the_documented_schedule() -> None:
    """T5: given a provider that is never reached, nine calls at 0 1 3 7 15 23 31 39 47 seconds, and then the error."""
    clock = ManualClock()
    times: list[float] = []

    def provider() -> Any:
        times.append(clock.monotonic())
        raise TokenProviderError("unreachable", retryable=True)

    policy = TokenRetryPolicy(jitter_ratio=0)
    with TokenSource(provider, policy=policy, provider_timeout=None, clock=clock) as source:
        waiting = in_background(source.get)
        for wait in (1, 2, 4, 8, 8, 8, 8, 8):
            clock.wait_for_timer(PATIENCE)
            clock.advance(wait)
        with pytest.raises(ClientTokenProviderFailedError, match=r"\(calls: 9\)$") as raised:
            waiting()
        assert "unreachable" not in str(raised.value), "T6"
        assert isinstance(raised.value.__cause__, TokenProviderError)
    assert times == [0, 1, 3, 7, 15, 23, 31, 39, 47]


def test_t5_a_policy_of_one_attempt() -> None:
    provider = Provider(TokenProviderError(retryable=True))
    with TokenSource(provider, policy=TokenRetryPolicy.none()) as source, pytest.raises(ClientTokenProviderFailedError):
        source.get()
    assert provider.calls == 1


def test_t4_a_provider_that_does_not_answer_in_time_is_asked_again() -> None:
    """F66: given a call that takes longer than provider_timeout, its late answer is refused; the next one counts."""
    clock, gate = ManualClock(), Gate(("late", 3600))
    answers = Provider(gate, ("token", 3600))
    policy = TokenRetryPolicy(jitter_ratio=0)
    with TokenSource(answers, policy=policy, provider_timeout=60, clock=clock) as source:
        waiting = in_background(source.get)
        assert gate.entered.wait(PATIENCE)
        clock.wait_for_timer(PATIENCE)
        clock.advance(60)
        clock.wait_for_timer(PATIENCE)
        clock.advance(1)
        assert waiting().value == "token"
        gate.opened.set()
        assert source.get().value == "token"


def test_t4_a_provider_that_hangs_gets_no_more_than_sixteen_threads() -> None:
    """Given calls that do not return, nine in a fetch that fails and seven in the next, then that one fails, and so do
    later callers. After they return, the provider is called as usual."""
    clock, gate = ManualClock(), Gate(("token", 3600))
    hanging = Provider(*[gate] * 16, ("token", 3600))

    def pass_timeouts(count: int) -> None:
        for _ in range(count):
            clock.wait_for_timer(PATIENCE)
            clock.advance(1)

    policy = TokenRetryPolicy(initial_delay=0)
    with TokenSource(hanging, policy=policy, provider_timeout=1, clock=clock) as source:
        waiting = in_background(source.get)
        pass_timeouts(9)
        with pytest.raises(ClientTokenProviderFailedError, match=r"provider_timeout_ms.*\(calls: 9\)"):
            waiting()
        waiting = in_background(source.get)
        pass_timeouts(7)
        with pytest.raises(ExhaustedError, match="16 calls of the provider have not returned yet"):
            waiting()
        with pytest.raises(ExhaustedError):
            source.get()
        gate.opened.set()
        until = time.monotonic() + PATIENCE
        token = None
        while token is None and time.monotonic() < until:
            with suppress(ExhaustedError):  # their threads end in their own time
                token = source.get()
        assert token is not None
        assert token.value == "token"


def test_t4_fetch_timeout_bounds_everything() -> None:
    clock = ManualClock()
    provider = Provider(TokenProviderError(retryable=True))
    policy = TokenRetryPolicy(jitter_ratio=0)
    with TokenSource(provider, policy=policy, provider_timeout=None, fetch_timeout=2, clock=clock) as source:
        waiting = in_background(source.get)
        for _ in range(2):
            clock.wait_for_timer(PATIENCE)
            clock.advance(1)
        with pytest.raises(ClientTokenProviderFailedError, match="fetch_timeout"):
            waiting()


# What a provider may answer


@pytest.mark.parametrize("life", [61, 60.001, 2_592_000, 10**9, 1e300])
def test_f71_long_lives_are_kept(life: float) -> None:
    provider = Provider(("token", life))
    with TokenSource(provider, refresh_leeway=0) as source:
        assert source.get().expires_in == pytest.approx(min(life, 2**31 - 1), abs=30)
        source.get()
    assert provider.calls == 1


@pytest.mark.parametrize("life", [float("nan"), float("inf"), -1, 0, 60])
def test_f71_short_lives_are_refused_and_not_retried(life: float) -> None:
    provider = Provider(("token", life))
    with TokenSource(provider) as source, pytest.raises(InvalidClientTokenExpirationError):
        source.get()
    assert provider.calls == 1


def test_f71_a_life_below_the_leeway_is_refused() -> None:
    source = TokenSource(Provider(("token", 100)), refresh_leeway=120)
    with source, pytest.raises(InvalidClientTokenExpirationError):
        source.get()


@pytest.mark.parametrize("token", ["  abc\n", b"\tabc ", "abc"])
def test_f72_white_space_is_dropped(token: str | bytes) -> None:
    with TokenSource(Provider((token, 3600))) as source:
        assert source.get().value == "abc"


@pytest.mark.parametrize("token", ["abc\r\nX-Evil: 1", "", " \n", "x" * 20_480, "a\0b", "tokené", "a b", "\ud800"])
def test_f72_what_no_header_may_have_is_refused_and_not_retried(token: str) -> None:
    provider = Provider((token, 3600))
    with TokenSource(provider) as source, pytest.raises(InvalidClientTokenError):
        source.get()
    assert provider.calls == 1


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (ValueError("with a secret"), ValueError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (SystemExit(), SystemExit),
        (None, TypeError),
        ("token", TypeError),
        (("token", 3600, 1), TypeError),
        (("token", None), TypeError),
        ((7, 3600), TypeError),
        (TokenProviderError("why"), TokenProviderError),
    ],
)
def test_f68_what_a_provider_raises_is_the_cause(answer: Any, cause: type[BaseException]) -> None:
    """T4: given an exception, or an invalid answer, the failure is not retried."""
    provider = Provider(lambda: answer)
    with TokenSource(provider) as source:
        with pytest.raises(ClientTokenProviderFailedError) as raised:
            source.get()
        assert isinstance(raised.value.__cause__, cause)
        assert "secret" not in str(raised.value)
    assert provider.calls == 1


def test_f67_a_provider_that_asks_its_own_source_is_refused() -> None:
    """T4: immediately, with an error, and without a deadlock."""
    source: TokenSource

    def provider() -> Any:
        return source.get().value, 3600

    with TokenSource(provider) as source:
        with pytest.raises(ClientTokenProviderFailedError) as raised:
            source.get()
        assert isinstance(raised.value.__cause__, InCallbackError)


# Lifetimes, in virtual time


def test_f69_the_leeway_to_the_millisecond() -> None:
    """T2: with 60.001 s left the token is used; with 60.000 s it is renewed."""
    clock = ManualClock()
    provider = Provider(("one", 3600), ("two", 3600))
    with TokenSource(provider, clock=clock) as source:
        assert source.get().value == "one"
        clock.advance(3539.999)
        assert source.get().value == "one"
        clock.advance(0.001)
        assert source.get().value == "two"


def test_f70_sleep_and_a_wall_clock_that_is_set_back() -> None:
    clock = ManualClock()
    provider = Provider(("one", 3 * 3600), ("two", 3 * 3600))
    with TokenSource(provider, clock=clock) as source:
        assert source.get().value == "one"
        clock.set_wall(-86400)
        clock.advance(2)
        assert source.get().value == "one"
        clock.suspend(5 * 3600)
        assert source.get().value == "two"


def test_t2_a_machine_that_was_restored() -> None:
    """T2: given a wall clock that is ahead by more than 5 s, the smaller lifetime counts."""
    clock = ManualClock()
    provider = Provider(("one", 3600), ("two", 3600))
    with TokenSource(provider, clock=clock) as source:
        assert source.get().value == "one"
        clock.set_wall(86400)
        clock.advance(1)
        assert source.get().value == "two"


def test_t11_renewed_ahead_and_served_stale() -> None:
    clock = ManualClock()
    provider = Provider(("one", 3600), ("two", 3600), TokenProviderError())
    with TokenSource(provider, refresh_ahead_window=300, serve_stale=True, clock=clock) as source:
        assert source.get().value == "one"
        clock.advance(3539.9)
        assert source.get().value == "one", "callers keep the old one"
        while source.get().value == "one":
            pass  # until the fetch in the background has ended
        clock.advance(3550)
        assert source.get().value == "two", "the refresh has failed, and it is still valid"
        clock.advance(50)
        with pytest.raises(ClientTokenProviderFailedError):
            source.get()


# Rejected tokens


def test_f62_many_rejections_of_one_token_make_for_one_refresh() -> None:
    """T8."""
    provider = Provider(("one", 3600), ("two", 3600), ("three", 3600))
    with TokenSource(provider) as source:
        old = source.get()

        def reject(number: int) -> None:
            source.invalidate(old if number % 2 else old.value)
            assert source.get().value == "two"

        run_in_threads(reject, 20)
    assert provider.calls == 2


def test_f63_a_late_rejection_drops_nothing() -> None:
    provider = Provider(("one", 3600), ("two", 3600))
    with TokenSource(provider) as source:
        old = source.get()
        source.invalidate(old)
        assert source.get().generation == 2
        source.invalidate(old)
        source.invalidate("one")
        source.invalidate("unknown")
        assert source.get().generation == 2
    assert provider.calls == 2


def test_f78_what_a_fetch_brings_after_a_clear_is_not_kept(stand_in_line: Callable[[int], None]) -> None:
    """T8: callers that waited before get it; later callers get the next one."""
    gate = Gate(("old", 3600))
    answers = Provider(gate, ("new", 3600))
    with TokenSource(answers) as source:
        waiting = in_background(source.get)
        assert gate.entered.wait(PATIENCE)
        source.clear()
        later = in_background(source.get)
        stand_in_line(2)
        gate.opened.set()
        assert waiting().value == "old"
        assert later().value == "new"
        assert source.get().value == "new"


# Callers that leave


def test_f64_who_leaves_does_not_take_the_token_from_the_others() -> None:
    """T9: it does not matter that the first caller leaves, or that all do."""
    gate = Gate()
    with TokenSource(gate) as source, CancelSwitch() as switch:
        first = in_background(lambda: source.get(cancel=switch))
        assert gate.entered.wait(PATIENCE)
        others = [in_background(source.get) for _ in range(4)]
        switch.trigger()
        with pytest.raises(CancelledError):
            first()
        with pytest.raises(CancelledError):
            source.get(cancel=switch)
        gate.opened.set()
        assert {other().value for other in others} == {"token"}
        assert gate.calls == 1


def test_f64_the_token_is_kept_if_all_have_left() -> None:
    gate = Gate()
    with TokenSource(gate) as source:
        with pytest.raises(WaitTimeoutError):
            source.get(timeout=0)
        with pytest.raises(WaitTimeoutError):
            source.get(timeout=0.01)
        gate.opened.set()
        assert source.get().value == "token"
        assert gate.calls == 1


def test_f65_a_cancel_does_not_wait_for_the_provider() -> None:
    """T9: given a provider that is still running, the caller that cancels returns."""
    gate = Gate()
    with TokenSource(gate) as source, CancelSwitch() as switch:
        waiting = in_background(lambda: source.get(cancel=switch))
        assert gate.entered.wait(PATIENCE)
        switch.trigger()
        with pytest.raises(CancelledError):
            waiting()
        assert not gate.opened.is_set()
        gate.opened.set()


def test_f65_a_cancel_comes_in_time(stand_in_line: Callable[[int], None]) -> None:
    """T9: the best of some rounds, because the machine may be busy: within 50 ms, if it wakes other threads at once."""
    late, machine_late = [], []
    for _ in range(10):
        gate = Gate()
        with TokenSource(gate) as source, CancelSwitch() as switch:

            def get() -> float:
                with pytest.raises(CancelledError):
                    source.get(cancel=switch)
                return time.monotonic()

            waiting = in_background(get)
            assert gate.entered.wait(PATIENCE)
            stand_in_line(1)
            triggered = time.monotonic()
            switch.trigger()
            late.append(waiting() - triggered)
            assert not gate.opened.is_set()
            gate.opened.set()
        machine_late.append(seconds_to_wake())
    assert min(late) < 0.05 + 4 * max(machine_late)


def test_t10_close_ends_the_waits_and_does_not_wait_for_the_provider(stand_in_line: Callable[[int], None]) -> None:
    gate = Gate()
    source = TokenSource(gate)
    waiting = [in_background(source.get) for _ in range(5)]
    assert gate.entered.wait(PATIENCE)
    stand_in_line(5)
    source.close()
    for wait in waiting:
        with pytest.raises(ClosedError):
            wait()
    with pytest.raises(ClosedError):
        source.get()
    gate.opened.set()


def test_a_token_outlives_its_source() -> None:
    source = TokenSource(Provider(("token", 3600)))
    token = source.get()
    source.close()
    assert token.value == "token"


# Fixed tokens, arguments, secrets


def test_t12_a_fixed_token_is_all_there_is() -> None:
    with FixedToken(" abc ") as source:
        assert (source.get().value, source.get().expires_in) == ("abc", 2**31 - 1)
        source.invalidate("abc")
        source.clear()
        assert source.get().value == "abc"


@pytest.mark.parametrize("token", ["", " ", "a b", "x" * 16_385, "é"])
def test_t12_a_fixed_token_is_checked_when_it_is_given(token: str) -> None:
    with pytest.raises(InvalidArgumentError, match="token"):
        FixedToken(token)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("refresh_leeway", -1),
        ("refresh_leeway", float("nan")),
        ("refresh_ahead_window", float("inf")),
        ("provider_timeout", 0),
        ("fetch_timeout", float("nan")),
        ("policy", TokenRetryPolicy(maximum_attempts=0)),
        ("policy", TokenRetryPolicy(jitter_ratio=2)),
    ],
)
def test_t5_settings_are_refused_when_the_source_is_made(name: str, value: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=name if name != "policy" else "policy"):
        TokenSource(Provider(("token", 3600)), **{name: value})


@pytest.mark.parametrize(("name", "value"), [("provider", 7), ("clock", 7), ("policy", 7)])
def test_arguments_of_another_type_are_refused(name: str, value: Any) -> None:
    arguments: dict[str, Any] = {"provider": Provider(("token", 3600)), name: value}
    with pytest.raises(TypeError, match=name):
        TokenSource(**arguments)


@pytest.mark.parametrize("timeout", [-1, float("nan")])
def test_a_timeout_that_is_none_is_refused(timeout: float) -> None:
    with FixedToken("abc") as source, pytest.raises(InvalidArgumentError, match="timeout"):
        source.get(timeout)


def test_t1_no_repr_shows_a_token() -> None:
    with FixedToken("secret") as source:
        token = source.get()
        assert "secret" not in f"{token!r} {token} {source!r} {source}"
        for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
            for each in (token, source):
                with pytest.raises(TypeError):
                    attempt(each)


# The exact rules of the sources, and restraint


@pytest.mark.parametrize(
    "raised", [CancelledError(), concurrent.futures.CancelledError(), asyncio.CancelledError()], ids=repr
)
def test_f113_a_provider_that_cancels(raised: BaseException) -> None:
    """T4. One call, and CancelledError for all waiting callers; not a BoxRetryError, because it must not be retried."""
    gate = threading.Event()
    provider = Provider(lambda: gate.wait(PATIENCE) and raised)
    with TokenSource(provider) as source:
        waiting = [in_background(source.get) for _ in range(3)]
        while len(_token_calls._waits) < 3:
            time.sleep(0.001)
        gate.set()
        for result in waiting:
            with pytest.raises(CancelledError, match="the token provider canceled") as caught:
                result()
            assert caught.value.__cause__ is raised
            assert not isinstance(caught.value, BoxRetryError)
            assert isinstance(caught.value, concurrent.futures.CancelledError)
    assert provider.calls == 1


def test_f112_a_provider_has_no_limit_unless_one_is_set() -> None:
    """T4. Given one that blocks for 70 s of a manual clock, then it is called once, and its answer is used."""
    with ManualClock() as clock:
        called, passed = threading.Event(), threading.Event()

        def late() -> tuple[str, float]:
            called.set()
            assert passed.wait(PATIENCE)
            return "late", 3600

        provider = Provider(late)
        with TokenSource(provider, clock=clock) as source:
            result = in_background(source.get)
            assert called.wait(PATIENCE)
            clock.advance(70)
            passed.set()
            assert result().value == "late"
    assert provider.calls == 1


@pytest.mark.parametrize(
    ("options", "age"), [({"serve_stale": True}, 3590), ({"refresh_ahead_window": 1000}, 3539)], ids=str
)
def test_f128_a_dead_provider_is_not_hammered(options: dict[str, Any], age: float) -> None:
    """T11, F128. Given a provider that fails immediately, then 100,000 gets are served, with 1 or 2 calls of it.

    A token of 3,600 s is stale when less than 60 s are left; the window to refresh it ahead, of 1,000 s, ends there."""
    called = threading.Event()

    def fail() -> Exception:
        called.set()
        return KeyError()

    provider = Provider(fail)
    with (
        ManualClock() as clock,
        TokenSource(provider, clock=clock, initial_token="known", initial_expires_in=3600, **options) as source,
    ):
        clock.advance(age)
        begun = time.monotonic()
        for _ in range(100_000):
            assert source.get().generation == 1
            if time.monotonic() - begun > 1:
                break
        assert called.wait(PATIENCE)
    assert 1 <= provider.calls <= 2


def test_f128b_serve_stale_does_not_wait_for_retries() -> None:
    """T11. Given a token with 40 s left and a provider with retryable failures, get() returns it until it expires."""
    called = threading.Event()

    def provider() -> tuple[str, float]:
        called.set()
        raise TokenProviderError(retryable=True)

    with (
        ManualClock() as clock,
        TokenSource(provider, serve_stale=True, clock=clock, initial_token="known", initial_expires_in=40) as source,
    ):
        for _ in range(39):
            assert source.get(timeout=0).value == "known"
            clock.advance(1)
        clock.advance(1)
        with pytest.raises(WaitTimeoutError):
            source.get(timeout=0)
        assert called.wait(PATIENCE)


def test_t12_a_token_that_is_known_already() -> None:
    provider = Provider(("new", 3600))
    with TokenSource(provider, initial_token=" known ", initial_expires_in=100) as source:
        token = source.get()
        assert (token.value, token.generation, provider.calls) == ("known", 1, 0)
        assert token.expires_in == pytest.approx(100, abs=60)
        source.invalidate(token)
        assert (source.get().value, provider.calls) == ("new", 1)
    for expires_in in (0, -1, float("nan"), float("inf")):
        with pytest.raises(InvalidArgumentError, match="initial_expires_in"):
            TokenSource(provider, initial_token="known", initial_expires_in=expires_in)
    for token_text in ("", "a b", "é"):
        with pytest.raises(InvalidArgumentError, match="initial_token"):
            TokenSource(provider, initial_token=token_text, initial_expires_in=100)
    with pytest.raises(InvalidArgumentError, match="initial_token"):
        TokenSource(provider, initial_token="known")


def test_f120_who_only_looks_may_look_anywhere() -> None:
    """K4. Inside `on_token`, where waiting is refused, get(0) answers; but not inside the source's own provider."""
    looked: list[Any] = []
    with TokenSource(Provider(("token", 3600))) as source:
        source.get()

        def look(context: int, status: int, token: int | None) -> None:
            if token is not None:
                _abi.boxretry_token_free(c_void_p(token))
            out = c_void_p()
            for timeout_ms in (0, 1000):
                looked.append(
                    Error(_abi.boxretry_token_source_get(source._open_handle().pointer, timeout_ms, None, out))
                )
                if out:
                    _abi.boxretry_token_free(out)
                    out = c_void_p()

        on_token = _abi.TokenCallback(look)
        _abi.boxretry_token_source_get_async(source._open_handle().pointer, None, on_token, 0)
    assert looked == [Error.OK, Error.IN_CALLBACK]

    def provider() -> tuple[str, float]:
        with pytest.raises(InCallbackError):
            own.get(timeout=0)
        return "token", 3600

    with TokenSource(provider) as own:
        assert own.get().value == "token"
