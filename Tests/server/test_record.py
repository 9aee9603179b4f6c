"""What the server says that it saw, also when the client vanishes in the middle."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Callable

import pytest
from fault_server import FaultServer, pattern
from wire import Wire

Going = Callable[[Wire], None]
WAYS_TO_GO: dict[str, Going] = {"client_closed": Wire.finish, "client_reset": Wire.reset}


def test_each_request_is_reported_in_order_with_all_that_was_sent(server: FaultServer) -> None:
    mine = server.new_id()
    before = time.monotonic() * 1000
    target = server.target("/seq/503,200", id=mine)
    with Wire(server.ports["http"]) as wire:
        wire.get(target, headers="X-One: 1\r\nX-One:  2\r\n")
        wire.get(target, method="PUT", body=b"abc\xff")
        (first, second) = server.seen(mine)
        assert before <= first["time_ms"] <= second["time_ms"] <= time.monotonic() * 1000
        assert first["connection"] == second["connection"]
        assert [first["connection_ended"], first["connection_ended_ms"]] == [None, None]
    assert (first["method"], first["path"], first["answer"], first["answered"]) == ("GET", target, "503", True)
    assert first["headers"] == [["Host", "localhost"], ["X-One", "1"], ["X-One", "2"]]
    assert (first["body_length"], first["body_complete"], first["body_start"]) == (0, True, "")
    assert first["body_sha256"] == hashlib.sha256(b"").hexdigest()
    assert (second["method"], second["answer"], second["body_length"]) == ("PUT", "200", 4)
    assert (second["body_sha256"], second["body_start"]) == (hashlib.sha256(b"abc\xff").hexdigest(), "abc\xff")


def test_connections_have_different_numbers(server: FaultServer) -> None:
    mine = server.new_id()
    for _ in range(2):
        with Wire(server.ports["http"]) as wire:
            wire.get(server.target("/seq/200", id=mine))
    first, second = server.seen(mine, ended=True)
    assert first["connection"] < second["connection"]
    assert first["connection_ended_ms"] <= second["connection_ended_ms"]


@pytest.mark.parametrize("way", WAYS_TO_GO)
@pytest.mark.parametrize("kind", ["http", "https"])
@pytest.mark.parametrize(
    "target",
    ["/seq/stall", "/seq/stall:request", "/seq/stall:body", "/seq/200?first=60000", "/seq/200?size=9&every=60000"],
)
def test_a_client_that_goes_while_it_waits_is_seen_going(server: FaultServer, target: str, kind: str, way: str) -> None:
    mine = server.new_id()
    with Wire(server.ports[kind], ca=server.ca if kind == "https" else "") as wire:
        wire.request(f"{target}{'&' if '?' in target else '?'}id={mine}")
        if "body" in target or "every" in target:
            wire.read_head()
            wire.read(32 if "body" in target else 1)
        (request,) = server.seen(mine, requests=1)
        assert request["connection_ended"] is None
        WAYS_TO_GO[way](wire)
        (request,) = server.seen(mine, ended=True)
    assert (request["answered"], request["connection_ended"]) == (False, way)


@pytest.mark.parametrize("way", WAYS_TO_GO)
@pytest.mark.parametrize(
    "pace",
    [
        "",
        "&early",
        "&early&first=60000",
        "&read=10&read_every=60000",
        "&read_pause_after=0&read_pause=60000",
        "&reset=end",
    ],
)
def test_what_had_arrived_of_a_body_is_counted_when_the_client_goes(server: FaultServer, pace: str, way: str) -> None:
    mine = server.new_id()
    body = pattern(20_000)
    with Wire(server.ports["http"]) as wire:
        head = f"PUT /seq/200?id={mine}{pace} HTTP/1.1\r\nContent-Length: 30000\r\n\r\n".encode()
        wire.send(head + body)
        if pace.startswith("&early") and "first" not in pace:
            wire.response()
        WAYS_TO_GO[way](wire)
        (request,) = server.seen(mine, requests=1, ended=True)
    assert (request["body_length"], request["body_complete"]) == (20_000, False)
    assert request["body_sha256"] == hashlib.sha256(body).hexdigest()
    assert request["body_start"] == body[:4096].decode()
    assert request["connection_ended"] == way


@pytest.mark.parametrize("framing", ["Content-Length: 8", "Transfer-Encoding: chunked"])
def test_a_request_that_is_answered_early_is_over_when_it_has_been_read(server: FaultServer, framing: str) -> None:
    mine = server.new_id()
    target = server.target("/seq/200", id=mine, early="", read_pause_after=2, read_pause=500)
    with Wire(server.ports["http"]) as wire:
        wire.request(target, method="PUT", headers=framing + "\r\n")
        wire.send(b"12345678" if "Length" in framing else b"8\r\n12345678\r\n0\r\n\r\n")
        assert wire.response().status == 200
        (request,) = server.seen(mine, over=True)
    assert (request["answered"], request["body_length"], request["body_complete"]) == (True, 8, True)


def test_a_chunked_body_that_breaks_off_is_not_whole(server: FaultServer) -> None:
    for sent in (b"", b"5", b"5\r\nabc", b"5\r\nabcde", b"5\r\nabcde\r\n", b"5\r\nabcde\r\n0\r\n"):
        mine = server.new_id()
        with Wire(server.ports["http"]) as wire:
            wire.send(f"PUT /echo?id={mine} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + sent)
        (request,) = server.seen(mine, requests=1, ended=True)
        length = min(5, max(0, len(sent) - 3))
        assert (request["body_length"], request["body_complete"], request["answered"]) == (length, False, False)


def test_a_head_that_breaks_off_is_recorded_for_its_connection_and_not_as_a_request(server: FaultServer) -> None:
    port = server.open("http")
    with Wire(port) as wire:
        wire.get("/seq/200")
        wire.send(b"POST /seq/200?id=never HTT")
    (connection,) = server.connections(port, opened=1, ended=True)
    assert (connection["unread"], len(connection["requests"])) == ("POST /seq/200?id=never HTT", 1)
    assert (connection["kind"], connection["port"], connection["ended"]) == ("http", port, "client_closed")


def test_a_head_that_comes_in_pieces_is_a_request(server: FaultServer) -> None:
    port = server.open("http")
    with Wire(port) as wire:
        mine = server.new_id()
        wire.send(f"GET /seq/stall?id={mine} HT".encode())
        assert server.connections(port, opened=1)[0]["requests"] == []
        wire.send(b"TP/1.1\r\n\r\n")
        assert len(server.seen(mine, requests=1)) == 1
    (connection,) = server.connections(port, ended=True)
    assert (connection["unread"], len(connection["requests"])) == ("", 1)


def test_a_connection_tells_its_requests(server: FaultServer) -> None:
    port = server.open("https")
    with Wire(port, ca=server.ca) as wire:
        wire.get("/seq/503?id=one-of-two")
        wire.get("/echo", method="PUT")
        (connection,) = server.connections(port)
        assert (connection["tls"], connection["ended"], connection["ended_ms"]) == ("done", None, None)
    assert connection["requests"] == [
        {"id": "one-of-two", "method": "GET", "path": "/seq/503?id=one-of-two", "answer": "503"},
        {"id": "", "method": "PUT", "path": "/echo", "answer": "echo"},
    ]


def test_bodies_are_read_at_the_pace_that_is_asked_for(server: FaultServer) -> None:
    body = pattern(50_000)
    with Wire(server.ports["http"]) as wire:
        for pace in ("read=20000&read_every=20", "read_pause_after=30000&read_pause=40"):
            begin = time.monotonic()
            told = json.loads(wire.get(f"/echo?{pace}", method="PUT", body=body).body)
            assert time.monotonic() - begin >= 0.04
            assert told["body_sha256"] == hashlib.sha256(body).hexdigest()


def test_a_reader_that_pauses_leaves_the_bytes_in_the_kernel(server: FaultServer) -> None:
    mine = server.new_id()
    port = server.open("http", rcvbuf=8192)
    with Wire(port) as wire:
        wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        target = server.target("/seq/200", id=mine, read_pause_after=100, read_pause=60_000)
        wire.send(f"PUT {target} HTTP/1.1\r\nContent-Length: 50000000\r\n\r\n".encode())
        wire.socket.setblocking(False)
        sent = 0
        with pytest.raises(BlockingIOError):
            while True:
                sent += wire.socket.send(bytes(65536))
        server.seen(mine, requests=1)
        assert sent < 100_000, "a port without rcvbuf takes more"
        wire.reset()
    (request,) = server.seen(mine, ended=True)
    assert (request["connection_ended"], request["body_complete"]) == ("client_reset", False)
    assert request["body_length"] <= sent


def test_waiting_ends_as_soon_as_the_requests_are_there(server: FaultServer) -> None:
    mine = server.new_id()
    with ThreadPoolExecutor() as pool, Wire(server.ports["http"]) as wire:
        waiting = pool.submit(server.control, "seen", id=mine, requests=2, within=60_000)
        wire.get(server.target("/seq/200", id=mine))
        assert len(server.seen(mine)) == 1
        wire.get(server.target("/seq/200", id=mine))
        assert len(waiting.result(timeout=60)) == 2


def test_waiting_ends_as_soon_as_the_connections_have_ended(server: FaultServer) -> None:
    mine = server.new_id()
    with ThreadPoolExecutor() as pool, Wire(server.ports["http"]) as wire:
        wire.get(server.target("/seq/200", id=mine))
        waiting = pool.submit(server.control, "seen", id=mine, ended=1, within=60_000)
        server.control("totals")  # the other is very likely waiting by then
        wire.close()
        assert waiting.result(timeout=60)[0]["connection_ended"] == "client_closed"


def test_waiting_for_what_does_not_come_ends_with_what_there_is(server: FaultServer) -> None:
    begin = time.monotonic()
    assert server.control("seen", id="nobody", requests=1, within=50) == []
    assert time.monotonic() - begin >= 0.05


def test_forgetting_one_id_leaves_the_others(server: FaultServer) -> None:
    one, other = server.new_id(), server.new_id()
    with Wire(server.ports["http"]) as wire:
        for mine in (one, other):
            wire.get(server.target("/seq/503,200", id=mine))
            wire.get(server.target("/token", id=mine))
        server.control("reset", id=one)
        assert (len(server.seen(one)), len(server.seen(other))) == (0, 2)
        statuses = [wire.get(server.target("/seq/503,200", id=mine)).status for mine in (one, other)]
        tokens = [json.loads(wire.get(server.target("/token", id=mine)).body)["access_token"] for mine in (one, other)]
    assert (statuses, tokens) == ([503, 200], ["token-1", "token-2"])


def test_forgetting_all_and_totals() -> None:
    with FaultServer() as own, Wire(own.ports["http"]) as wire:
        with Wire(own.ports["http"]) as gone:
            gone.get("/seq/503,200?id=a")
        own.seen("a", ended=True)
        wire.get("/seq/503,200?id=a")
        totals = own.control("totals")
        assert (totals["requests"], totals["answers"]) == (2, {"503": 1, "200": 1})
        own.control("reset")
        assert own.seen("a") == []
        assert own.control("totals")["requests"] == 0
        assert len(own.connections(own.ports["http"])) == 1, "the open one"
        assert wire.get("/seq/503,200?id=a").status == 503


def test_quiet_requests_are_only_counted() -> None:
    with FaultServer() as own:
        with Wire(own.ports["http"]) as wire:
            statuses = [wire.get("/seq/503,200*3?id=a&cycle&quiet").status for _ in range(8)]
            assert own.connections(own.ports["http"])[0]["quiet_requests"] == 8
        assert statuses == [503, 200, 200, 200] * 2
        own.connections(own.ports["http"], ended=True)
        assert own.connections(own.ports["http"]) == [], "a quiet connection that has ended is forgotten"
        assert own.control("totals")["answers"] == {"503": 2, "200": 6}
        assert own.seen("a") == []


def test_control_requests_are_not_reported(server: FaultServer) -> None:
    port = server.open("http")
    with Wire(port) as wire:
        assert json.loads(wire.get("/_seen?id=nobody").body) == []
        assert server.connections(port) == []


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("/_nothing", "there is no /_nothing"),
        ("/_seen", "'id'"),
        ("/_seen?id=a&colour=red", "'colour'"),
        ("/_seen?id=a&requests=x", "'x'"),
        ("/_hangup?id=a&how=softly", "how"),
        ("/_open?kind=http,nothing", "nothing"),
        ("/_open?kind=refused,http", "alone"),
        ("/_shut?port=1", "not open"),
    ],
)
def test_control_requests_that_make_no_sense_are_refused(server: FaultServer, target: str, why: str) -> None:
    with Wire(server.ports["http"]) as wire:
        response = wire.get(target)
    assert response.status == 400
    assert why in json.loads(response.body)["error"]


def test_a_thousand_connections_at_once_are_all_seen(server: FaultServer) -> None:
    mine = server.new_id()
    target = server.target("/seq/stall:5", id=mine)
    wires = [Wire(server.ports["http"]) for _ in range(1000)]
    try:
        for wire in wires:
            wire.request(target)
        assert len(server.seen(mine, requests=1000)) == 1000
        for wire in wires:
            wire.read_head()
            assert wire.read(5) == b"00000"
    finally:
        for wire in wires:
            wire.close()
    requests = server.seen(mine, ended=True)
    assert len({request["connection"] for request in requests}) == 1000
    assert {request["connection_ended"] for request in requests} == {"client_closed"}


def test_parallel_clients_do_not_disturb_each_other(server: FaultServer) -> None:
    statuses: dict[str, list[int]] = {}

    def run(mine: str) -> None:
        with Wire(server.ports["http"]) as wire:
            target = server.target("/seq/503,429,200", id=mine)
            statuses[mine] = [wire.get(target).status for _ in range(50)]

    threads = [threading.Thread(target=run, args=(server.new_id(),)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(statuses) == 20
    assert all(each == [503, 429] + [200] * 48 for each in statuses.values())
