"""Timeouts and the deadline over real sockets: the cases F30 to F36. Nothing is early."""

from __future__ import annotations

import time
from typing import Any

import pytest
from boxretry import (
    Attempt,
    BoxRetryError,
    Cause,
    Client,
    DeadlineError,
    IdleTimeoutError,
    NetworkError,
    Reason,
    ResourceTimeoutError,
    Timeout,
)
from calls import Background, in_both_ways, once, quick, statuses, takes, waits
from fault_server import FaultServer


def idle(milliseconds: int) -> Timeout:
    return Timeout(timeout_interval_for_request_ms=milliseconds)


def resource(milliseconds: int) -> Timeout:
    return Timeout(timeout_interval_for_resource_ms=milliseconds)


def lasted(attempt: Attempt) -> float:
    """Milliseconds."""
    return attempt.ended_ms - attempt.started_ms


def test_f30_a_first_byte_within_the_idle_time(server: FaultServer, client: Client) -> None:
    """M1."""
    response = client.get(server.url("/seq/200", id=server.new_id(), first=200), timeout=idle(20_000))
    assert response.status == 200
    assert lasted(response.attempts[0]) >= 200


def test_f31_each_byte_restarts_the_idle_time(server: FaultServer, client: Client) -> None:
    """M1. Given a body that takes longer than the idle time in all, but no gap that does."""
    url = server.url("/seq/200", id=server.new_id(), size=16, every=250)
    response = client.get(url, timeout=idle(2_500))
    assert (response.status, len(response.content)) == (200, 16)
    assert lasted(response.attempts[0]) > 2_500


def test_f32_silence_after_a_burst(server: FaultServer) -> None:
    """M1. Given 20 MB at once, then silence, then the idle timeout comes its whole time after the last byte."""
    url = server.url("/seq/200", id=server.new_id(), size=40_000_000, stall_after=20_000_000)
    with Client(once()) as client, takes(1):
        for error in in_both_ways(client, "GET", url, timeout=idle(500)):
            assert type(error) is IdleTimeoutError
            assert lasted(error.attempts[0]) >= 500


def test_f33_a_body_that_never_ends_meets_the_resource_timeout(server: FaultServer) -> None:
    """M2. Given one byte every 200 ms and a resource timeout of 700 ms."""
    url = server.url("/seq/200", id=server.new_id(), size=1000, every=200)
    with Client(once()) as client:
        for error in in_both_ways(client, "GET", url, timeout=resource(700)):
            assert type(error) is ResourceTimeoutError
            assert lasted(error.attempts[0]) >= 700


def test_m4_the_resource_timeout_is_retried_as_an_exception(server: FaultServer, client: Client) -> None:
    """M3. And each attempt has the whole of it."""
    url = server.url("/seq/200,200", {"1.size": 1000, "1.every": 50, "2.first": 100}, id=server.new_id())
    response = client.get(url, timeout=resource(1_000))
    assert response.status == 200
    assert statuses(response.attempts) == ["TIMEOUT_RESOURCE", 200]
    assert lasted(response.attempts[0]) >= 1_000


@pytest.mark.parametrize(
    ("kind", "place"), [("http", "before"), ("http", "headers"), ("http", "body"), ("silent", ""), ("backlog", "")]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_m1_m4_anything_that_stalls_meets_the_idle_timeout(
    server: FaultServer, kind: str, place: str, method: str
) -> None:
    """Connecting, waiting and reading. It is a network exception, retried like any other."""
    path = f"/seq/stall:{place}" if place else "/"
    url = server.url(path, {"id": server.new_id()}, kind=kind)
    with Client(quick(max_retries_on_exception=1)) as client:
        for error in in_both_ways(client, method, url, timeout=idle(150), data="body"):
            assert type(error) is IdleTimeoutError
            assert isinstance(error, TimeoutError)
            assert isinstance(error, NetworkError)
            assert statuses(error.attempts) == ["TIMEOUT_IDLE"] * 2
            assert all(lasted(attempt) >= 150 for attempt in error.attempts)
            assert waits(error.attempts) == [0.002]


def test_m1_a_tls_handshake_that_never_comes_meets_the_idle_timeout(server: FaultServer, client: Client) -> None:
    with pytest.raises(IdleTimeoutError):
        client.get(f"https://127.0.0.1:{server.ports['silent']}/", timeout=idle(150), strategy=once())


def test_m1_a_server_that_does_not_read_meets_the_idle_timeout(server: FaultServer, client: Client) -> None:
    """Given an upload of which the server takes nothing after the first bytes."""
    port = server.open("http", rcvbuf=4096)
    target = server.target("/seq/200", id=server.new_id(), read=1, read_every=600_000)
    with pytest.raises(IdleTimeoutError):
        client.put(f"http://127.0.0.1:{port}{target}", data=bytes(20_000_000), timeout=idle(700), strategy=once())


def test_m3_no_timeout(server: FaultServer, client: Client) -> None:
    url = server.url("/seq/200", id=server.new_id(), first=300)
    assert client.get(url, timeout=Timeout(None, None)).status == 200


@pytest.mark.parametrize("milliseconds", [0, -1, -(2**63)])
def test_m3_timeouts_below_one_are_refused(client: Client, milliseconds: int) -> None:
    for name in ("timeout_interval_for_request_ms", "timeout_interval_for_resource_ms"):
        timeout = Timeout()
        object.__setattr__(
            timeout, name, milliseconds
        )  # Made so, it would have been refused before the library saw it.
        with pytest.raises(ValueError, match="must be 1 or more"):
            client.get("http://127.0.0.1:1/", timeout=timeout)
        with pytest.raises(ValueError, match="must be 1 or more"):
            Client(timeout=timeout)


def test_m1_the_client_s_timeout_holds_where_the_request_has_none(server: FaultServer) -> None:
    url = server.url("/seq/200", id=server.new_id(), first=400)
    with Client(once(), timeout=idle(100)) as client:
        with pytest.raises(IdleTimeoutError):
            client.get(url)
        assert client.get(url, timeout=idle(60_000)).status == 200


def test_b11_the_deadline_ends_an_attempt(server: FaultServer, client: Client) -> None:
    """Its error is not a network exception, and nothing is retried."""
    id = server.new_id()
    for error in in_both_ways(client, "GET", server.url("/seq/stall", id=id), deadline=0.3):
        assert type(error) is DeadlineError
        assert isinstance(error, TimeoutError)
        assert not isinstance(error, NetworkError)
    assert len(server.seen(id)) == 2


def test_b11_the_client_s_deadline_holds_where_the_request_has_none(server: FaultServer) -> None:
    url = server.url("/seq/200", id=server.new_id(), first=500)
    with Client(quick(), deadline=0.2) as client:
        with takes(0.2), pytest.raises(DeadlineError):
            client.get(url)
        assert client.get(url, deadline=60).status == 200
        assert client.get(url, deadline=float("inf")).status == 200


def test_f34_what_is_left_of_the_deadline_is_never_no_limit(server: FaultServer) -> None:
    """B11, M3. Given attempt 1 that takes nearly all of it: attempt 2 gets what is left, or is not begun."""
    for first in (150, 190, 195, 199):
        url = server.url("/seq/503,stall", {"503.first": first, "503.h": "Retry-After:0"}, id=server.new_id())
        with Client(quick()) as client, takes(0.15, 0.2):
            try:
                response = client.get(url, deadline=0.2)
                assert response.attempts[-1].reason is Reason.DEADLINE
            except DeadlineError as error:
                assert len(error.attempts) <= 2


def test_f35_a_wait_that_would_cross_the_deadline_is_not_begun(server: FaultServer) -> None:
    """B11. Given waits of 0.2, 0.4 and 0.8 s, and a deadline of 1 s, then it ends after 0.6 s, with the response."""
    id = server.new_id()
    with Client(quick(retry_base_interval=0.1)) as client, takes(0.6):
        response = client.get(server.url("/seq/503", id=id), deadline=1)
    assert response.status == 503
    assert response.attempts[-1].reason is Reason.DEADLINE
    assert response.attempts[-1].ended_ms <= 1000
    assert len(server.seen(id)) == len(response.attempts) <= 3


def test_f36_a_late_answer_is_never_given_to_the_next_attempt(server: FaultServer, client: Client) -> None:
    """B13. Given that it arrives while the next attempt reads its own: that has a separate connection."""
    id = server.new_id()
    pace: dict[str, Any] = {"1.first": 1_200, "1.body": "late", "2.every": 150, "2.body": "minemine"}
    url = server.url("/seq/200,200", pace, id=id)
    response = client.get(url, timeout=idle(800), strategy=quick(max_retries_on_exception=4))
    assert response.content == b"minemine"
    assert response.attempts[0].cause is Cause.TIMEOUT_IDLE
    connections = [request["connection"] for request in server.seen(id)]
    assert len(set(connections)) == len(connections) == len(response.attempts)


def test_m5_many_silent_transfers_time_out_none_early(server: FaultServer) -> None:
    """Given 200 at once, half of them waiting for a connection's turn: the time runs from that turn."""
    url = server.url("/seq/stall", id=server.new_id(), quiet="")
    with Client(once(), timeout=idle(300), max_transfers=100) as client:
        calls = [client.submit("GET", url) for _ in range(200)]
        ended = []
        for call in calls:
            with pytest.raises(IdleTimeoutError) as raised:
                call.response()
            ended.append(lasted(raised.value.attempts[0]))
    assert min(ended) >= 300
    assert max(ended) < 10_000


@pytest.mark.parametrize("kind", ["http", "https", "h2"])
def test_m5_data_that_comes_while_foreign_code_holds_the_loop_is_not_silence(
    server: FaultServer, client: Client, kind: str
) -> None:
    """Given a byte every 100 ms, and a callback of another call that takes longer than the idle time."""
    url = server.url("/seq/200", id=server.new_id(), size=45, every=100, kind=kind)
    call = client.submit("GET", url, timeout=idle(2_000), strategy=once())
    holding = [True]

    def hold(_: object) -> None:
        if holding.pop():
            time.sleep(3)
        holding.append(False)

    held = client.submit("GET", server.url("/seq/200", id=server.new_id(), first=300), on_progress=hold)
    assert call.response().status == 200
    assert held.response().status == 200


def test_m1_an_upload_that_is_slow_but_steady_succeeds(server: FaultServer, client: Client) -> None:
    """F38. Given an upload that the server reads piece by piece, in all for longer than the idle time."""
    port = server.open("http", rcvbuf=262_144)
    id = server.new_id()
    target = server.target("/seq/200", id=id, read=100_000, read_every=100)
    body = bytes(3_000_000)
    response = client.put(f"http://127.0.0.1:{port}{target}", data=body, timeout=idle(1_500))
    assert response.status == 200
    assert lasted(response.attempts[0]) > 1_500
    assert server.seen(id)[0]["body_length"] == len(body)


def test_m1_data_that_the_kernel_drains_is_not_silence(server: FaultServer, client: Client) -> None:
    """F38. Given an upload that the kernel takes at once, and a peer that is slow to read it, then it succeeds."""
    port = server.open("http", rcvbuf=4_096)
    id = server.new_id()
    target = server.target("/seq/200", id=id, read=20_000, read_every=20)
    body = bytes(600_000)
    response = client.put(f"http://127.0.0.1:{port}{target}", data=body, timeout=idle(1_500), strategy=once())
    assert response.status == 200
    assert lasted(response.attempts[0]) > 2_000
    assert server.seen(id)[0]["body_length"] == len(body)


def test_a_call_that_times_out_elsewhere_disturbs_no_other(server: FaultServer, client: Client) -> None:
    stalled = Background(
        lambda: client.get(server.url("/seq/stall", id=server.new_id()), timeout=idle(300), strategy=once())
    )
    for _ in range(20):
        assert client.get(server.url("/seq/200", id=server.new_id())).status == 200
    with pytest.raises(BoxRetryError, match="no data was transferred"):
        stalled.result()
