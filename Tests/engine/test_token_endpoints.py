"""Every setting of a token endpoint, with a server that makes it matter (T12)."""

from __future__ import annotations

import resource
from typing import Any

import pytest
from boxretry import (
    ClientTokenProviderFailedError,
    ManualClock,
    OAuth2Token,
    Proxy,
    Timeout,
    TokenRetryPolicy,
)
from calls import Background, eventually
from fault_server import FaultServer

#: KiB by which the memory may grow, for any answer of an endpoint.
MOST_KIB = 24_000
#: Seconds: more than anything here takes, and less than the times that stand where a setting has been forgotten.
PATIENCE = 40


def endpoint(url: str, **options: Any) -> OAuth2Token:
    policy = TokenRetryPolicy(initial_delay=0)
    return OAuth2Token(url, policy=policy, proxy=Proxy.NONE, **options)


def test_t4_provider_timeout_is_of_one_request_and_by_the_clock(server: FaultServer) -> None:
    """Given an endpoint that does not answer, it is asked again when the clock that was given says so."""
    clock, id = ManualClock(), server.new_id()
    with endpoint(server.url("/seq/stall,token", id=id), provider_timeout=30, clock=clock) as source:
        waiting = Background(source.get)
        server.seen(id, requests=1)
        clock.wait_for_timer(PATIENCE)
        clock.advance(29.999)
        assert len(server.seen(id)) == 1
        clock.advance(0.001)
        assert waiting.result().generation == 1
    assert len(server.seen(id)) == 2


def test_t4_fetch_timeout_is_of_all_requests_for_one_token(server: FaultServer) -> None:
    clock, id = ManualClock(), server.new_id()
    url = server.url("/seq/stall", id=id)
    # Two, since the requests themselves are timed by the system's clock: a third would wait for the first one's end.
    with endpoint(url, provider_timeout=10, fetch_timeout=15, clock=clock) as source:
        waiting = Background(source.get)
        for number, seconds in enumerate((10, 5), 1):
            server.seen(id, requests=number)
            clock.wait_for_timer(PATIENCE)
            clock.advance(seconds)
        with pytest.raises(ClientTokenProviderFailedError, match="fetch_timeout"):
            waiting.result()
    assert len(server.seen(id)) == 2


def test_m1_timeouts_are_of_each_request(server: FaultServer) -> None:
    """Given only the idle time, an endpoint that does not answer is asked again."""
    id = server.new_id()
    options: dict[str, Any] = {"provider_timeout": None, "timeout": Timeout(timeout_interval_for_request_ms=300)}
    with endpoint(server.url("/seq/stall,token", id=id), **options) as source:
        assert source.get(timeout=PATIENCE).generation == 1
    assert len(server.seen(id)) >= 2


@pytest.mark.parametrize("leeway", [60, 100])
def test_t2_refresh_leeway(server: FaultServer, leeway: float) -> None:
    clock = ManualClock()
    with endpoint(server.url("/token", id=server.new_id()), refresh_leeway=leeway, clock=clock) as source:
        assert source.get().value == "token-1"
        clock.advance(3600 - leeway - 1)
        assert source.get().value == "token-1"
        clock.advance(2)
        assert source.get().value == "token-2"


def test_t11_refresh_ahead_window(server: FaultServer) -> None:
    """Given a token that nears its leeway: who asks keeps it, until the next one has come in the background."""
    clock, id = ManualClock(), server.new_id()
    with endpoint(server.url("/token", id=id), refresh_ahead_window=300, clock=clock) as source:
        assert source.get().value == "token-1"
        clock.advance(3539.9)
        assert source.get().value == "token-1"
        eventually(lambda: source.get().value == "token-2")
    assert len(server.seen(id)) == 2


@pytest.mark.parametrize("serve_stale", [True, False])
def test_t11_serve_stale(server: FaultServer, serve_stale: bool) -> None:
    """Given a refresh that fails, and a token that is still valid, though within the leeway."""
    clock = ManualClock()
    url = server.url("/seq/token,400", id=server.new_id())
    with endpoint(url, serve_stale=serve_stale, clock=clock) as source:
        assert source.get().value == "token-1"
        clock.advance(3550)
        if serve_stale:
            assert source.get().value == "token-1"
            clock.advance(50)
        with pytest.raises(ClientTokenProviderFailedError, match="status 400"):
            source.get()


@pytest.mark.parametrize(
    "answer",
    [
        {"size": "endless", "chunked": ""},
        {"size": "endless", "until_close": ""},
        {"headers": "endless"},
    ],
    ids=["chunks", "until the connection ends", "header lines"],
)
def test_f73_an_endpoint_that_answers_without_end(server: FaultServer, answer: dict[str, Any]) -> None:
    """Then that is an error, which is not retried, and costs no memory."""
    id = server.new_id()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    failed = pytest.raises(ClientTokenProviderFailedError, match=r"\(calls: 1\)")
    with endpoint(server.url("/seq/200", answer, id=id)) as source, failed:
        source.get(timeout=PATIENCE)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before <= MOST_KIB
    assert len(server.seen(id)) == 1
