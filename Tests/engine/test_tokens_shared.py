"""One token source for many calls and clients, on sockets: T3, T7, T8, T10, B8, R1."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from boxretry import (
    BoxRetryError,
    Call,
    CancelledError,
    Client,
    ClientTokenProviderFailedError,
    ClosedError,
    Event,
    EventKind,
    Preset,
    TokenProviderError,
    TokenRetryPolicy,
    TokenSource,
)
from calls import quick
from expiring_server import ExpiringServer
from fault_server import FaultServer


class Numbered:
    """Gives t1, t2, t3 and so on."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> tuple[str, float]:
        self.calls += 1
        return f"t{self.calls}", 3600


class Gate:
    """A provider that waits until the test resumes it, and that then gives, or raises, what it was made with."""

    def __init__(self, result: tuple[str, float] | Exception) -> None:
        self.calls = 0
        self.is_asked = threading.Event()
        self.resume = threading.Event()
        self._result = result

    def __call__(self) -> tuple[str, float]:
        self.calls += 1
        self.is_asked.set()
        assert self.resume.wait(60)
        if isinstance(self._result, Exception):
            raise self._result
        return self._result


class Waiting:
    """For a client's `on_event`: waits until `count` of its calls wait for a token."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._are_there = threading.Event()

    def __call__(self, event: Event) -> None:
        if event.kind == EventKind.TOKEN_WAIT_BEGAN:
            self._count -= 1
            if self._count == 0:
                self._are_there.set()

    def wait(self) -> None:
        assert self._are_there.wait(60)


@pytest.fixture
def gate() -> Iterator[Gate]:
    """However a test ends, the provider does not wait for it."""
    gate = Gate(("t1", 3600))
    yield gate
    gate.resume.set()


def end_of(call: Call) -> int | BoxRetryError | CancelledError:
    """Its status, or why there is none. Waits a minute at most."""
    try:
        return call.response(60).status
    except (BoxRetryError, CancelledError) as error:
        return error


# --- Expiry ---


def test_b8_a_thousand_calls_and_a_token_that_expires_three_times_among_them() -> None:
    """No failure reaches a caller, and each expiry costs one token (T8), however many requests were refused for it."""
    provider = Numbered()
    with ExpiringServer(answers=250, expiries=3) as server:
        with TokenSource(provider) as source, Client(quick(), token_source=source) as client:
            calls = [client.submit("GET", server.url) for _ in range(1000)]
            ends = [call.response(60) for call in calls]
        assert [response.status for response in ends] == [200] * 1000
        assert (server.expired, provider.calls) == (3, 1 + 3)
        assert set(server.rejected) == {"t1", "t2", "t3"}, "there were requests under way with each of them"
        attempts = [[attempt.status for attempt in response.attempts] for response in ends]
    assert sum(each.count(401) for each in attempts) == len(server.rejected)
    assert all(each == [401] * (len(each) - 1) + [200] for each in attempts)


def test_r1_a_thousand_calls_of_january_and_a_token_that_expires_among_them() -> None:
    provider = Numbered()
    with ExpiringServer(answers=500, expiries=1) as server:
        with (
            TokenSource(provider) as source,
            Client(preset=Preset.JANUARY, token_source=source) as client,
        ):
            calls = [client.submit("POST", server.url) for _ in range(1000)]
            assert [call.response(60).status for call in calls] == [200] * 1000
        assert (server.expired, provider.calls, set(server.rejected)) == (1, 1 + 1, {"t1"})


def test_t8_two_clients_share_a_source_and_each_expiry() -> None:
    """What one client's 401 has brought is there for the other."""
    provider = Numbered()
    with ExpiringServer(answers=300, expiries=2) as server, TokenSource(provider) as source:
        with Client(quick(), token_source=source) as one, Client(quick(), token_source=source) as other:
            calls = [client.submit("GET", server.url) for _ in range(450) for client in (one, other)]
            assert [call.response(60).status for call in calls] == [200] * 900
        assert (server.expired, provider.calls) == (2, 1 + 2)
        assert source.get().value == "t3", "it outlives its clients"


def test_t3_two_clients_that_start_cold_get_one_token(server: FaultServer, gate: Gate) -> None:
    waiting = [Waiting(100), Waiting(100)]
    with (
        TokenSource(gate) as source,
        Client(quick(), token_source=source, on_event=waiting[0]) as one,
        Client(quick(), token_source=source, on_event=waiting[1]) as other,
    ):
        url = server.url("/auth", accept="t1", id=server.new_id(), quiet="")
        calls = [client.submit("GET", url) for _ in range(100) for client in (one, other)]
        for each in waiting:
            each.wait()
        gate.resume.set()
        assert [call.response(60).status for call in calls] == [200] * 200
    assert gate.calls == 1


def test_a_client_that_is_closed_takes_the_token_from_no_other(server: FaultServer, gate: Gate) -> None:
    """T9: given two clients that wait for the same fetch, of which one goes."""
    waiting = [Waiting(20), Waiting(20)]
    with TokenSource(gate) as source, Client(quick(), token_source=source, on_event=waiting[0]) as stays:
        url = server.url("/auth", accept="t1", id=server.new_id(), quiet="")
        with Client(quick(), token_source=source, on_event=waiting[1]) as goes:
            calls = [client.submit("GET", url) for _ in range(20) for client in (stays, goes)]
            for each in waiting:
                each.wait()
        gate.resume.set()
        ends = [end_of(call) for call in calls]
    assert ends[::2] == [200] * 20
    assert all(isinstance(end, CancelledError) for end in ends[1::2]), ends[1::2]
    assert gate.calls == 1


# --- No token ---


def test_t3_t7_a_thousand_waiting_calls_share_a_failure_and_the_next_call_starts_afresh(server: FaultServer) -> None:
    waiting, id = Waiting(1000), server.new_id()
    gate = Gate(TokenProviderError("no such user", retryable=False))
    with TokenSource(gate) as source, Client(quick(), token_source=source, on_event=waiting) as client:
        calls = [client.submit("GET", server.url("/seq/200", id=id)) for _ in range(1000)]
        waiting.wait()
        gate.resume.set()
        ends = [end_of(call) for call in calls]
        assert {type(end) for end in ends} == {ClientTokenProviderFailedError}
        assert gate.calls == 1
        assert isinstance(end_of(client.submit("GET", server.url("/seq/200", id=id))), ClientTokenProviderFailedError)
        assert gate.calls == 2
    assert server.seen(id) == []


def test_f61_a_thousand_waiting_calls_share_a_series_of_attempts_and_its_error(server: FaultServer) -> None:
    """T3, T5: given failures that are retried, until the policy says that it is enough."""
    waiting, id = Waiting(1000), server.new_id()
    gate = Gate(TokenProviderError("try again", retryable=True))
    policy = TokenRetryPolicy(maximum_attempts=3, initial_delay=0)
    with (
        TokenSource(gate, policy=policy) as source,
        Client(quick(), token_source=source, on_event=waiting) as client,
    ):
        calls = [client.submit("GET", server.url("/seq/200", id=id)) for _ in range(1000)]
        waiting.wait()
        gate.resume.set()
        ends = [end_of(call) for call in calls]
    assert {(type(end), str(end)) for end in ends} == {(ClientTokenProviderFailedError, str(ends[0]))}
    assert "(calls: 3)" in str(ends[0])
    assert (gate.calls, server.seen(id)) == (3, [])


@pytest.mark.parametrize("preset", Preset)
def test_t10_a_source_that_is_closed_ends_each_call_that_waits_for_it(
    server: FaultServer, gate: Gate, preset: Preset
) -> None:
    """At once, with a clear error, and while its provider still works. Calls that come later end like that too."""
    waiting, id = Waiting(500), server.new_id()
    options: dict[str, Any] = {"preset": preset, "on_event": waiting}
    with TokenSource(gate) as source, Client(token_source=source, **options) as client:
        url = server.url("/seq/200*3", id=id)
        calls = [client.submit("GET", url) for _ in range(500)]
        waiting.wait()
        assert gate.is_asked.wait(60)
        source.close()
        ends = [end_of(call) for call in calls]
        assert {type(end) for end in ends} == {ClosedError}, set(map(repr, ends))
        assert all("closed" in str(end) or "freed" in str(end) for end in ends), str(ends[0])
        assert isinstance(end_of(client.submit("GET", url)), ClosedError)
        assert server.seen(id) == [] and not gate.resume.is_set()
        assert client.get(url, authorization=False).status == 200, "the client goes on"
    assert gate.calls == 1


def test_t10_a_source_that_is_closed_while_calls_wait_for_another_token(server: FaultServer) -> None:
    """B8: given calls of which some have had their token refused, each of these has its 401."""
    waiting, id = Waiting(1 + 200), server.new_id()
    numbered, gate = Numbered(), Gate(("t2", 3600))

    def provider() -> tuple[str, float]:
        return numbered() if numbered.calls == 0 else gate()

    with TokenSource(provider) as source, Client(quick(), token_source=source, on_event=waiting) as client:
        assert client.get(server.url("/auth", accept="t1", id=server.new_id())).status == 200
        calls = [client.submit("GET", server.url("/auth", accept="t2", id=id)) for _ in range(200)]
        waiting.wait()
        source.close()
        ends = [end_of(call) for call in calls]
        assert {type(end) for end in ends} == {ClosedError}
        responses = [end.response for end in ends if isinstance(end, ClosedError)]
        refused = [response.status for response in responses if response is not None]
        assert refused and set(refused) == {401}
        assert len(refused) == len(server.seen(id)) == 200 - responses.count(None)
        gate.resume.set()
