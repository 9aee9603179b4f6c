"""Retry-After and many calls at once: its jitter (C2), and the origin gate (C3)."""

from __future__ import annotations

import os
import statistics
import time
from collections import Counter
from typing import Any, Callable

import pytest
from boxretry import CancelledError, Client, DeadlineError, Event, EventKind, ForkedError, Response, RetryStrategy
from calls import once, quick
from counting_server import Answer, CountingServer

CALLS = 1_000


def responses(client: Client, urls: list[str]) -> list[Response]:
    """The responses to all of these requests, which begin at once."""
    return [call.response() for call in [client.submit("GET", url) for url in urls]]


def refuses_first(retry_after: float) -> Callable[[str, float], Answer]:
    """Each path is asked to come back the first time."""
    seen: Counter[str] = Counter()

    def answer(path: str, _: float) -> Answer:
        seen[path] += 1
        return Answer(429, retry_after) if seen[path] == 1 else Answer(200)

    return answer


def limits_rate(window: float, count: int = 50) -> Callable[[str, float], Answer]:
    """`count` requests are served in each window, as F123 has it; the others are asked to come back after one."""
    served: Counter[int] = Counter()

    def answer(_: str, now: float) -> Answer:
        served[int(now / window)] += 1
        return Answer(200) if served[int(now / window)] <= count else Answer(429, window)

    return answer


def test_f122_jitter_spreads_what_one_retry_after_would_bring_back_at_once() -> None:
    """C2. Given 1,000 calls told to come back after 1 s, none does before, and each tenth of a second has its part."""
    with CountingServer(refuses_first(1)) as server, Client(RetryStrategy(retry_after_jitter=1)) as client:
        answers = responses(client, [server.url(f"/{number}") for number in range(CALLS)])
        arrivals = [server.of_path(f"/{number}") for number in range(CALLS)]
    assert [response.status for response in answers] == [200] * CALLS
    delays = [response.attempts[0].delay for response in answers]
    assert all(1 <= delay <= 2 for delay in delays)
    tenths = Counter(min(int((delay - 1) * 10), 9) for delay in delays)
    assert all(50 <= tenths[tenth] <= 150 for tenth in range(10)), tenths  # within five standard deviations
    for delay, (first, second) in zip(delays, arrivals):
        assert second - first >= delay - 0.001


@pytest.mark.parametrize(("window", "at_most"), [(0.2, 1.5), pytest.param(1.0, 1.2, id="as-in-f123")])
def test_f123_calls_at_a_rate_limit_share_what_it_says(
    window: float, at_most: float, request: pytest.FixtureRequest
) -> None:
    """C3. Given 50 requests a window and 1,000 calls: all succeed, with at most 1.2 requests for each.

    A fifth of the time leaves a busy machine less room, so more requests are allowed there. In virtual time
    OriginGateTests have the 1.2 at each run.
    """
    if window == 1 and not request.config.getoption("--long"):
        pytest.skip("takes 20 s: only with --long")
    with CountingServer(limits_rate(window)) as server, Client(share_retry_after=True, max_transfers=64) as client:
        answers = responses(client, [server.url()] * CALLS)
        stats = client.stats()
    assert [response.status for response in answers] == [200] * CALLS
    assert len(server.arrivals) <= at_most * CALLS
    assert stats.attempts == len(server.arrivals) == CALLS + stats.retries
    assert stats.gates_closed >= 10 and stats.held >= CALLS / 2


def test_f123_without_the_gate_each_call_asks_by_itself() -> None:
    """C3. The comparison: most calls use up their attempts, and each success costs many requests.

    With a window of 1 s, a busy machine too sends the requests of one attempt of each call within a window.
    """
    with CountingServer(limits_rate(1.0)) as server, Client(max_transfers=64) as client:
        answers = responses(client, [server.url()] * CALLS)
        stats = client.stats()
    successes = sum(response.status == 200 for response in answers)
    assert len(server.arrivals) > 5 * successes
    assert successes < CALLS / 2 and (stats.gates_closed, stats.gates_opened, stats.held) == (0, 0, 0)


class Gated:
    """A client whose gate to a server is closed for 1,000 seconds, and calls that wait for it."""

    def __init__(self, calls: int, **settings: Any) -> None:
        self.events: list[Event] = []
        self.server = CountingServer(lambda *_: Answer(503, 1000))
        self.count = calls
        self.settings = settings

    def __enter__(self) -> Gated:
        self.server.__enter__()
        self.client = Client(once(), share_retry_after=True, on_event=self.events.append, **self.settings)
        assert self.client.get(self.server.url()).status == 503
        self.calls = [self.client.submit("GET", self.server.url()) for _ in range(self.count)]
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.server.__exit__()


def seconds_to_cancel(calls: list[Any]) -> float:
    """How long it takes to cancel all of them, until each has ended."""
    began = time.perf_counter()
    for call in calls:
        call.cancel()
    for call in calls:
        call.wait()
    seconds = time.perf_counter() - began
    for call in calls:
        with pytest.raises(CancelledError) as raised:
            call.response()
        assert raised.value.attempts == []
    return seconds


def seconds_to_cancel_held() -> float:
    """The same for calls that a gate holds."""
    with Gated(CALLS) as gated:
        return seconds_to_cancel(gated.calls)


def test_k1_calls_that_are_held_end_at_once_when_they_are_canceled() -> None:
    """C3, K1. Given 1,000 held calls: to cancel them takes about as long as if they waited for their turn."""

    def queued() -> float:
        events: list[Event] = []
        with (
            CountingServer(lambda *_: Answer(200, delay=1000)) as server,
            Client(once(), max_transfers=1, on_event=events.append) as client,
        ):
            first = client.submit("GET", server.url())
            seconds = seconds_to_cancel([client.submit("GET", server.url()) for _ in range(CALLS)])
            first.cancel()
            return seconds

    ratios = [seconds_to_cancel_held() / queued() for _ in range(3)]
    assert min(ratios) < 4, ratios


def test_k1_held_calls_end_within_50_ms_of_their_cancels(request: pytest.FixtureRequest) -> None:
    """C3, K1. Given 1,000 held calls, the last one ends within 50 ms of the first cancel: the median of five rounds."""
    if not request.config.getoption("--long"):
        pytest.skip("measures time, on a machine that is not busy: only with --long")
    seconds = [seconds_to_cancel_held() for _ in range(5)]
    assert statistics.median(seconds) <= 0.05, seconds


def test_c3_held_calls_are_not_attempts_and_their_deadline_keeps_running() -> None:
    """C3, B11. Given a call with a deadline of 50 ms that a gate holds, it ends then, and nothing was sent."""
    with Gated(3) as gated:
        with pytest.raises(DeadlineError) as raised:
            gated.client.get(gated.server.url(), deadline=0.05)
        stats = gated.client.stats()
        assert (stats.attempts, stats.retries, stats.held, stats.gates_closed, stats.gates_opened) == (1, 0, 4, 1, 0)
    assert raised.value.attempts == [] and len(gated.server.arrivals) == 1
    (closed,) = [event for event in gated.events if event.kind is EventKind.GATE_CLOSED]
    assert (closed.status, closed.attempt_number, closed.url) == (503, 1, gated.server.url())
    assert 999.9 <= closed.delay <= 1000
    ends = [event for event in gated.events if event.kind is EventKind.CALL_ENDED]
    assert [end.attempt_number for end in ends] == [1, 0, 0, 0, 0]


def test_k5_a_client_is_closed_and_freed_while_calls_are_held() -> None:
    """K5, C3. All calls end with CANCELLED."""
    with Gated(CALLS) as gated:
        gated.client.close()
        for call in gated.calls:
            with pytest.raises(CancelledError):
                call.response()


def test_w9_a_child_does_not_inherit_what_is_held() -> None:
    """W9, C3. Given a fork while calls are held: the child's use of them is refused, the parent's calls still end."""
    with Gated(10) as gated:
        child = os.fork()
        if child == 0:
            try:
                gated.client.get(gated.server.url())
            except ForkedError:
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        for call in gated.calls:
            call.cancel()
            with pytest.raises(CancelledError):
                call.response()


def test_c3_derived_clients_share_the_gate() -> None:
    """C3. The gate is of the connections that they share; a derived client cannot have a separate one."""
    with Gated(0) as gated, gated.client.derived(quick()) as derived:
        with pytest.raises(DeadlineError):
            derived.get(gated.server.url(), deadline=0.05)
        with pytest.raises(TypeError, match="share_retry_after"):
            gated.client.derived(share_retry_after=True)
    assert len(gated.server.arrivals) == 1


def test_c3_gate_events_tell_when_it_opens() -> None:
    """C3. Given a short Retry-After and then answers that are well, GATE_OPENED follows GATE_CLOSED."""
    events: list[Event] = []
    with (
        CountingServer(refuses_first(0.01)) as server,
        Client(share_retry_after=True, on_event=events.append, max_transfers=4) as client,
    ):
        responses(client, [server.url()] * 20)
        assert client.stats().gates_opened == 1
    kinds = [event.kind for event in events if event.kind in (EventKind.GATE_CLOSED, EventKind.GATE_OPENED)]
    assert kinds == [EventKind.GATE_CLOSED, EventKind.GATE_OPENED]
