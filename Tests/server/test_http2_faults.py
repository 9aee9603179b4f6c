"""Faults over HTTP/2: those of the connection, those of one stream, and what only this protocol can do wrong."""

from __future__ import annotations

import pytest
from fault_server import FaultServer, pattern
from h2.errors import ErrorCodes
from http2_wire import FRAME_HEADER, Head, Http2Wire
from hyperframe.frame import DataFrame, RstStreamFrame
from wire import Wire

ENDINGS = {"reset": "reset", "close": "closed", "cut": "closed"}


def connect(server: FaultServer, kind: str = "h2c") -> Http2Wire:
    return Http2Wire(server.ports[kind], ca=server.ca if kind == "h2" else "")


# Of the connection


@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("place", ["request", "before", "body", "end", "0", "1", "63", "64"])
def test_a_fault_of_the_connection_comes_after_what_belongs_before_it(
    server: FaultServer, how: str, place: str
) -> None:
    mine = server.new_id()
    length = {"request": 0, "before": 0, "body": 32, "end": 64}.get(place) if not place.isdigit() else int(place)
    for _ in range(3):
        with connect(server) as wire:
            answer = wire.ask(server.target(f"/seq/{how}:{place}", id=mine))
            ending = answer.ending if answer.ending != "end" else wire.ending()
            assert (answer.body, ending, wire.rest) == (pattern(length or 0), ENDINGS[how], b"")
            assert len(answer.heads) == (0 if place in ("request", "before") else 1)
            assert (answer.ending == "end") == (place == "end")
    for request in server.seen(mine, ended=True):
        assert (request["answered"], request["stream_ended"]) == (place == "end", "connection")
        assert request["connection_ended"] == f"server_{'closed' if how == 'close' else how}"


@pytest.mark.parametrize("how", ENDINGS)
def test_a_head_breaks_off_in_the_middle_of_its_frame(server: FaultServer, how: str) -> None:
    with connect(server) as wire:
        assert wire.ask(f"/seq/{how}:headers") == ([], b"", ENDINGS[how])
        assert len(wire.rest) > FRAME_HEADER


@pytest.mark.parametrize("how", ENDINGS)
def test_a_large_body_arrives_up_to_the_very_byte(server: FaultServer, how: str) -> None:
    with connect(server) as wire:
        answer = wire.ask(f"/seq/200?size=9000000&{how}_after=8000001")
    assert (answer.body, answer.ending) == (pattern(8_000_001), ENDINGS[how])


def test_over_tls_a_close_says_farewell_and_a_cut_does_not(server: FaultServer) -> None:
    for how, expected in (("close", "closed"), ("cut", "cut"), ("reset", "reset")):
        with connect(server, "h2") as wire:
            answer = wire.ask(f"/seq/{how}:40")
        assert (answer.body, answer.ending) == (pattern(40), expected)


def test_all_streams_end_with_their_connection(server: FaultServer) -> None:
    mine = server.new_id()
    with connect(server) as wire:
        stalled = wire.begin(server.target("/seq/stall", id=mine))
        assert wire.ask("/seq/reset").ending == "reset"
        assert wire.answer(stalled).ending == "reset"
    (request,) = server.seen(mine, ended=True)
    assert (request["stream_ended"], request["connection_ended"]) == ("connection", "server_reset")


@pytest.mark.parametrize("how", ENDINGS)
def test_a_request_of_which_the_body_is_still_coming_can_be_ended_as_well(server: FaultServer, how: str) -> None:
    mine = server.new_id()
    with connect(server) as wire:
        stream = wire.begin(server.target(f"/seq/{how}:request", id=mine), method="PUT", body=bytes(6000), ends=False)
        assert wire.answer(stream) == ([], b"", ENDINGS[how])
    (request,) = server.seen(mine, ended=True)
    assert not request["body_complete"]


def test_a_connection_is_ended_at_the_moment_asked_for(server: FaultServer) -> None:
    mine = server.new_id()
    with connect(server) as wire:
        stream = wire.begin(server.target("/seq/stall", id=mine))
        server.seen(mine, requests=1)
        assert server.hang_up(mine, "reset") == 1
        assert wire.answer(stream).ending == "reset"


# Of one stream


@pytest.mark.parametrize(
    ("place", "heads", "length"),
    [("request", 0, 0), ("before", 0, 0), ("headers", 1, 0), ("body", 1, 32), ("5", 1, 5), ("end", 1, 64)],
)
def test_a_stall_is_of_one_stream(server: FaultServer, place: str, heads: int, length: int) -> None:
    mine = server.new_id()
    with connect(server) as wire:
        stream = wire.begin(server.target(f"/seq/stall:{place}", id=mine))
        for _ in range(heads):
            assert isinstance(wire.frame(stream), Head)
        if length:
            frame = wire.frame(stream)
            assert isinstance(frame, DataFrame) and frame.data == pattern(length)
        assert wire.ask("/seq/200").status == 200
        (request,) = server.seen(mine)
        assert (request["answered"], request["stream_ended"]) == (place == "end", None)


@pytest.mark.parametrize(
    ("place", "heads", "length"), [("request", 0, 0), ("before", 0, 0), ("headers", 1, 0), ("body", 1, 32), ("5", 1, 5)]
)
@pytest.mark.parametrize("code", ["NO_ERROR", "CANCEL", "INTERNAL_ERROR", "HTTP_1_1_REQUIRED", "4"])
def test_a_stream_is_reset_with_any_code_and_the_connection_stays(
    server: FaultServer, place: str, heads: int, length: int, code: str
) -> None:
    mine = server.new_id()
    name = "SETTINGS_TIMEOUT" if code == "4" else code
    with connect(server) as wire:
        answer = wire.ask(server.target(f"/seq/stream_reset:{place},200", id=mine, code=code))
        assert (len(answer.heads), answer.body, answer.ending) == (heads, pattern(length), name)
        assert wire.ask(server.target(f"/seq/stream_reset:{place},200", id=mine, code=code)).ending == "end"
        first, second = server.seen(mine, over=True)
    assert (first["stream_ended"], first["stream_code"], first["answered"]) == ("server_reset", name, False)
    assert first["connection"] == second["connection"]


def test_a_reset_can_come_after_the_answer(server: FaultServer) -> None:
    with connect(server) as wire:
        stream = wire.begin("/seq/stream_reset:end?code=CANCEL")
        assert wire.answer(stream).ending == "end"
        frame = wire.frame(stream)
        assert isinstance(frame, RstStreamFrame) and frame.error_code == ErrorCodes.CANCEL
        assert wire.ask("/seq/200").status == 200


def test_a_refused_stream_is_a_reset_on_seeing_the_request(server: FaultServer) -> None:
    mine = server.new_id()
    with connect(server) as wire:
        stream = wire.begin(server.target("/seq/refused_stream", id=mine), method="PUT", body=b"abc", ends=False)
        assert wire.answer(stream) == ([], b"", "REFUSED_STREAM")
        wire.send_body(stream, b"def", ends=True)
        assert wire.ask("/seq/200").status == 200, "what still comes on the stream is thrown away"
    assert [request["answer"] for request in server.seen(mine)] == ["refused_stream"]


@pytest.mark.parametrize(("place", "length"), [("headers", 0), ("body", 32), ("5", 5)])
def test_a_stream_can_end_before_its_length(server: FaultServer, place: str, length: int) -> None:
    with connect(server) as wire:
        answer = wire.ask(f"/seq/stream_end:{place}")
        assert (answer.header("content-length"), answer.body, answer.ending) == ("64", pattern(length), "end")
        assert wire.ask("/seq/stream_end").body == pattern(32)


def test_short_long_and_garbage_contradict_the_headers(server: FaultServer) -> None:
    with connect(server) as wire:
        answer = wire.ask("/seq/long?size=100")
        assert (answer.header("content-length"), answer.body, answer.ending) == ("100", pattern(100) + b"x" * 10, "end")
        assert wire.ask("/seq/garbage").header(":status") == "\x00garbage\xff"
        answer = wire.ask("/seq/short?size=100")
        assert (answer.header("content-length"), answer.body, answer.ending) == ("100", pattern(50), "closed")


# GOAWAY


@pytest.mark.parametrize(
    ("place", "heads", "length"),
    [("request", 0, 0), ("before", 0, 0), ("headers", 1, 0), ("body", 1, 32), ("5", 1, 5), ("end", 1, 64)],
)
@pytest.mark.parametrize("code", ["NO_ERROR", "ENHANCE_YOUR_CALM"])
def test_a_goaway_ends_the_connection_at_its_place(
    server: FaultServer, place: str, heads: int, length: int, code: str
) -> None:
    mine = server.new_id()
    with connect(server) as wire:
        assert wire.ask("/seq/200").status == 200
        answer = wire.ask(server.target(f"/seq/goaway:{place}", id=mine, code=code))
        assert (len(answer.heads), answer.body) == (heads, pattern(length))
        assert answer.ending == ("end" if place == "end" else "closed")
        assert wire.ending() == "closed"
        assert wire.goaways == [(code, 3)]
    (request,) = server.seen(mine, ended=True)
    assert (request["stream_ended"], request["connection_ended"]) == ("connection", "server_closed")


@pytest.mark.parametrize("before", [0, 2])
def test_a_goaway_can_say_that_the_request_was_not_looked_at(server: FaultServer, before: int) -> None:
    with connect(server) as wire:
        for _ in range(before):
            wire.ask("/seq/200")
        assert wire.ask("/seq/goaway:request?unprocessed").ending == "closed"
        assert wire.goaways == [("NO_ERROR", max(0, before * 2 - 1))]


def test_enhance_your_calm_is_a_goaway_on_seeing_the_request(server: FaultServer) -> None:
    mine = server.new_id()
    with connect(server) as wire:
        stream = wire.begin(server.target("/seq/enhance_your_calm", id=mine), method="PUT", ends=False)
        assert wire.answer(stream) == ([], b"", "closed")
        assert wire.goaways == [("ENHANCE_YOUR_CALM", 1)]
    assert [request["answer"] for request in server.seen(mine)] == ["enhance_your_calm"]


@pytest.mark.parametrize("code", ["NO_ERROR", "ENHANCE_YOUR_CALM"])
def test_a_draining_connection_answers_what_it_has_begun_and_no_more(server: FaultServer, code: str) -> None:
    mine, late = server.new_id(), server.new_id()
    with connect(server) as wire:
        earlier = wire.begin(server.target("/seq/200", id=mine, first=50))
        stream = wire.begin(server.target("/seq/503", id=mine, first=50, drain="", code=code))
        while not wire.goaways:
            wire.read_frame()
        assert wire.goaways == [(code, stream)]
        too_late = wire.begin(server.target("/seq/200", id=late))
        assert wire.answer(stream)[1:] == (pattern(64), "end")
        assert wire.answer(earlier)[1:] == (pattern(64), "end")
        assert wire.answer(too_late) == ([], b"", "closed")
    assert {request["stream_ended"] for request in server.seen(mine, ended=True)} == {"done"}
    assert server.seen(late) == []


# Floods, and what else is allowed or not


def test_pings_come_before_the_answer_and_their_answers_are_counted(server: FaultServer) -> None:
    port = server.open("h2c")
    with Http2Wire(port) as wire:
        assert wire.ask("/seq/200?pings=250").status == 200
        assert len(set(wire.pings)) == 250
        wire.finish()
    (connection,) = server.connections(port, ended=True)
    assert connection["ping_acks"] == 250


def test_a_flood_of_pings_lasts_until_the_client_leaves(server: FaultServer) -> None:
    mine = server.new_id()
    with connect(server) as wire:
        wire.begin(server.target("/seq/200", id=mine, pings="endless"))
        while len(wire.pings) < 5000:
            wire.read_frame()
    (request,) = server.seen(mine, ended=True)
    assert (request["answered"], request["stream_ended"]) == (False, "connection")


def test_settings_can_change_before_an_answer(server: FaultServer) -> None:
    with connect(server) as wire:
        assert wire.ask("/seq/200?settings=MAX_CONCURRENT_STREAMS:1,MAX_FRAME_SIZE:20000").status == 200
        assert (wire.settings[3], wire.settings[5]) == (1, 20_000)


def test_a_header_block_without_end_lasts_until_the_client_leaves(server: FaultServer) -> None:
    mine = server.new_id()
    with connect(server) as wire:
        wire.begin(server.target("/seq/200", id=mine, headers="endless"))
        server.seen(mine, requests=1)
        assert len(wire.read(1_000_000)) == 1_000_000
    (request,) = server.seen(mine, ended=True)
    assert (request["answered"], request["stream_ended"]) == (False, "connection")


def test_raw_bytes_are_sent_as_they_are(server: FaultServer) -> None:
    reset = RstStreamFrame(1, int(ErrorCodes.STREAM_CLOSED)).serialize().decode("latin-1")
    with connect(server) as wire:
        assert wire.ask(server.target("/seq/200", raw=reset)) == ([], b"", "STREAM_CLOSED")
        assert wire.ask(server.target("/seq/200", raw="\x00", close="end")).ending == "closed"
        assert wire.rest == b"\x00"


@pytest.mark.parametrize(
    "what", ["goaway", "refused_stream", "stream_end", "200?drain", "200?pings=1", "200?settings=MAX_FRAME_SIZE:20000"]
)
def test_over_http1_they_are_refused(server: FaultServer, what: str) -> None:
    with Wire(server.ports["http"]) as wire:
        response = wire.get("/seq/" + what)
    assert (response.status, b"HTTP/2" in response.body) == (400, True)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/seq/stream_end:before", "headers before it"),
        ("/seq/200?reset=end&goaway=end", "two faults"),
        ("/seq/stream_reset?code=COLOUR", "COLOUR"),
        ("/seq/stream_reset?code=4294967296", "32nd"),
        ("/seq/200?settings=COLOUR:1", "COLOUR"),
        ("/seq/stream_reset:65", "65 bytes"),
    ],
)
def test_faults_that_make_no_sense_are_refused(server: FaultServer, path: str, why: str) -> None:
    with connect(server) as wire:
        answer = wire.ask(path)
    assert answer.status == 400 and why in answer.body.decode()
