"""Broken answers and reused connections: the cases F53 to F57, and B13."""

from __future__ import annotations

import copy
import os

import pytest
from boxretry import (
    Cause,
    Client,
    NetworkError,
    Preset,
    ProtocolError,
    Reason,
    ReceiveError,
    Response,
    ResponseTooLargeError,
    SendError,
    Timeout,
)
from calls import Background, eventually, in_both_ways, once, quick, recorded, statuses
from fault_server import FaultServer, pattern

METHODS = ["GET", "POST", "PUT", "DELETE"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "fault", ["short", "close:40", "cut:body", "reset:body", "reset:headers", "close:headers", "garbage"]
)
def test_f53_an_answer_that_breaks_off_is_an_exception_and_retried(
    server: FaultServer, client: Client, method: str, fault: str
) -> None:
    """B2, B12, B15. The whole body of the next attempt comes, and nothing of the broken one."""
    for _ in range(2):
        id = server.new_id()
        response = client.request(method, server.url(f"/seq/{fault},200", {"size": 100}, id=id))
        assert (response.status, response.content) == (200, pattern(100))
        assert response.attempts[0].status == 0
        assert response.attempts[0].cause.name in ("RECEIVE", "PROTOCOL")
        assert len(server.seen(id)) == recorded(response.attempts) == 2


@pytest.mark.parametrize("head", ["HTTP/1.1 200 OK\r\nHTTP/9: 503 y\r\n", "HTTP/1.1 200 OK\r\nHTTP/x: y\r\n"])
def test_b10_only_the_status_line_says_the_status(server: FaultServer, head: str) -> None:
    """Given odd heads that libcurl takes for a 200, then that is what they are, at the first attempt."""
    with Client(once(), timeout=Timeout(2_000)) as client:
        raw = head + "Content-Length: 2\r\n\r\nok"
        response = client.get(server.url("/seq/200", {"raw": raw}, id=server.new_id()))
        assert (response.status, response.content, len(response.attempts)) == (200, b"ok", 1)


@pytest.mark.parametrize(
    ("parameters", "errors"),
    [
        ({"raw": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "close": "end"}, (ReceiveError,)),
        ({"raw": "nonsense\r\n\r\n"}, (ProtocolError,)),
        ({"raw": "", "close": "end"}, (ReceiveError,)),
        ({"raw": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}, (ProtocolError, ReceiveError)),
        ({"raw": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "close": "end"}, (ReceiveError,)),
        ({"raw": "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"}, (ProtocolError, ReceiveError)),
        ({"raw": "HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 0\r\n\r\n"}, (ProtocolError, Response)),
        ({"raw": "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n"}, (ProtocolError,)),
        ({"headers": "endless"}, (ResponseTooLargeError,)),
        ({"headers": 2_000_000}, (ResponseTooLargeError,)),
        ({"headers": 500_000, "header_line": 300_000}, (ResponseTooLargeError,)),
        ({"status_line": "HTTP/1.1 200"}, (Response,)),
        ({"headers": 100_000}, (Response,)),
        ({"until_close": ""}, (Response,)),
        ({"chunked": "", "trailer": "X-End:yes"}, (Response,)),
        ({"hint": "Link:</x>"}, (Response,)),
    ],
)
def test_anything_that_a_server_says_is_a_response_or_an_error(
    server: FaultServer, parameters: dict[str, str], errors: tuple[type, ...]
) -> None:
    with Client(once(), timeout=Timeout(2_000)) as client:
        for result in in_both_ways(client, "GET", server.url("/seq/200", dict(parameters), id=server.new_id())):
            assert isinstance(result, errors), result
            assert client.get(server.url("/seq/200", id=server.new_id())).status == 200


@pytest.mark.parametrize("port", ["close", "reset"])
@pytest.mark.parametrize("method", METHODS)
def test_a_server_that_hangs_up_at_the_first_bytes(server: FaultServer, method: str, port: str) -> None:
    """On a new connection: that is an exception, and no reconnect."""
    with Client(quick(max_retries_on_exception=1)) as client:
        for error in in_both_ways(client, method, f"http://127.0.0.1:{server.ports[port]}/", data="body"):
            assert isinstance(error, (ReceiveError, SendError))
            assert [attempt.reconnects for attempt in error.attempts] == [0, 0]


@pytest.mark.parametrize("how", ["close", "cut", "reset"])
@pytest.mark.parametrize("method", METHODS)
def test_f54_a_kept_alive_connection_that_ended_meanwhile(
    server: FaultServer, client: Client, method: str, how: str
) -> None:
    """B13. The server never sees a request that the record does not have; noticed before sending or not."""
    for _ in range(5):
        id = server.new_id()
        url = server.url("/seq/200", id=id)
        assert client.request(method, url, data="first").status == 200
        assert server.hang_up(id, how) == 1
        response = client.request(method, url, data="second")
        assert (response.status, statuses(response.attempts)[-1]) == (200, 200)
        seen = server.seen(id)
        assert [request["body_start"] for request in seen][:2] == ["first", "second"]
        assert 1 <= len(seen) - 1 <= recorded(response.attempts)


@pytest.mark.parametrize("how", ["close", "cut", "reset"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_f54_the_same_over_tls(server: FaultServer, client: Client, method: str, how: str) -> None:
    """B13."""
    for _ in range(3):
        id = server.new_id()
        url = server.url("/seq/200", kind="https", id=id)
        assert client.request(method, url, data="first").status == 200
        assert server.hang_up(id, how) == 1
        response = client.request(method, url, data="second")
        assert (response.status, statuses(response.attempts)[-1]) == (200, 200)
        assert 1 <= len(server.seen(id)) - 1 <= recorded(response.attempts)


@pytest.mark.parametrize("fault", ["close:request", "reset:request", "close", "reset", "cut"])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_f54_a_connection_that_ends_on_seeing_an_idempotent_request(
    server: FaultServer, client: Client, method: str, fault: str
) -> None:
    """B13. Given a reused connection, then it is sent again at once on a new one, and the record says so."""
    id = server.new_id()
    url = server.url(f"/seq/200,{fault},200", id=id)
    assert client.request(method, url).status == 200
    response = client.request(method, url)
    assert statuses(response.attempts) == [200]
    assert response.attempts[0].reconnects == 1
    seen = server.seen(id)
    assert len(seen) == 1 + recorded(response.attempts) == 3
    assert seen[0]["connection"] == seen[1]["connection"] != seen[2]["connection"]
    assert client.stats().reconnects == 1


@pytest.mark.parametrize("fault", ["close:request", "reset:request", "close", "reset", "cut"])
@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_f54_a_connection_that_ends_on_seeing_a_post(server: FaultServer, method: str, fault: str) -> None:
    """B13. Given a reused connection and a POST whose bytes were sent, then it is an exception: nothing hidden."""
    id = server.new_id()
    url = server.url(f"/seq/200,{fault},200", id=id)
    with Client(once()) as client:
        assert client.request(method, url, data="first").status == 200
        with pytest.raises(NetworkError) as raised:
            client.request(method, url, data="second")
        assert recorded(raised.value.attempts) == 1
        assert len(server.seen(id)) == 2
    with Client(quick()) as client:
        id = server.new_id()
        url = server.url(f"/seq/200,{fault},200", id=id)
        assert client.request(method, url, data="first").status == 200
        response = client.request(method, url, data="second")
        assert statuses(response.attempts)[1:] == [200]
        assert len(server.seen(id)) == 1 + recorded(response.attempts) == 3


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_f110_a_reconnect_is_one_of_the_retries(server: FaultServer, method: str) -> None:
    """B5, B13. Given 500 four times, then a reset on each kept-alive connection, then the server sees 6 requests."""
    id = server.new_id()
    url = server.url("/seq/500*4,reset,reset,200", id=id)
    with Client(quick(max_attempts=5)) as client, pytest.raises(ReceiveError) as raised:
        client.request(method, url)
    error = raised.value
    assert len(server.seen(id)) == recorded(error.attempts) == 6
    assert statuses(error.attempts) == [500, 500, 500, 500, "RECEIVE"]
    (reconnect,) = error.reconnects
    assert (reconnect.attempt_number, reconnect.cause) == (5, Cause.RECEIVE)
    assert error.attempts[4].started_ms <= reconnect.at_ms <= error.attempts[4].ended_ms


@pytest.mark.parametrize("fault", ["reset", "close"])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_f111_january_s_preset_sends_nothing_again(server: FaultServer, method: str, fault: str) -> None:
    """B13. Given 200, then a reset on the kept-alive connection, then one request each, and the exception."""
    id = server.new_id()
    url = server.url(f"/seq/200,{fault},200", id=id)
    with Client(preset=Preset.JANUARY) as client:
        assert client.request(method, url).status == 200
        with pytest.raises(ReceiveError) as raised:
            client.request(method, url)
    assert len(server.seen(id)) == 2
    assert (recorded(raised.value.attempts), raised.value.reconnects) == (1, [])


@pytest.mark.parametrize("where", ["client", "request"])
def test_b13_the_switch_turns_reconnects_off(server: FaultServer, where: str) -> None:
    """Then a dead connection is an exception, and retried as one. A request's own switch wins."""
    id = server.new_id()
    url = server.url("/seq/200,close,200,close,200", id=id)
    with Client(quick(), reconnect=where == "request") as client:
        client.get(url)
        response = client.get(url, reconnect=False if where == "request" else None)
        assert statuses(response.attempts) == ["RECEIVE", 200] and response.reconnects == []
        response = client.get(url, reconnect=True)
        assert statuses(response.attempts) == [200] and len(response.reconnects) == 1
    assert len(server.seen(id)) == 5


def test_b13_the_record_shows_a_reconnect(server: FaultServer, client: Client) -> None:
    """With its time and cause, also in a copy of the response."""
    id = server.new_id()
    url = server.url("/seq/200,close,503,200", id=id)
    client.get(url)
    response = client.get(url)
    (reconnect,) = response.reconnects
    assert (reconnect.attempt_number, reconnect.cause) == (1, Cause.RECEIVE)
    assert 0 <= reconnect.at_ms <= response.attempts[0].ended_ms
    assert [attempt.reconnects for attempt in response.attempts] == [1, 0]
    assert copy.copy(response).reconnects == response.reconnects


def test_b13_c1_a_reconnect_is_charged_to_the_budget(server: FaultServer) -> None:
    """Given a budget for one retry: the reconnect takes it, and the exception after it is not retried."""
    id = server.new_id()
    url = server.url("/seq/200,close,close,200", id=id)
    with Client(quick(), budget_capacity=2) as client:
        client.get(url)
        with pytest.raises(ReceiveError) as raised:
            client.get(url)
    assert [attempt.reason for attempt in raised.value.attempts] == [Reason.RETRY_BUDGET_SPENT]
    assert len(server.seen(id)) == 1 + recorded(raised.value.attempts) == 3


@pytest.mark.parametrize("method", METHODS)
def test_b13_a_reconnect_comes_once_in_a_call(server: FaultServer, method: str) -> None:
    """Given connections that end whenever they see a request but the first, then the call ends, all of it recorded."""
    id = server.new_id()
    url = server.url("/seq/200,close", id=id)
    with Client(quick(max_retries_on_exception=2)) as client:
        client.request(method, url, data="body")
        with pytest.raises(NetworkError) as raised:
            client.request(method, url, data="body")
    attempts = raised.value.attempts
    assert len(attempts) == 3
    assert sum(attempt.reconnects for attempt in attempts) == len(raised.value.reconnects) == (method != "POST")
    assert len(server.seen(id)) == 1 + recorded(attempts)


def test_b13_after_an_exception_the_next_attempt_has_a_new_connection(server: FaultServer, client: Client) -> None:
    """Also if others are there to be reused."""
    id, other = server.new_id(), server.new_id()
    slow = [client.submit("GET", server.url("/seq/200", id=other, first=50)) for _ in range(3)]
    for call in slow:
        call.response()
    kept = {request["connection"] for request in server.seen(other)}
    response = client.get(server.url("/seq/short,200", id=id))
    assert response.status == 200
    assert server.seen(id)[1]["connection"] not in kept | {server.seen(id)[0]["connection"]}


def test_connections_are_reused(server: FaultServer, client: Client) -> None:
    id = server.new_id()
    for _ in range(10):
        client.get(server.url("/seq/200", id=id))
        Background(lambda: client.get(server.url("/seq/200", id=id))).result()
    assert len({request["connection"] for request in server.seen(id)}) == 1


def test_bytes_behind_an_answer_are_dropped(server: FaultServer, client: Client) -> None:
    """Given a server that sends more than it announced, then the next request does not take that for its answer."""
    for _ in range(5):
        response = client.get(server.url("/seq/200", id=server.new_id(), extra=100))
        assert (response.status, len(response.content)) == (200, 64)
        response = client.get(server.url("/seq/200", id=server.new_id()))
        assert (response.status, response.content) == (200, pattern(64))


def test_f55_no_descriptor_is_left_open(server: FaultServer) -> None:
    """Given 1,000 calls that end in 503 or an exception, then no more are open than connections are kept."""
    before = len(os.listdir("/proc/self/fd"))
    client = Client(once())
    client.get(server.url("/seq/200", id=server.new_id(), quiet=""))
    ends = [0, 0]
    url = server.url("/seq/503,reset,short,stall", {"id": server.new_id(), "cycle": "", "quiet": ""})
    for _ in range(1_000):
        try:
            assert client.get(url, timeout=Timeout(20)).status == 503
            ends[0] += 1
        except NetworkError:
            ends[1] += 1
    assert min(ends) > 100
    assert len(os.listdir("/proc/self/fd")) <= before + 10
    client.close()
    del client
    eventually(lambda: len(os.listdir("/proc/self/fd")) <= before)


@pytest.mark.parametrize("kind", ["http", "h2"])
@pytest.mark.parametrize("method", ["PUT", "POST"])
@pytest.mark.parametrize("size", [10, 3_000_000])
def test_f57_nothing_is_lost_on_expect(server: FaultServer, client: Client, method: str, size: int, kind: str) -> None:
    """Given a server that ignores `Expect: 100-continue`, then no request waits for it: it is not asked."""
    id = server.new_id()
    response = client.request(method, server.url("/echo", id=id, expect="ignore", kind=kind), data=bytes(size))
    assert response.json()["body_length"] == size
    assert "expect" not in [name.lower() for name, _ in server.seen(id)[0]["headers"]]


def test_an_answer_that_comes_before_the_body_was_sent(server: FaultServer, client: Client) -> None:
    """Given a server that refuses on seeing the head, then its answer counts."""
    id = server.new_id()
    response = client.put(server.url("/seq/413", id=id, early=""), data=bytes(5_000_000))
    assert response.status == 413


def test_head_has_no_body(server: FaultServer, client: Client) -> None:
    response = client.head(server.url("/seq/200", id=server.new_id()))
    assert (response.status, response.content) == (200, b"")
    assert response.headers["Content-Length"] == "64"
    assert client.get(server.url("/seq/200", id=server.new_id())).status == 200


def test_head_with_a_body(server: FaultServer) -> None:
    """Odd, but allowed (RFC 9110, 9.3.2)."""
    with Client(once(), timeout=Timeout(1_000)) as client:
        assert client.head(server.url("/seq/200", id=server.new_id()), data="body").status == 200


@pytest.mark.parametrize("fault", ["short", "reset:body"])
def test_b7_retry_after_of_a_response_that_broke_off_is_the_delay(
    server: FaultServer, client: Client, fault: str
) -> None:
    """As for an outcome with a cause and headers (see boxretry_outcome)."""
    url = server.url(f"/seq/{fault},200", {"1.h": "Retry-After:0.1"}, id=server.new_id())
    assert client.get(url).attempts[0].delay == 0.1


@pytest.mark.parametrize("status", [204, 304])
def test_statuses_without_a_body(server: FaultServer, client: Client, status: int) -> None:
    response = client.get(server.url(f"/seq/{status}", id=server.new_id()))
    assert (response.status, response.content, response.ok) == (status, b"", True)


def test_one_broken_call_among_many(server: FaultServer, client: Client) -> None:
    """Given faults of all kinds under way at once, then each call has its own end."""
    items = ["200", "short", "reset:body", "garbage", "503", "stall", "close:headers", "202"]
    urls = [server.url(f"/seq/{item}", id=server.new_id()) for item in items]
    calls = [client.submit("GET", url, strategy=once(), timeout=Timeout(500)) for url in urls for _ in range(10)]
    for index, call in enumerate(calls):
        item = items[index // 10]
        if item.isdigit():
            response = call.response()
            assert (response.status, response.content) == (int(item), pattern(64))
        else:
            with pytest.raises(NetworkError) as raised:
                call.response()
            assert len(raised.value.attempts) == 1
