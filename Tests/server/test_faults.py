"""Each fault at each place: which bytes come before it, and how the connection ends."""

from __future__ import annotations

import socket
import threading
import time

import pytest
from fault_server import FaultServer, pattern
from wire import Wire

ENDINGS = {"reset": "reset", "close": "closed", "cut": "closed"}


def usual_head(server: FaultServer) -> bytes:
    """All heads of answers with a body of less than 100 and more than 9 bytes are as long, since a date is."""
    with Wire(server.ports["http"]) as wire:
        wire.request("/seq/200")
        return wire.read_head()


@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("place", ["request", "before", "headers", "body", "end", "0", "1", "63", "64"])
def test_a_fault_comes_after_exactly_the_bytes_that_belong_before_it(server: FaultServer, how: str, place: str) -> None:
    head = len(usual_head(server))
    sent = {"request": 0, "before": 0, "headers": head // 2, "body": head + 32, "end": head + 64}
    for _ in range(5):
        with Wire(server.ports["http"]) as wire:
            wire.request(f"/seq/{how}:{place}")
            data, ending = wire.read_to_end()
        assert (len(data), ending) == (sent[place] if place in sent else head + int(place), ENDINGS[how])
        assert data[head:] == pattern(max(0, len(data) - head))


@pytest.mark.parametrize("place", ["request", "before", "headers", "body", "end", "5"])
def test_a_stall_sends_no_more_and_keeps_the_connection(server: FaultServer, place: str) -> None:
    head = len(usual_head(server))
    sent = {"request": 0, "before": 0, "headers": head // 2, "body": head + 32, "end": head + 64, "5": head + 5}
    mine = server.new_id()
    with Wire(server.ports["http"]) as wire:
        wire.request(server.target(f"/seq/stall:{place}", id=mine))
        assert len(wire.read(sent[place])) == sent[place]
        (request,) = server.seen(mine, requests=1)
        assert (request["answered"], request["connection_ended"]) == (place == "end", None)
        wire.socket.setblocking(False)
        with pytest.raises(BlockingIOError):
            wire.socket.recv(1)
        wire.close()
    (request,) = server.seen(mine, ended=True)
    assert request["connection_ended"] == "client_closed"


@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("chunked", [True, False])
def test_a_large_body_arrives_up_to_the_very_byte(server: FaultServer, how: str, chunked: bool) -> None:
    with Wire(server.ports["http"]) as wire:
        wire.request(f"/seq/200?size=9000000&{how}_after=8000001" + ("&chunked" if chunked else ""))
        wire.read_head()
        data, ending = wire.read_to_end()
    if chunked:
        body = b"".join(part for part in data.split(b"\r\n")[1::2])
    assert (body if chunked else data) == pattern(8_000_001)
    assert ending == ENDINGS[how]


def test_over_tls_a_close_says_farewell_and_a_cut_does_not(server: FaultServer) -> None:
    for how, expected in (("close", "closed"), ("cut", "cut"), ("reset", "reset")):
        with Wire(server.ports["https"], ca=server.ca) as wire:
            wire.request(f"/seq/{how}:40")
            data, ending = wire.read_to_end()
        assert data.endswith(pattern(40)) and ending == expected


@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("kind", ["http", "https"])
def test_a_request_of_which_the_body_is_still_coming_can_be_ended_as_well(
    server: FaultServer, how: str, kind: str
) -> None:
    mine = server.new_id()
    for _ in range(5):
        with Wire(server.ports[kind], ca=server.ca if kind == "https" else "") as wire:
            target = server.target(f"/seq/{how}:request", id=mine)
            wire.request(target, method="PUT", headers="Content-Length: 10000\r\n", body=bytes(6000))
            data, ending = wire.read_to_end()
        assert (data, ending) == (b"", "cut" if (how, kind) == ("cut", "https") else ENDINGS[how])
    requests = server.seen(mine, ended=True)
    assert {request["body_complete"] for request in requests} == {False}
    assert {request["connection_ended"] for request in requests} == {
        "server_" + {"reset": "reset", "close": "closed", "cut": "cut"}[how]
    }


@pytest.mark.parametrize("how", ["close", "cut"])
def test_a_close_is_not_a_reset_even_if_the_client_keeps_sending(server: FaultServer, how: str) -> None:
    with Wire(server.ports["http"]) as wire:
        wire.request(f"/seq/{how}:request", method="PUT", headers="Content-Length: 1000000\r\n")
        assert wire.read_to_end() == (b"", "closed")
        for _ in range(3):
            wire.send(bytes(100_000))
        assert wire.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    with Wire(server.ports["http"]) as wire:
        wire.send(f"GET /seq/{how} HTTP/1.1\r\n\r\n".encode() + bytes(20_000))
        assert wire.read_to_end() == (b"", "closed")
        assert wire.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0


def test_a_fault_that_is_beyond_the_body_comes_at_its_end(server: FaultServer) -> None:
    with Wire(server.ports["http"]) as wire:
        wire.request("/echo?reset_after=1000000")
        data, ending = wire.read_to_end()
    assert data.endswith(b"}\n") and ending == "reset"


def test_short_and_long_bodies_contradict_their_length(server: FaultServer) -> None:
    with Wire(server.ports["http"]) as wire:
        wire.request("/seq/short?size=100")
        data, ending = wire.read_to_end()
    assert b"Content-Length: 100\r\n" in data and data.endswith(b"\r\n\r\n" + pattern(50)) and ending == "closed"
    with Wire(server.ports["http"]) as wire:
        wire.request("/seq/long?size=100")
        assert b"Content-Length: 100\r\n" in wire.read_head()
        assert wire.read(110) == pattern(100) + b"x" * 10
        assert wire.get("/seq/200").status == 200, "the connection stays"


def test_garbage_is_not_a_status_line(server: FaultServer) -> None:
    with Wire(server.ports["http"]) as wire:
        wire.request("/seq/garbage")
        assert wire.read_head().startswith(b"\x00garbage\xff\r\nDate: ")


def test_endless_headers_and_bodies_last_until_the_client_leaves(server: FaultServer) -> None:
    for parameters in ("headers=endless", "size=endless", "size=endless&chunked", "size=endless&gzip"):
        mine = server.new_id()
        with Wire(server.ports["http"]) as wire:
            wire.request(f"/seq/200?id={mine}&{parameters}")
            assert len(wire.read(3_000_000)) == 3_000_000
        (request,) = server.seen(mine, requests=1, ended=True)
        assert (request["answered"], request["connection_ended"][:7]) == (False, "client_")


def test_an_endless_answer_does_not_keep_the_server_from_others(server: FaultServer) -> None:
    enough = threading.Event()

    def read_greedily() -> None:
        buffer = bytearray(1 << 20)
        with Wire(server.ports["http"]) as greedy:
            greedy.request("/seq/200?size=endless&drip=100")
            while not enough.is_set():
                greedy.socket.recv_into(buffer, 0, socket.MSG_TRUNC)  # throws away, faster than the server sends

    reader = threading.Thread(target=read_greedily)
    reader.start()
    try:
        with Wire(server.ports["http"]) as other:
            assert [other.get("/seq/200").status for _ in range(20)] == [200] * 20
    finally:
        enough.set()
        reader.join()


def test_a_connection_that_idles_is_closed_at_its_time_and_not_before(server: FaultServer) -> None:
    with Wire(server.ports["http"]) as wire:
        wire.get("/seq/200?idle=60")
        begin = time.monotonic()
        assert wire.get("/seq/200?idle=60&first=100").status == 200, "a request in time is answered"
        assert wire.read_to_end() == (b"", "closed")
        assert time.monotonic() - begin >= 0.06


@pytest.mark.parametrize("how", ["close", "reset"])
def test_an_idle_connection_is_ended_at_the_moment_asked_for(server: FaultServer, how: str) -> None:
    mine, others = server.new_id(), server.new_id()
    with Wire(server.ports["http"]) as wire, Wire(server.ports["http"]) as other:
        wire.get(server.target("/seq/200", id=mine))
        other.get(server.target("/seq/200", id=others))
        assert server.hang_up(mine, how) == 1
        wire.socket.setblocking(False)
        assert wire.read_to_end() == (b"", ENDINGS[how]), "it has ended when the answer is there"
        assert other.get("/seq/200").status == 200
    assert server.hang_up(mine, how) == 0


@pytest.mark.parametrize("kind", ["http", "https"])
def test_an_idle_connection_says_something_at_the_moment_asked_for(server: FaultServer, kind: str) -> None:
    mine, others = server.new_id(), server.new_id()
    with Wire(server.ports[kind], ca=server.ca if kind == "https" else "") as wire, Wire(server.ports["http"]) as other:
        wire.get(server.target("/seq/200", id=mine))
        other.get(server.target("/seq/200", id=others))
        assert server.say(mine, "un\xe9 \r\n") == 1
        assert wire.read(6) == b"un\xe9 \r\n"
        assert wire.get("/seq/200").status == other.get("/seq/200").status == 200


def test_a_hang_up_also_ends_a_stall(server: FaultServer) -> None:
    mine = server.new_id()
    with Wire(server.ports["http"]) as wire:
        wire.request(server.target("/seq/stall", id=mine))
        server.seen(mine, requests=1)
        server.hang_up(mine, "reset")
        assert wire.read_to_end() == (b"", "reset")


def test_a_reused_connection_can_end_on_seeing_the_second_request(server: FaultServer) -> None:
    target = server.target("/seq/200,close:request,200", id=server.new_id())
    with Wire(server.ports["http"]) as wire:
        assert wire.get(target).status == 200
        wire.request(target)
        assert wire.read_to_end() == (b"", "closed")
