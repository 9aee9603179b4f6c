"""Clients on a manual clock, against a server in real time.

The clock advances by itself, so that hours take milliseconds; or a test advances it while a call is under way. Real
times are measured only where a test would otherwise wait for hours.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread
from typing import Any

import pytest
from boxretry import (
    Call,
    CancelledError,
    Cause,
    Client,
    ClientTokenProviderFailedError,
    ClosedError,
    CustomRetryStrategy,
    DeadlineError,
    IdleTimeoutError,
    ManualClock,
    NetworkError,
    OAuth2Token,
    Outcome,
    Preset,
    Reason,
    ResourceTimeoutError,
    RetryLoop,
    RetryStrategy,
    Timeout,
    TokenProviderError,
    TokenRetryPolicy,
    TokenSource,
    WaitTimeoutError,
)
from calls import once
from counting_server import Answer, CountingServer
from fault_server import FaultServer

HOUR = 3600.0
#: Real seconds, ample on a busy machine: while an attempt connects, each jump of the clock waits for 1.5 s of quiet.
SOON = 120.0


@pytest.fixture
def clock() -> Iterator[ManualClock]:
    """It advances by itself."""
    with ManualClock(auto_advance=True) as clock:
        yield clock


@pytest.fixture
def still() -> Iterator[ManualClock]:
    """It only moves when told."""
    with ManualClock() as clock:
        yield clock


def exact(**settings: Any) -> RetryStrategy:
    """Without jitter: 2 s, 4 s, 8 s."""
    return RetryStrategy(retry_randomization_factor=0, **settings)


def idle(seconds: float | None) -> Timeout:
    """The idle timeout, without the other one."""
    milliseconds = None if seconds is None else int(seconds * 1000)
    return Timeout(timeout_interval_for_request_ms=milliseconds, timeout_interval_for_resource_ms=None)


@contextlib.contextmanager
def soon() -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < SOON


# The clock advances by itself.


def test_a_retry_after_of_an_hour(server: FaultServer, clock: ManualClock) -> None:
    url = server.url("/seq/503,200", {"503.h": "Retry-After:3600"}, id=server.new_id())
    with soon(), Client(clock=clock) as client:
        response = client.get(url)
    assert (response.status, response.attempts[1].started_ms) == (200, HOUR * 1000)
    assert clock.monotonic() == HOUR


def test_backoff_waits_follow_one_another_on_the_clock(server: FaultServer, clock: ManualClock) -> None:
    url = server.url("/seq/503*4,200", id=server.new_id())
    with soon(), Client(exact(), clock=clock) as client:
        response = client.get(url)
    assert [attempt.started_ms for attempt in response.attempts] == [0, 2_000, 6_000, 14_000, 30_000]


def test_m2_the_six_hours_of_an_attempt(server: FaultServer, clock: ManualClock) -> None:
    url = server.url("/seq/stall", id=server.new_id())
    timeout = Timeout(timeout_interval_for_request_ms=None)
    with soon(), Client(once(), clock=clock, timeout=timeout) as client, pytest.raises(ResourceTimeoutError) as raised:
        client.get(url)
    (attempt,) = raised.value.attempts
    assert (attempt.started_ms, attempt.ended_ms) == (0, 6 * HOUR * 1000)


def test_m1_silence_runs_into_the_idle_timeout_and_is_retried(server: FaultServer, clock: ManualClock) -> None:
    url = server.url("/seq/stall", id=server.new_id())
    with soon(), Client(exact(), clock=clock) as client, pytest.raises(IdleTimeoutError) as raised:
        client.get(url)
    assert [attempt.started_ms for attempt in raised.value.attempts] == [0, 62_000, 126_000]


@pytest.mark.parametrize("size", [1, 5_000_000])
def test_m1_an_upload_whose_server_stalls(size: int, server: FaultServer, clock: ManualClock) -> None:
    """What the kernel has not sent yet is looked at eight times in the idle timeout."""
    url = server.url("/seq/stall:request", id=server.new_id())
    with soon(), Client(once(), clock=clock, timeout=idle(60)) as client, pytest.raises(NetworkError) as raised:
        client.put(url, data=b"x" * size)
    assert raised.value.attempts[0].cause is Cause.TIMEOUT_IDLE
    assert raised.value.attempts[0].ended_ms >= 60_000


def test_b11_a_deadline_ends_a_silent_attempt_and_a_wait(server: FaultServer, clock: ManualClock) -> None:
    for path in ("/seq/stall", "/seq/503,stall"):
        before = clock.monotonic()
        with soon(), Client(exact(), clock=clock, deadline=30) as client, pytest.raises(DeadlineError):
            client.get(server.url(path, id=server.new_id()))
        assert clock.monotonic() - before == 30


def test_w5_a_connect_timeout(server: FaultServer, clock: ManualClock) -> None:
    """Given a server that accepts a connection for TLS, and then says nothing."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        with soon(), Client(once(), clock=clock, connect_timeout=20) as client, pytest.raises(NetworkError) as raised:
            client.get(url)
    assert raised.value.attempts[0].cause is Cause.CONNECT
    assert clock.monotonic() == 20


def test_a_slow_answer_is_not_silence(server: FaultServer, clock: ManualClock) -> None:
    """Given one whose first byte and each further one take 30 ms."""
    url = server.url("/seq/200", id=server.new_id(), first=30, size=16, every=30)
    with Client(once(), clock=clock, deadline=1) as client:
        assert client.get(url).status == 200
    assert clock.monotonic() == 0


def test_t5_nine_token_attempts_with_their_delays(server: FaultServer, clock: ManualClock) -> None:
    times: list[float] = []

    def provider() -> tuple[str, float]:
        times.append(clock.monotonic())
        if len(times) < 9:
            raise TokenProviderError("busy", retryable=True)
        return "t9", HOUR

    policy = TokenRetryPolicy(jitter_ratio=0)
    url = server.url("/auth", accept="t9", id=server.new_id())
    with (
        soon(),
        TokenSource(provider, policy=policy, clock=clock) as source,
        Client(clock=clock, token_source=source) as client,
    ):
        assert client.get(url).status == 200
    assert times == [0, 1, 3, 7, 15, 23, 31, 39, 47]


def test_t12_nine_requests_to_a_token_endpoint(server: FaultServer, clock: ManualClock) -> None:
    """And a tenth, after one that is silent until it times out."""
    id = server.new_id()
    policy = TokenRetryPolicy(jitter_ratio=0, maximum_attempts=10)
    url = server.url("/seq/503*8,stall,token", id=id)
    with soon(), OAuth2Token(url, [], policy=policy, clock=clock) as source:
        assert source.get().value == "token-1"
    assert len(server.seen(id)) == 10
    assert clock.monotonic() == 47 + 10 + 8


def test_t2_a_token_expires_on_the_clock(server: FaultServer, clock: ManualClock) -> None:
    tokens, id = iter(["t1", "t2"]), server.new_id()
    url = server.url("/auth/503,200", {"503.h": "Retry-After:7200"}, accept=["t1", "t2"], id=id)
    with (
        soon(),
        TokenSource(lambda: (next(tokens), HOUR), clock=clock) as source,
        Client(clock=clock, token_source=source) as client,
    ):
        assert client.get(url).status == 200
    assert [dict(seen["headers"])["Authorization"] for seen in server.seen(id)] == ["Bearer t1", "Bearer t2"]


def test_t4_a_provider_that_takes_real_time_does_not_time_out(server: FaultServer, clock: ManualClock) -> None:
    def provider() -> tuple[str, float]:
        time.sleep(0.3)  # A stand-in for work, three times as long as a silent server is waited for.
        return "t1", HOUR

    url = server.url("/auth", accept="t1", id=server.new_id())
    with (
        TokenSource(provider, clock=clock, provider_timeout=10) as source,
        Client(clock=clock, token_source=source, deadline=60) as client,
    ):
        assert client.get(url).status == 200
    assert clock.monotonic() == 0


def test_t4_a_provider_that_hangs_times_out(clock: ManualClock) -> None:
    over = threading.Event()

    def provider() -> tuple[str, float]:
        over.wait()
        raise TokenProviderError("too late")

    policy = TokenRetryPolicy(maximum_attempts=1)
    with soon(), TokenSource(provider, clock=clock, provider_timeout=3600, policy=policy) as source:
        with pytest.raises(ClientTokenProviderFailedError):
            source.get()
        over.set()
    assert clock.monotonic() == HOUR


def test_b9_a_custom_strategy_that_takes_real_time_is_waited_for(server: FaultServer, clock: ManualClock) -> None:
    class Slow(CustomRetryStrategy):
        def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            time.sleep(0.3)
            return outcome.status == 503

        def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
            return HOUR

    url = server.url("/seq/503,200", id=server.new_id())
    with soon(), Client(Slow(), clock=clock, deadline=2 * HOUR) as client:
        assert client.get(url).status == 200
    assert clock.monotonic() == HOUR


def test_a_body_that_waits_for_its_reader_is_not_silence(server: FaultServer, clock: ManualClock) -> None:
    url = server.url("/seq/200", id=server.new_id(), size=3_000_000)
    with Client(once(), clock=clock) as client, client.stream("GET", url) as response:
        size = 0
        for piece in response.iter_bytes():
            if not size:
                time.sleep(0.3)
            size += len(piece)
    assert size == 3_000_000
    assert clock.monotonic() == 0


def test_two_clients_with_one_clock_wait_in_the_order_of_their_times(server: FaultServer, clock: ManualClock) -> None:
    """Given one call that is retried every 10 minutes, and one that is retried after an hour."""
    often = server.url("/seq/503*7,200", {"503.h": "Retry-After:600"}, id=server.new_id())
    once_ = server.url("/seq/503,200", {"503.h": "Retry-After:3600"}, id=server.new_id())
    strategy = RetryStrategy(max_attempts=10)
    with soon(), Client(strategy, clock=clock) as first, Client(strategy, clock=clock) as second:
        clock.auto_advance = False
        calls = [first.submit("GET", often), second.submit("GET", once_)]
        for client in (first, second):
            while client.stats().attempts == 0:
                pass
        clock.auto_advance = True
        responses = [call.response() for call in calls]
    assert [attempt.started_ms for attempt in responses[0].attempts] == [600_000 * n for n in range(8)]
    assert [attempt.started_ms for attempt in responses[1].attempts] == [0, 3_600_000]


def test_a_hundred_calls_at_once(server: FaultServer, clock: ManualClock) -> None:
    id = server.new_id()
    with soon(), Client(exact(), clock=clock) as client:
        calls = [client.submit("GET", server.url("/seq/503,200", id=f"{id}-{n}", quiet="")) for n in range(100)]
        responses = [call.response() for call in calls]
    assert {response.status for response in responses} == {200}
    for response in responses:
        first, second = response.attempts
        assert second.started_ms - first.ended_ms == 2_000


def test_blocking_calls_on_many_threads(server: FaultServer, clock: ManualClock) -> None:
    with soon(), Client(exact(), clock=clock) as client, ThreadPoolExecutor(8) as threads:
        urls = [server.url("/seq/503*3,200", id=server.new_id()) for _ in range(16)]
        for response in threads.map(client.get, urls):
            waits = [b.started_ms - a.ended_ms for a, b in zip(response.attempts, response.attempts[1:])]
            assert waits == [2_000, 4_000, 8_000]


def test_a_loop_that_sleeps_on_the_clock(clock: ManualClock) -> None:
    busy = Outcome(503, headers={"Retry-After": "600"})
    with soon(), RetryLoop(exact(), clock=clock, deadline=1500) as loop:
        while (decision := loop.next(busy)).retry:
            clock.sleep(decision.delay)
    assert (decision.reason, clock.monotonic()) == (Reason.DEADLINE, 1200)


def asleep(threads: ThreadPoolExecutor, clock: ManualClock, *seconds: float) -> dict[float, Future[None]]:
    """A thread for each time, which fall asleep one after the other on a clock that stands still."""
    sleepers = {}
    for each in seconds:
        sleepers[each] = threads.submit(clock.sleep, each)
        while len(clock._sleepers) < len(sleepers):  # There is no public way to wait for several of them.
            clock.wait_for_timer()
    return sleepers


def test_sleeps_of_threads_end_in_the_order_of_their_times(clock: ManualClock) -> None:
    """Also of one that began before the clock advanced by itself."""
    clock.auto_advance = False
    with soon(), ThreadPoolExecutor(4) as threads:
        sleepers = asleep(threads, clock, 3, 1, 2)
        for second in (1, 2):
            clock.advance(0.5)
            assert not any(sleepers[later].done() for later in range(second, 4))
            clock.advance(0.5)
            sleepers[second].result()
        clock.auto_advance = True
        sleepers[3].result()
    assert clock.monotonic() == 3


def test_a_clock_that_begins_to_advance_by_itself_keeps_the_times_of_sleeps(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given threads that the clock starts for its sleepers, the first of which gets a processor late."""
    passed = threading.Event()

    class Late(threading.Thread):
        def run(self) -> None:
            passed.wait()
            super().run()

    clock.auto_advance = False
    with soon(), ThreadPoolExecutor(4) as threads:
        sleepers = asleep(threads, clock, 1, 2, 3)
        clock.advance(0.5)
        kinds = iter([Late])
        monkeypatch.setattr(threading, "Thread", lambda **options: next(kinds, Thread)(**options))
        clock.auto_advance = True
        sleepers[3].result()
        passed.set()
        sleepers[1].result()
    assert clock.monotonic() == 3


def test_closing_a_clock_that_advances_by_itself_ends_sleeps(clock: ManualClock, server: FaultServer) -> None:
    """Given a server that is silent, so that the clock does not come to the end of the sleep."""
    url = server.url("/seq/stall", id=server.new_id())
    with Client(once(), clock=clock, timeout=idle(None)) as client, ThreadPoolExecutor(1) as threads:
        call = client.submit("GET", url)
        sleeper = threads.submit(clock.sleep, HOUR)
        clock.wait_for_timer(SOON)
        clock.close()
        with contextlib.suppress(ClosedError):
            sleeper.result()
        call.cancel()


def test_a_closed_clock_keeps_working_for_its_clients(server: FaultServer) -> None:
    url = server.url("/seq/503*2,200", {"503.h": "Retry-After:3600"}, id=server.new_id())
    clock = ManualClock(auto_advance=True)
    with soon(), Client(clock=clock) as client:
        clock.close()
        response = client.get(url)
    assert response.attempts[2].started_ms == 2 * HOUR * 1000


def test_a_derived_client_has_the_same_clock(server: FaultServer, clock: ManualClock) -> None:
    url = server.url("/seq/503,200", id=server.new_id())
    with soon(), Client(clock=clock) as client, client.derived(exact()) as derived:
        assert derived.get(url).attempts[1].started_ms == 2_000
        with pytest.raises(TypeError, match="clock"):
            client.derived(clock=clock)


def test_january_and_the_end_of_the_clock(server: FaultServer, clock: ManualClock) -> None:
    """At its end it stands still, and does not fail."""
    clock.advance(2**31 - 1)
    clock.advance(2**31 - 1)
    with Client(preset=Preset.JANUARY, clock=clock, timeout=idle(10)) as client:
        call = client.submit("GET", server.url("/seq/stall", id=server.new_id()))
        lasts(call, 0.3)
        call.cancel()
        with pytest.raises(CancelledError):
            call.response()


# The test advances the clock.


@pytest.mark.parametrize("is_open", [False, True])
def test_c3_no_call_waits_for_a_gate_that_holds_nothing(still: ManualClock, is_open: bool) -> None:
    """C3. Given a slow server, and a gate that is closed or has let the only call through: the clock has no timer."""
    arrived = threading.Event()

    def answer(path: str, _: float) -> Answer:
        if path == "/gate":
            return Answer(429, 10)
        arrived.set()
        return Answer(200, delay=SOON)

    with (
        CountingServer(answer) as gated,
        CountingServer(answer) as other,
        Client(once(), clock=still, timeout=idle(None), share_retry_after=True) as client,
    ):
        assert client.get(gated.url("/gate")).status == 429
        call = client.submit("GET", (gated if is_open else other).url())
        if is_open:
            still.wait_for_timer(SOON)
            still.advance(10)
        assert arrived.wait(SOON)
        with pytest.raises(WaitTimeoutError):
            still.wait_for_timer(0.3)
        call.cancel()


def test_advancing_ends_a_wait(server: FaultServer, still: ManualClock) -> None:
    url = server.url("/seq/503,200", id=server.new_id())
    with Client(exact(), clock=still) as client:
        call = client.submit("GET", url)
        wait_for_attempt(client, still)
        still.advance(1.999)
        lasts(call, 0.05)
        still.advance(0.001)
        assert call.response().status == 200


def lasts(call: Call, seconds: float) -> None:
    """The call does not end in that real time."""
    with pytest.raises(WaitTimeoutError):
        call.wait(seconds)


def wait_for_attempt(client: Client, clock: ManualClock) -> None:
    """Until an attempt has failed, and its retry waits."""
    while client.stats().attempts == 0:
        clock.wait_for_timer()
    time.sleep(0.1)


def test_no_timeout_comes_while_the_clock_stands_still(server: FaultServer, still: ManualClock) -> None:
    """Not even one of a few milliseconds, also not one of libcurl's while it connects."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        with Client(once(), clock=still, timeout=idle(0.01), connect_timeout=0.01, deadline=0.01) as client:
            call = client.submit("GET", url)
            lasts(call, 1)
            still.advance(0.01)
            with pytest.raises(DeadlineError):
                call.response()


def test_a_jump_while_libcurl_connects(still: ManualClock) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        with Client(once(), clock=still, connect_timeout=60) as client:
            call = client.submit("GET", url)
            accepted, _ = listener.accept()
            with accepted:
                still.advance(59)
                lasts(call, 0.05)
                still.advance(1)
                with pytest.raises(NetworkError) as raised:
                    call.response()
    assert raised.value.attempts[0].cause is Cause.CONNECT
    assert raised.value.attempts[0].ended_ms == 60_000


def test_m6_a_suspend_ends_what_runs_on_boottime(server: FaultServer, still: ManualClock) -> None:
    """The deadline has passed while the machine slept; the idle time has not."""
    with Client(once(), clock=still, deadline=HOUR) as client:
        call = client.submit("GET", server.url("/seq/stall", id=server.new_id()))
        wait_for_attempt(client, still)
        still.suspend(HOUR)
        with pytest.raises(DeadlineError):
            call.response()
    assert still.monotonic() == 0


def test_k1_a_cancel_ends_a_wait_on_a_clock_that_stands_still(server: FaultServer, still: ManualClock) -> None:
    with Client(exact(), clock=still) as client:
        call = client.submit("GET", server.url("/seq/503", id=server.new_id()))
        wait_for_attempt(client, still)
        call.cancel()
        with pytest.raises(CancelledError):
            call.response()


def test_closing_a_client_ends_calls_on_a_clock_that_was_closed(server: FaultServer) -> None:
    clock = ManualClock()
    client = Client(exact(), clock=clock)
    call = client.submit("GET", server.url("/seq/503", id=server.new_id()))
    wait_for_attempt(client, clock)
    clock.close()
    client.close()
    with pytest.raises(CancelledError):
        call.response()


def test_b7_dates_count_from_the_clock_s_wall_time(server: FaultServer, clock: ManualClock) -> None:
    clock.set_wall(1_000_000_000)
    date = "Sun, 09 Sep 2001 02:46:40 GMT"  # One hour from then.
    url = server.url("/seq/503,200", {"503.h": ["-Date", f"Retry-After:{date}"]}, id=server.new_id())
    with soon(), Client(clock=clock) as client:
        assert client.get(url).attempts[1].started_ms == HOUR * 1000


@pytest.mark.parametrize("clock_", [1, object(), "clock"])
def test_another_object_than_a_clock_is_refused(clock_: Any) -> None:
    with pytest.raises(TypeError, match="clock: must be a ManualClock"):
        Client(clock=clock_)
