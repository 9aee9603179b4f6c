"""HTTP/2: many streams on one connection, each with its own fate; F53 to F56 once more, and M1 by stream."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from boxretry import (
    CancelledError,
    Cause,
    Client,
    HTTPVersion,
    IdleTimeoutError,
    NetworkError,
    Preset,
    ProtocolError,
    Reason,
    ReceiveError,
    RequestSent,
    ResponseTooLargeError,
    RetryStrategy,
    Timeout,
)
from calls import LIBCURL, PATIENCE, Background, eventually, in_both_ways, once, quick, recorded, statuses, waits
from fault_server import FaultServer, pattern
from programs import preloaded, run

METHODS = ["GET", "POST", "PUT", "DELETE"]
STREAM_FAULTS = ["stream_reset:request", "stream_reset", "stream_reset:headers", "stream_reset:body", "stream_end:body"]
CONNECTION_FAULTS = ["reset", "close", "cut", "goaway", "goaway:body", "reset:headers", "close:body"]


def idle(milliseconds: int) -> Timeout:
    return Timeout(timeout_interval_for_request_ms=milliseconds)


def connections(server: FaultServer, *ids: str) -> set[int]:
    return {request["connection"] for id in ids for request in server.seen(id)}


# --- Versions ---


def test_http_2_is_spoken_where_it_is_offered(server: FaultServer, client: Client) -> None:
    versions = {}
    for kind in ("http", "https", "h2"):
        id = server.new_id()
        versions[kind] = client.get(server.url("/seq/200", id=id, kind=kind)).attempts[0].http_version
    assert versions == {"http": 11, "https": 11, "h2": 20}


@pytest.mark.parametrize("kind", ["h2", "h2c", "https", "http"])
@pytest.mark.parametrize("version", list(HTTPVersion))
@pytest.mark.parametrize("is_client_s", [True, False])
def test_versions_may_be_chosen(server: FaultServer, kind: str, version: HTTPVersion, is_client_s: bool) -> None:
    """By the client or by the request, which wins. Where the server cannot do it, it is an exception."""
    can = {
        HTTPVersion.HTTP_DEFAULT: {"h2": 20, "https": 11, "http": 11},
        HTTPVersion.HTTP_1_1: {"h2": 11, "https": 11, "http": 11},
        HTTPVersion.HTTP_2: {"h2": 20, "https": 11, "http": 11},
        # Over TLS, what is spoken is still agreed upon in the handshake.
        HTTPVersion.HTTP_2_PRIOR_KNOWLEDGE: {"h2": 20, "https": 11, "h2c": 20},
    }[version]
    other = HTTPVersion.HTTP_1_1 if version is HTTPVersion.HTTP_2 else HTTPVersion.HTTP_2
    given = version if is_client_s else HTTPVersion.HTTP_DEFAULT if version is HTTPVersion.HTTP_DEFAULT else other
    url = server.url("/seq/200", id=server.new_id(), kind=kind)
    # The server closes a connection on which it is not spoken to in its way, or waits: hence the time.
    with Client(once(), ca_file=server.ca, http_version=given, timeout=idle(2_000)) as client:
        if kind in can:
            response = client.get(url, http_version=HTTPVersion.HTTP_DEFAULT if is_client_s else version)
            assert (response.status, response.attempts[0].http_version) == (200, can[kind])
        else:
            with pytest.raises(NetworkError) as raised:
                client.get(url, http_version=HTTPVersion.HTTP_DEFAULT if is_client_s else version)
            assert len(raised.value.attempts) == 1


def test_requests_with_prior_knowledge_are_all_answered(server: FaultServer) -> None:
    """One after the other, and many at once: libcurl 7.88 fails at the second one on such a connection."""
    id = server.new_id()
    url = server.url("/seq/200", id=id, kind="h2c")
    with Client(once(), http_version=HTTPVersion.HTTP_2_PRIOR_KNOWLEDGE) as client:
        for _ in range(3):
            assert client.get(url).status == 200
        calls = [client.submit("GET", url) for _ in range(20)]
        assert [call.response().status for call in calls] == [200] * 20
    assert len(server.seen(id)) == 23


# --- Many streams ---


def test_many_streams_are_on_one_connection(server: FaultServer, client: Client) -> None:
    """Given 100 at once, then they share a connection: also if there is none yet."""
    id = server.new_id()
    url = server.url("/seq/200", {"id": id, "first": 100, "size": 10_000}, kind="h2")
    for call in [client.submit("GET", url) for _ in range(100)]:
        assert call.response().content == pattern(10_000)
    assert len(connections(server, id)) == 1
    assert len(server.seen(id)) == 100


def test_all_are_answered_where_few_streams_are_allowed(server: FaultServer, client: Client) -> None:
    """Given a server that allows one stream at a time."""
    id = server.new_id()
    url = server.url("/seq/200", {"id": id, "settings": "MAX_CONCURRENT_STREAMS:1", "first": 5}, kind="h2")
    assert client.get(url).status == 200
    calls = [client.submit("GET", url, timeout=idle(10_000)) for _ in range(20)]
    responses = [call.response() for call in calls]
    assert {response.status for response in responses} == {200}
    # What libcurl itself still keeps back when its connection ends counts as sent: it may have been.
    assert 21 <= len(server.seen(id)) <= sum(recorded(response.attempts) for response in responses) + 1


@pytest.mark.parametrize("kernel", ["this", "old"])
def test_an_upload_that_the_server_does_not_read_takes_no_processor_time(
    server: FaultServer, kernel: str, tmp_path: Path
) -> None:
    """libcurl before 8 asks again and again for whether it can write, though the server lets nothing more come."""
    url = server.url("/seq/200", {"id": server.new_id(), "read_pause_after": 0, "read_pause": 600_000}, kind="h2c")
    program = """
    with Client(http_version=HTTPVersion.HTTP_2_PRIOR_KNOWLEDGE) as client:
        began, used = time.monotonic(), time.process_time()
        try:
            idle = Timeout(timeout_interval_for_request_ms=2_000)
            client.put(sys.argv[1], data=bytes(5_000_000), timeout=idle, strategy=once)
        except NetworkError:
            print((time.process_time() - used) / (time.monotonic() - began))
    """
    preload = preloaded("old_tcp_info.c", tmp_path) if kernel == "old" else ""
    assert float(run(program, url, LD_PRELOAD=preload)) < 1 / 8


@pytest.mark.parametrize("fault", STREAM_FAULTS)
def test_a_stream_that_fails_disturbs_no_other(server: FaultServer, client: Client, fault: str) -> None:
    """Given slow ones on the same connection."""
    slow_id, id = server.new_id(), server.new_id()
    slow_url = server.url("/seq/200", {"id": slow_id, "size": 20_000, "every": 10, "drip": 1_000}, kind="h2")
    client.get(server.url("/seq/200", id=slow_id, kind="h2"))
    slow = [client.submit("GET", slow_url) for _ in range(5)]
    server.seen(slow_id, requests=6)
    for error in in_both_ways(client, "GET", server.url(f"/seq/{fault}", id=id, kind="h2"), strategy=once()):
        assert isinstance(error, NetworkError), error
    for call in slow:
        response = call.response()
        assert response.content == pattern(20_000)
        assert recorded(response.attempts) == 1


def test_a_response_of_one_stream_never_gets_into_another(server: FaultServer, client: Client) -> None:
    """Given 64 that come in small pieces, in turn."""
    bodies = [f"{index:03}" * 2_000 for index in range(64)]
    urls = [
        server.url("/seq/200", {"every": 1, "drip": 500}, id=server.new_id(), body=each, kind="h2") for each in bodies
    ]
    for call, body in zip([client.submit("GET", url) for url in urls], bodies):
        assert call.response().content == body.encode()


def test_b7_retry_after_in_small_letters(server: FaultServer, client: Client) -> None:
    """As HTTP/2 has all names."""
    parameters: dict[str, Any] = {"503.h": "Retry-After:0.02", "429.h": "RETRY-AFTER:0.01"}
    response = client.get(server.url("/seq/503,429,200", parameters, id=server.new_id(), kind="h2"))
    assert waits(response.attempts) == [0.02, 0.01]
    assert response.attempts[0].retry_after == 0.02


# --- Time ---


def test_m1_the_idle_time_is_of_the_stream(server: FaultServer, client: Client) -> None:
    """Given one that is silent, while another on the same connection is not: the silent one ends, and only that."""
    talking_id = server.new_id()
    talking = server.url("/seq/200", {"id": talking_id, "size": 400, "every": 10, "drip": 1}, kind="h2")
    client.get(server.url("/seq/200", id=talking_id, kind="h2"))
    call = client.submit("GET", talking)
    server.seen(talking_id, requests=2)
    id = server.new_id()
    url = server.url("/seq/stall:body", id=id, kind="h2")
    with pytest.raises(IdleTimeoutError) as raised:
        client.get(url, timeout=idle(500), strategy=once())
    (attempt,) = raised.value.attempts
    assert attempt.ended_ms - attempt.started_ms >= 500
    response = call.response()
    assert (len(response.content), recorded(response.attempts)) == (400, 1)
    assert len(connections(server, talking_id, id)) == 1


def test_m1_pings_do_not_count_as_bytes_of_the_stream(server: FaultServer, client: Client) -> None:
    """Given PINGs without end, and no answer."""
    url = server.url("/seq/200", {"pings": "endless", "id": server.new_id()}, kind="h2")
    call = client.submit("GET", url, timeout=idle(500), strategy=once())
    with pytest.raises(IdleTimeoutError):
        call.response(3)


def test_m1_the_bytes_of_others_are_none_of_the_stream_s(server: FaultServer, client: Client) -> None:
    """Given one that gets no answer, and another on its connection that gets one byte by byte."""
    id = server.new_id()
    talking = server.url("/seq/200", {"id": id, "size": 400, "every": 10}, kind="h2")
    client.get(server.url("/seq/200", id=id, kind="h2"))
    call = client.submit("GET", talking)
    server.seen(id, requests=2)
    url = server.url("/seq/stall", id=server.new_id(), kind="h2")
    silent = client.submit("GET", url, timeout=idle(500), strategy=once())
    with pytest.raises(IdleTimeoutError):
        silent.response(2)
    assert len(call.response().content) == 400


def test_m1_an_upload_that_the_window_holds_is_idle(server: FaultServer, client: Client) -> None:
    """Given a server that never opens the stream's window again."""
    url = server.url("/seq/stall:request", id=server.new_id(), kind="h2")
    call = client.submit("PUT", url, data=bytes(500_000), timeout=idle(500), strategy=once())
    with pytest.raises(IdleTimeoutError):
        call.response(3)


# --- Ends of streams and connections ---


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(
            each,
            marks=pytest.mark.xfail(
                LIBCURL < (8, 15),
                strict=True,
                reason="libcurl before 8.15 does not reset a stream that is given up: it sends no RST_STREAM",
            ),
        )
        for each in ("cancel", "idle", "free")
    ],
)
def test_k1_the_server_learns_that_a_stream_is_given_up(server: FaultServer, client: Client, how: str) -> None:
    """Otherwise it works for a client that has left, and the stream counts among those that it allows."""
    id = server.new_id()
    url = server.url("/seq/stall", id=id, kind="h2")
    call = client.submit("GET", url, timeout=idle(300) if how == "idle" else None, strategy=once())
    server.seen(id, requests=1)
    if how == "cancel":
        call.cancel()
    elif how == "idle":
        with pytest.raises(IdleTimeoutError):
            call.response()
    else:
        del call
    (request,) = server.control("seen", id=id, over=1, within=1_000)
    assert request["stream_ended"] or request["connection_ended"]


def test_k1_a_stream_that_is_canceled_disturbs_no_other(server: FaultServer, client: Client) -> None:
    """Given many that are canceled in the middle of their bodies; the connection stays in use."""
    id = server.new_id()
    client.get(server.url("/seq/200", id=id, kind="h2"))
    slow = client.submit("GET", server.url("/seq/200", {"id": id, "size": 300, "every": 10}, kind="h2"))
    endless = server.url("/seq/200", {"id": id, "size": "endless"}, kind="h2")
    for _ in range(20):
        began = threading.Event()
        call = client.submit("GET", endless, sink=lambda data, began=began: began.set())
        assert began.wait(PATIENCE)
        call.cancel()
        with pytest.raises(CancelledError):
            call.response()
    assert slow.response().content == pattern(300)
    assert client.get(server.url("/seq/200", id=id, kind="h2")).status == 200
    assert len(connections(server, id)) == 1


@pytest.mark.parametrize("fault", [*STREAM_FAULTS, *CONNECTION_FAULTS, "refused_stream", "enhance_your_calm"])
@pytest.mark.parametrize("method", METHODS)
def test_f53_what_breaks_off_is_an_exception_and_retried(
    server: FaultServer, client: Client, method: str, fault: str
) -> None:
    """B2, B13. The server has seen exactly what the record has."""
    id = server.new_id()
    response = client.request(method, server.url(f"/seq/{fault},200", {"id": id, "size": 1_000}, kind="h2"), data="x")
    assert statuses(response.attempts)[-1] == 200
    assert response.content == pattern(1_000)
    assert len(server.seen(id)) == recorded(response.attempts) == 2


@pytest.mark.parametrize("fault", [*STREAM_FAULTS, *CONNECTION_FAULTS, "refused_stream", "enhance_your_calm"])
@pytest.mark.parametrize("method", METHODS)
def test_f54_what_breaks_off_on_a_reused_connection(
    server: FaultServer, client: Client, method: str, fault: str
) -> None:
    """B13. The server has seen exactly what the record has; libcurl sends some of these again by itself."""
    id = server.new_id()
    url = server.url(f"/seq/200,{fault},200", id=id, kind="h2")
    assert client.request(method, url, data="x").status == 200
    response = client.request(method, url, data="x")
    assert response.status == 200
    assert len(server.seen(id)) == 1 + recorded(response.attempts) == 3


@pytest.mark.parametrize("how", ["close", "cut", "reset"])
@pytest.mark.parametrize("method", METHODS)
def test_f54_a_kept_alive_connection_that_ended_meanwhile(
    server: FaultServer, client: Client, method: str, how: str
) -> None:
    for _ in range(5):
        id = server.new_id()
        url = server.url("/seq/200", id=id, kind="h2")
        assert client.request(method, url, data="first").status == 200
        assert server.hang_up(id, how) == 1
        response = client.request(method, url, data="second")
        assert statuses(response.attempts)[-1] == 200
        seen = server.seen(id)
        assert [request["body_start"] for request in seen][:2] == ["first", "second"]
        assert 1 <= len(seen) - 1 <= recorded(response.attempts)


@pytest.mark.parametrize("item", ["enhance_your_calm", "refused_stream", "goaway:request", "stream_reset"])
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("unprocessed", [{}, {"unprocessed": ""}])
def test_f56_what_the_server_refuses_each_time_ends_within_the_attempts(
    server: FaultServer, method: str, item: str, unprocessed: dict[str, Any]
) -> None:
    """B5, B13. Given GOAWAY, or REFUSED_STREAM, to each request; libcurl begins such requests again by itself."""
    id = server.new_id()
    with Client(quick(), ca_file=server.ca) as client:
        for number, error in enumerate(
            in_both_ways(client, method, server.url(f"/seq/{item}", {"id": id, **unprocessed}, kind="h2"), data="x"), 1
        ):
            assert isinstance(error, NetworkError), error
            assert len(error.attempts) == 3
            assert number == 2 or len(server.seen(id)) >= 3
    assert len(server.seen(id)) == 2 * recorded(error.attempts)


def test_f55_no_descriptor_is_left_open(server: FaultServer) -> None:
    """Given 1,000 calls with faults of streams and connections, then no more are open than connections are kept."""
    before = len(os.listdir("/proc/self/fd"))
    client = Client(once(), ca_file=server.ca)
    items = "503,stream_reset,goaway,reset,200"
    url = server.url(f"/seq/{items}", {"id": server.new_id(), "cycle": "", "quiet": ""}, kind="h2")
    ends = [0, 0]
    for _ in range(1_000):
        try:
            client.get(url)
            ends[0] += 1
        except NetworkError:
            ends[1] += 1
    assert min(ends) > 100
    assert len(os.listdir("/proc/self/fd")) <= before + 10
    client.close()
    del client
    eventually(lambda: len(os.listdir("/proc/self/fd")) <= before)


def test_a_server_that_goes_away_in_good_order(server: FaultServer, client: Client) -> None:
    """Given GOAWAY under requests that are still answered: then those are, and the next has a new connection."""
    id = server.new_id()
    url = server.url("/seq/200", {"id": id, "1.drain": "", "first": 50, "size": 10_000}, kind="h2")
    calls = [client.submit("GET", url) for _ in range(5)]
    responses = [call.response() for call in calls] + [client.get(url)]
    assert {response.content for response in responses} == {pattern(10_000)}
    # It has not looked at what came after its GOAWAY.
    assert len(server.seen(id)) <= sum(recorded(response.attempts) for response in responses)
    assert len(connections(server, id)) >= 2


# --- What is not HTTP/2 ---


@pytest.mark.parametrize(
    ("parameters", "errors"),
    [
        ({"raw": "nonsense"}, (ProtocolError, ReceiveError, IdleTimeoutError)),
        ({"raw": "\0\0\4\x08\0\0\0\0\0\0\0\0\0"}, (ProtocolError, ReceiveError, IdleTimeoutError)),
        ({"headers": "endless"}, (ResponseTooLargeError, ReceiveError, ProtocolError)),
        ({"headers": 500_000}, (ResponseTooLargeError, ReceiveError, ProtocolError)),
    ],
)
def test_anything_else_that_a_server_says_is_an_error(
    server: FaultServer, parameters: dict[str, Any], errors: tuple[type, ...]
) -> None:
    with Client(once(), timeout=idle(2_000), ca_file=server.ca) as client:
        for result in in_both_ways(client, "GET", server.url("/seq/200", parameters, id=server.new_id(), kind="h2")):
            assert isinstance(result, errors), result
            # The connection may break later, under the next request; libcurl may keep it after it gave up its stream.
            url = server.url("/seq/200", id=server.new_id(), kind="h2")
            assert client.get(url, strategy=quick(max_retries_on_exception=10)).status == 200


def test_trailers_and_hints(server: FaultServer, client: Client) -> None:
    parameters: dict[str, Any] = {"hint": "Link:</x>", "trailer": "X-End:yes"}
    response = client.get(server.url("/seq/200", parameters, id=server.new_id(), kind="h2"))
    assert (response.status, response.content) == (200, pattern(64))
    assert "Link" not in response.headers


def test_threads_share_a_connection(server: FaultServer, client: Client) -> None:
    """Given requests from many threads at once."""
    id = server.new_id()
    url = server.url("/seq/503,200", {"id": id, "cycle": ""}, kind="h2")
    client.get(url)

    def many() -> None:
        for _ in range(20):
            assert client.get(url, strategy=quick(max_attempts=100)).status == 200

    threads = [Background(many) for _ in range(8)]
    for thread in threads:
        thread.result()
    assert len(connections(server, id)) == 1


def test_a_timeout_of_many_ends_all_of_them(server: FaultServer, client: Client) -> None:
    """Given a silent server that has accepted the streams."""
    url = server.url("/seq/stall", {"id": server.new_id(), "quiet": ""}, kind="h2")
    calls = [client.submit("GET", url, timeout=idle(500), strategy=once()) for _ in range(50)]
    for call in calls:
        with pytest.raises(IdleTimeoutError) as raised:
            call.response()
        (attempt,) = raised.value.attempts
        assert attempt.ended_ms - attempt.started_ms >= 500
        assert attempt.cause is Cause.TIMEOUT_IDLE


# --- Servers that want HTTP/1.1 ---

#: How a server says so: RST_STREAM, and GOAWAY that says that it has looked at the request, or that it has not.
REFUSALS: dict[str, tuple[str, dict[str, Any]]] = {
    "RST_STREAM": ("stream_reset", {}),
    "RST_STREAM on the head": ("stream_reset:request", {}),
    "GOAWAY": ("goaway", {}),
    "GOAWAY, not looked at": ("goaway", {"unprocessed": ""}),
}


@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
@pytest.mark.parametrize("how", REFUSALS)
def test_f106_what_is_refused_with_http_1_1_required_goes_over_http_1_1(
    server: FaultServer, how: str, method: str
) -> None:
    """F106, W10 (RFC 9113, 7). At once, also a POST: the refused stream counts as nothing. Later calls use HTTP/1.1."""
    item, parameters = REFUSALS[how]
    id, body = server.new_id(), None if method == "GET" else b"the body"
    url = server.url(f"/seq/{item},200", {"code": "HTTP_1_1_REQUIRED", **parameters}, id=id, kind="h2")
    with Client(quick(), ca_file=server.ca) as client:
        response = client.request(method, url, data=body)
        (attempt,) = response.attempts
        assert (response.status, attempt.http_version, attempt.reconnects, attempt.exception_number) == (200, 11, 1, 0)
        refused, answered = server.seen(id)
        assert [refused["protocol"], answered["protocol"]] == ["HTTP/2", "HTTP/1.1"]
        assert answered["body_start"] == (body or b"").decode()
        for _ in range(2):
            other = server.new_id()
            client.request(method, server.url("/seq/200", id=other, kind="h2"), data=body)
            assert [request["protocol"] for request in server.seen(other)] == ["HTTP/1.1"]
        elsewhere = client.get(f"https://localhost:{server.ports['h2']}{server.target('/seq/200', id=server.new_id())}")
        assert elsewhere.attempts[0].http_version == 20


@pytest.mark.parametrize(
    "settings",
    [{"preset": Preset.JANUARY}, {"reconnect": False}, {"strategy": once()}],
    ids=["january", "switched off", "without retries"],
)
def test_f106_a_refusal_is_not_a_reconnect(server: FaultServer, settings: dict[str, Any]) -> None:
    """F106, B13. Given no reconnects, or no retries, then the refused stream still counts as not processed."""
    url = server.url("/seq/stream_reset,200", {"code": "HTTP_1_1_REQUIRED"}, id=server.new_id(), kind="h2")
    with Client(ca_file=server.ca, **settings) as client:
        response = client.post(url, data=b"the body")
    (attempt,), (reconnect,) = response.attempts, response.reconnects
    assert (response.status, attempt.http_version, reconnect.cause) == (200, 11, Cause.PROTOCOL)


def test_f106_b12_a_refused_request_has_sent_nothing(server: FaultServer) -> None:
    """F106, B12. Given a POST that is refused, and then a reset before its answer, then it was sent once."""
    url = server.url("/seq/stream_reset,reset,200", {"code": "HTTP_1_1_REQUIRED"}, id=server.new_id(), kind="h2")
    strategy = RetryStrategy(retry_base_interval=0.001, retry_unsafe_methods=False)
    with Client(strategy, ca_file=server.ca) as client, pytest.raises(NetworkError) as raised:
        client.post(url, data=b"the body")
    assert [attempt.request_sent for attempt in raised.value.attempts] == [RequestSent.SOME]


def test_f106_a_body_that_is_gone_is_not_sent_again(server: FaultServer) -> None:
    """F106, R3. Given a one-shot body that was read, then the refusal is an exception, and the reason says why."""
    url = server.url("/seq/stream_reset,200", {"code": "HTTP_1_1_REQUIRED"}, id=server.new_id(), kind="h2")
    with Client(quick(), ca_file=server.ca) as client, pytest.raises(NetworkError) as raised:
        client.post(url, data=(piece for piece in [b"once"]))
    assert [attempt.reason for attempt in raised.value.attempts] == [Reason.NOT_REPLAYABLE]


@pytest.mark.parametrize("code", ["INTERNAL_ERROR", "NO_ERROR", "ENHANCE_YOUR_CALM"])
def test_f106_other_codes_do_not_change_the_version(server: FaultServer, code: str) -> None:
    """F106. Given another code, then the origin continues with HTTP/2."""
    url = server.url("/seq/stream_reset,goaway,200", {"code": code}, id=server.new_id(), kind="h2")
    with Client(quick(), ca_file=server.ca) as client:
        assert client.get(url).attempts[-1].http_version == 20
