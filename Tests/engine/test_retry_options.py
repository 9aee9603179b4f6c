"""Every field of the retry options, with a server that makes it matter; those of B1 are in test_retries too."""

from __future__ import annotations

import pytest
from boxretry import Client, ConnectError, DelaySource, Reason, RetryStrategy
from calls import quick, statuses, waits
from fault_server import FaultServer


@pytest.mark.parametrize("count", [0, 1, 3])
def test_b3_max_attempts(server: FaultServer, count: int) -> None:
    """0 retries no response, as 1 does."""
    id = server.new_id()
    with Client(quick(max_attempts=count)) as client:
        response = client.get(server.url("/seq/503", id=id))
    assert len(response.attempts) == len(server.seen(id)) == max(count, 1)
    assert response.attempts[-1].reason is Reason.ATTEMPTS_EXHAUSTED


@pytest.mark.parametrize("count", [0, 1, 3])
def test_b3_max_retries_on_exception(server: FaultServer, count: int) -> None:
    with Client(quick(max_retries_on_exception=count)) as client, pytest.raises(ConnectError) as raised:
        client.get(f"http://127.0.0.1:{server.ports['refused']}/")
    assert [attempt.exception_number for attempt in raised.value.attempts] == list(range(1, count + 2))


@pytest.mark.parametrize("base", [0, 0.001, 0.002])
def test_b6_retry_base_interval(server: FaultServer, base: float) -> None:
    """The first wait is twice as long, and each doubles."""
    with Client(quick(retry_base_interval=base)) as client:
        response = client.get(server.url("/seq/503*3,200", id=server.new_id()))
    assert waits(response.attempts) == [2 * base, 4 * base, 8 * base]


@pytest.mark.parametrize("factor", [0, 0.5, 1])
def test_b6_f24_retry_randomization_factor(server: FaultServer, factor: float) -> None:
    """Given two clients, then their waits stay in the range, and differ if there is any jitter."""
    drawn: list[list[float]] = []
    for _ in range(2):
        with Client(RetryStrategy(retry_base_interval=0.0005, retry_randomization_factor=factor)) as client:
            url = server.url("/seq/503,200", id=server.new_id(), cycle="")
            drawn.append([wait for _ in range(20) for wait in waits(client.get(url).attempts)])
    for wait in [*drawn[0], *drawn[1]]:
        assert 0.001 * (1 - factor) <= wait <= 0.001 * (1 + factor)
    assert len(set(drawn[0])) == (20 if factor else 1)
    assert (drawn[0] == drawn[1]) is (factor == 0)


def test_f24_two_clients_never_wait_alike(server: FaultServer) -> None:
    """B6. Given a thousand waits of each: many different values, in two sequences that differ."""
    url = f"http://127.0.0.1:{server.ports['refused']}/"
    drawn: list[list[float]] = []
    for _ in range(2):
        with Client(RetryStrategy(retry_base_interval=1e-6, max_retries_on_exception=1)) as client:
            calls = [client.submit("GET", url) for _ in range(1_000)]
            drawn.append([])
            for call in calls:
                with pytest.raises(ConnectError) as raised:
                    call.response()
                drawn[-1].append(raised.value.attempts[0].delay)
    assert all(1e-6 <= wait <= 3e-6 for each in drawn for wait in each)
    assert min(len(set(each)) for each in drawn) > 990
    assert sum(one == other for one, other in zip(*drawn)) < 10
    assert [sum(wait >= 2e-6 for wait in each) in range(400, 600) for each in drawn] == [True, True]


@pytest.mark.parametrize(("cap", "expected"), [(0, [0.002, 0.004, 0.008]), (0.003, [0.002, 0.003, 0.003])])
def test_b11_backoff_cap(server: FaultServer, cap: float, expected: list[float]) -> None:
    with Client(quick(backoff_cap=cap)) as client:
        response = client.get(server.url("/seq/503*3,200", id=server.new_id()))
    assert waits(response.attempts) == expected


def test_b11_a_backoff_cap_does_not_apply_to_retry_after(server: FaultServer) -> None:
    url = server.url("/seq/503,200", {"503.h": "Retry-After:0.05"}, id=server.new_id())
    with Client(quick(backoff_cap=0.001)) as client:
        assert waits(client.get(url).attempts) == [0.05]


def test_b11_retry_after_cap_clamps(server: FaultServer) -> None:
    """The record has both: what was waited for, and what the server asked for."""
    url = server.url("/seq/503,200", {"503.h": "Retry-After:3600"}, id=server.new_id())
    with Client(quick(retry_after_cap=0.01)) as client:
        response = client.get(url)
    assert (response.status, waits(response.attempts)) == (200, [0.01])
    assert response.attempts[0].retry_after == 3600


def test_b11_retry_after_over_cap_stops(server: FaultServer) -> None:
    """With the response, and the value; what is not above the cap is waited for."""
    id = server.new_id()
    url = server.url("/seq/503,503,200", {"1.h": "Retry-After:0.01", "2.h": "Retry-After:0.02"}, id=id)
    with Client(quick(retry_after_cap=0.01, retry_after_over_cap="stop")) as client:
        response = client.get(url)
    assert (response.status, statuses(response.attempts), len(server.seen(id))) == (503, [503, 503], 2)
    assert [attempt.reason for attempt in response.attempts] == [Reason.SERVER_ERROR, Reason.RETRY_AFTER_OVER_CAP]
    assert response.attempts[1].retry_after == 0.02


@pytest.mark.parametrize(
    ("lines", "wait"),
    [
        (["retry-after-ms:30"], 0.03),
        (["Retry-After:60", "Retry-After-MS:30"], 0.03),
        (["X-Wait:0.04", "Retry-After-MS:30"], 0.03),
        (["X-Wait:0.04", "Retry-After-MS:soon"], 0.04),
        (["Retry-After:0.05", "X-Other:1"], 0.05),
    ],
)
def test_b11_delay_headers(server: FaultServer, lines: list[str], wait: float) -> None:
    """The first of them that is usable wins, and over Retry-After too."""
    headers = {"Retry-After-Ms": 0.001, "X-Wait": 1}
    with Client(quick(delay_headers=headers)) as client:
        response = client.get(server.url("/seq/503,200", {"503.h": lines}, id=server.new_id()))
    assert waits(response.attempts) == [wait]
    assert response.attempts[0].delay_source is DelaySource.RETRY_AFTER


def test_b11_delay_headers_are_off_by_default(server: FaultServer, client: Client) -> None:
    url = server.url("/seq/503,200", {"503.h": "retry-after-ms:60000"}, id=server.new_id())
    assert waits(client.get(url).attempts) == [0.002]


@pytest.mark.parametrize(
    ("status", "says", "reason"),
    [
        (409, "true", Reason.RETRY_REQUESTED),
        (503, "false", Reason.RETRY_REFUSED),
        (503, "perhaps", Reason.SERVER_ERROR),
        (404, "perhaps", Reason.NOT_RETRYABLE),
    ],
)
def test_b11_should_retry_header(server: FaultServer, status: int, says: str, reason: Reason) -> None:
    with Client(quick(should_retry_header="x-should-retry")) as client:
        attempts = client.get(
            server.url(f"/seq/{status},200", {f"{status}.h": f"X-Should-Retry:{says}"}, id=server.new_id())
        ).attempts
    assert attempts[0].reason is reason
    assert len(attempts) == (2 if reason in (Reason.RETRY_REQUESTED, Reason.SERVER_ERROR) else 1)


def test_b11_should_retry_header_within_the_limits(server: FaultServer) -> None:
    url = server.url("/seq/409", {"409.h": "x-should-retry:true"}, id=server.new_id())
    with Client(quick(should_retry_header="x-should-retry", max_attempts=3)) as client:
        assert len(client.get(url).attempts) == 3
    with Client(quick(should_retry_header="x-should-retry", retry_unsafe_methods=False)) as client:
        assert [attempt.reason for attempt in client.post(url).attempts] == [Reason.UNSAFE_REQUEST]


def test_b11_should_retry_header_is_off_by_default(server: FaultServer, client: Client) -> None:
    url = server.url("/seq/409,200", {"409.h": "x-should-retry:true"}, id=server.new_id())
    assert client.get(url).status == 409


@pytest.mark.parametrize("method", ["POST", "PATCH"])
@pytest.mark.parametrize(("lines", "requests"), [([], 1), (["Retry-After:0"], 2)])
def test_b12_retry_unsafe_methods_off(server: FaultServer, method: str, lines: list[str], requests: int) -> None:
    """A 503 with Retry-After says that the server did not act on the request; one without says nothing."""
    id = server.new_id()
    with Client(quick(retry_unsafe_methods=False)) as client:
        response = client.request(method, server.url("/seq/503,200", {"503.h": lines}, id=id), data="body")
    assert len(response.attempts) == len(server.seen(id)) == requests
    assert requests == 2 or response.attempts[0].reason is Reason.UNSAFE_REQUEST


def test_c1_a_budget_bounds_the_retries_of_all_calls_together(server: FaultServer) -> None:
    """Given one of 4, then two retries are made in all, and each success gives back what the ratio says."""
    down, well = server.new_id(), server.new_id()
    with Client(quick(), budget_capacity=4, budget_ratio=0.5) as client:
        reasons = [
            [attempt.reason for attempt in client.get(server.url("/seq/503", id=down)).attempts] for _ in range(3)
        ]
        assert reasons == [
            [Reason.SERVER_ERROR, Reason.SERVER_ERROR, Reason.RETRY_BUDGET_SPENT],
            [Reason.RETRY_BUDGET_SPENT],
            [Reason.RETRY_BUDGET_SPENT],
        ]
        assert client.get(server.url("/seq/200", id=well)).status == 200
        assert len(client.get(server.url("/seq/503", id=down)).attempts) == 2
