"""HTTP/2: the same answers as in HTTP/1.1, on streams side by side, and what is seen of them."""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from typing import Any

import pytest
from fault_server import FaultServer, pattern
from h2.errors import ErrorCodes
from h2.settings import SettingCodes
from http2_wire import USUAL_WINDOW, Answer, Head, Http2Wire
from hyperframe.frame import DataFrame, GoAwayFrame, RstStreamFrame, WindowUpdateFrame
from wire import Wire

KINDS = ["h2", "h2c"]


def connect(server: FaultServer, kind: str = "h2c", *, window: int = 1 << 30) -> Http2Wire:
    return Http2Wire(server.ports[kind], ca=server.ca if kind == "h2" else "", window=window)


def decoded(answer: Answer) -> Any:
    assert (answer.status, answer.ending) == (200, "end")
    return json.loads(answer.body)


@pytest.mark.parametrize("kind", KINDS)
def test_each_request_has_a_stream_and_gets_its_item(server: FaultServer, kind: str) -> None:
    mine = server.new_id()
    with connect(server, kind) as wire:
        answers = [wire.ask(server.target("/seq/503,429,200", id=mine)) for _ in range(3)]
        requests = server.seen(mine, over=True)
    assert [(answer.status, answer.body, answer.ending) for answer in answers] == [
        (status, pattern(64), "end") for status in (503, 429, 200)
    ]
    assert [request["protocol"] for request in requests] == ["HTTP/2"] * 3
    assert [request["stream"] for request in requests] == [1, 3, 5]
    assert [(request["stream_ended"], request["stream_code"]) for request in requests] == [("done", None)] * 3
    assert len({request["connection"] for request in requests}) == 1
    assert {request["answered"] for request in requests} == {True}
    assert [":method", "GET"] in requests[0]["headers"] and [":authority", "localhost"] in requests[0]["headers"]


def test_a_script_continues_in_any_protocol(server: FaultServer) -> None:
    mine = server.new_id()
    target = server.target("/seq/503,429,200", id=mine)
    with connect(server) as two, Wire(server.ports["http"]) as one:
        statuses = [two.ask(target).status, one.get(target).status, two.ask(target).status]
    assert statuses == [503, 429, 200]
    requests = server.seen(mine)
    assert [request["protocol"] for request in requests] == ["HTTP/2", "HTTP/1.1", "HTTP/2"]
    assert requests[1]["stream"] is None and requests[1]["stream_ended"] is None


def test_a_client_chooses_the_protocol_in_its_handshake(server: FaultServer) -> None:
    for offered, agreed in ((["h2", "http/1.1"], "h2"), (["http/1.1"], "http/1.1"), ([], None)):
        with Wire(server.ports["h2"], ca=server.ca, protocols=offered) as wire:
            assert wire.agreed_protocol() == agreed
            if agreed != "h2":
                assert wire.get("/seq/200").status == 200
    with Wire(server.ports["https"], ca=server.ca, protocols=["h2", "http/1.1"]) as wire:
        assert wire.agreed_protocol() == "http/1.1"


@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, 3_000_000])
@pytest.mark.parametrize("framing", ["", "chunked", "until_close", "gzip"])
def test_a_body_has_its_size_and_content(server: FaultServer, size: int, framing: str) -> None:
    with connect(server) as wire:
        answer = wire.ask(server.target("/seq/200", {framing: ""} if framing else None, size=size))
    body = gzip.decompress(answer.body) if framing == "gzip" else answer.body
    assert hashlib.sha256(body).digest() == hashlib.sha256(pattern(size)).digest()
    assert answer.header("content-length") == (None if framing else str(size)), "else its end says how long it is"
    assert answer.ending == "end" and answer.header("transfer-encoding") is None


def test_headers_are_as_given_with_small_letters_in_their_names(server: FaultServer) -> None:
    with connect(server) as wire:
        answer = wire.ask(server.target("/seq/429", h=["Retry-After:5", "Date:never", "-Content-Type", "X:\xff"]))
    (lines,) = answer.heads
    assert lines[0] == (":status", "429")
    assert sorted(lines[1:]) == [("content-length", "64"), ("date", "never"), ("retry-after", "5"), ("x", "\xff")]


@pytest.mark.parametrize(("total", "line"), [(1000, 1000), (100_000, 1000), (50_000, 50_000)])
def test_a_header_block_can_be_huge(server: FaultServer, total: int, line: int) -> None:
    def length(answer: Answer) -> int:
        return sum(len(name) + len(": \r\n") + len(value) for name, value in answer.heads[0])

    with connect(server) as wire:
        usual, huge = wire.ask("/seq/200"), wire.ask(server.target("/seq/200", headers=total, header_line=line))
    assert length(huge) - length(usual) == total
    assert huge.body == pattern(64)


def test_early_hints_come_before_and_trailers_after(server: FaultServer) -> None:
    with connect(server) as wire:
        answer = wire.ask(server.target("/seq/503", hint="Link:a", trailer="Retry-After:9"))
    hints, lines, trailers = answer.heads
    assert hints == [(":status", "103"), ("link", "a")]
    assert lines[0] == (":status", "503")
    assert trailers == [("retry-after", "9")]
    assert (answer.body, answer.ending) == (pattern(64), "end")


@pytest.mark.parametrize(("status", "method"), [(200, "HEAD"), (204, "GET"), (304, "GET")])
@pytest.mark.parametrize("way", ["", "&first=1"])
def test_answers_without_a_body_have_none(server: FaultServer, status: int, method: str, way: str) -> None:
    with connect(server) as wire:
        answer = wire.ask(f"/seq/{status}?h=X:1{way}", method=method)
    assert (answer.status, answer.body, answer.ending, len(answer.heads)) == (status, b"", "end", 1)


def test_a_redirect_leads_back_to_the_script(server: FaultServer) -> None:
    ports = server.ports
    with connect(server) as wire:
        for kind, origin in (("h2", f"https://127.0.0.1:{ports['h2']}"), ("h2c", f"http://127.0.0.1:{ports['h2c']}")):
            target = server.target("/redirect/1", id=server.new_id(), to=kind)
            first, second = wire.ask(target), wire.ask(target)
            assert (first.status, first.header("location")) == (302, origin + target)
            assert (second.status, second.header("location")) == (200, None)
            assert server.url("/echo", kind=kind) == origin + "/echo"


def test_tokens_and_auth_are_the_same(server: FaultServer) -> None:
    mine = server.new_id()
    with connect(server) as wire:
        token = decoded(wire.ask(server.target("/token", id=mine), method="POST", body=b"x"))["access_token"]
        target = server.target("/auth/503,200", id=mine, accept=token)
        refused = wire.ask(target)
        assert (refused.status, refused.header("www-authenticate")) == (401, "Bearer")
        right = [("authorization", f"Bearer {token}")]
        assert [wire.ask(target, headers=right).status for _ in range(2)] == [503, 200]


@pytest.mark.parametrize("kind", KINDS)
def test_echo_tells_what_arrived_however_large_it_is(server: FaultServer, kind: str) -> None:
    body = pattern(500_000)
    with connect(server, kind) as wire:
        stream = wire.begin("/echo", method="PUT", headers=[("x-one", "two")], ends=False)
        sent = 0
        while sent < len(body):
            window = USUAL_WINDOW + wire.opened[stream] - sent
            if window <= 0:
                wire.read_frame()
                continue
            wire.send_body(stream, body[sent : sent + window], ends=sent + window >= len(body))
            sent += window
        told = decoded(wire.answer(stream))
    assert (told["method"], told["path"], told["body_complete"]) == ("PUT", "/echo", True)
    assert (told["body_length"], told["body_sha256"]) == (len(body), hashlib.sha256(body).hexdigest())
    assert ["x-one", "two"] in told["headers"]


def test_control_paths_are_there_too(server: FaultServer) -> None:
    with connect(server) as wire:
        assert decoded(wire.ask("/_ports"))["h2c"] == server.ports["h2c"]


# Streams side by side, and windows


def test_a_stream_that_waits_does_not_keep_others(server: FaultServer) -> None:
    with connect(server) as wire:
        stalled = wire.begin("/seq/stall:10")
        slow = wire.begin("/seq/200?first=60000")
        held = wire.begin("/seq/200", method="PUT", ends=False)
        endless = wire.begin("/seq/200?size=endless&drip=1&every=1")
        assert [wire.ask("/seq/200").status for _ in range(20)] == [200] * 20
        assert isinstance(wire.frame(stalled), Head)
        assert isinstance(wire.frame(endless), Head)
        for stream in (stalled, slow, held, endless):
            wire.reset_stream(stream, ErrorCodes.CANCEL)
        assert wire.ask("/seq/200").status == 200


def test_a_hundred_streams_at_once(server: FaultServer) -> None:
    mine = server.new_id()
    with connect(server) as wire:
        streams = [wire.begin(server.target("/seq/200", id=mine, first=30, size=1000)) for _ in range(100)]
        assert {wire.answer(stream).body for stream in streams} == {pattern(1000)}
    assert [request["stream"] for request in server.seen(mine)] == streams


def test_the_server_sends_no_more_than_the_window_of_the_client(server: FaultServer) -> None:
    with connect(server, window=10) as wire:
        mine = server.new_id()
        stream = wire.begin(server.target("/seq/200", id=mine))
        assert isinstance(wire.frame(stream), Head)
        frame = wire.frame(stream)
        assert isinstance(frame, DataFrame) and (frame.data, list(frame.flags)) == (pattern(10), [])
        assert not wire.ask("/seq/204").body
        assert [request["answered"] for request in server.seen(mine)] == [False]
        wire.send_frames(WindowUpdateFrame(stream, window_increment=54))
        assert wire.answer(stream) == ([], pattern(54, 10), "end")


def test_a_window_is_opened_as_fast_as_the_body_is_read(server: FaultServer) -> None:
    with connect(server) as wire:
        begin = time.monotonic()
        stream = wire.begin("/echo?read=100&read_every=20", method="PUT", body=bytes(300), ends=False)
        while wire.opened[stream] < 300:
            wire.read_frame()
        assert time.monotonic() - begin >= 0.04
        wire.send_body(stream, b"x", ends=True)
        assert decoded(wire.answer(stream))["body_length"] == 301


def test_a_window_stays_shut_while_the_server_does_not_read(server: FaultServer) -> None:
    mine = server.new_id()
    target = server.target("/echo", id=mine, read_pause_after=1000, read_pause=60_000)
    with connect(server) as wire:
        stream = wire.begin(target, method="PUT", body=bytes(USUAL_WINDOW), ends=False)
        while wire.opened[stream] < 1000:
            wire.read_frame()
        assert wire.ask("/seq/200").status == 200
        assert wire.opened[stream] == 1000
    (request,) = server.seen(mine, ended=True)
    assert (request["body_length"], request["body_complete"]) == (USUAL_WINDOW, False)


def test_a_port_can_have_its_own_settings(server: FaultServer) -> None:
    port = server.open("h2c", settings="MAX_CONCURRENT_STREAMS:1,MAX_FRAME_SIZE:20000")
    with Http2Wire(port) as wire:
        assert wire.ask("/seq/200").status == 200
        assert wire.settings[SettingCodes.MAX_CONCURRENT_STREAMS] == 1
        assert wire.settings[SettingCodes.MAX_FRAME_SIZE] == 20_000
        assert wire.settings[SettingCodes.INITIAL_WINDOW_SIZE] == USUAL_WINDOW


def test_a_window_that_begins_shut_is_never_opened(server: FaultServer) -> None:
    port = server.open("h2c", settings="INITIAL_WINDOW_SIZE:0")
    with Http2Wire(port) as wire:
        wire.ask("/seq/200")
        stream = wire.begin("/echo", method="PUT", ends=False)
        assert wire.ask("/seq/200").status == 200
        assert (wire.settings[SettingCodes.INITIAL_WINDOW_SIZE], wire.opened[stream]) == (0, 0)


@pytest.mark.parametrize(
    ("kind", "settings", "why"),
    [
        ("http", "MAX_CONCURRENT_STREAMS:1", "HTTP/2"),
        ("h2c", "COLOUR:1", "COLOUR"),
        ("h2c", "MAX_FRAME_SIZE:1", "invalid value 1"),
        ("h2c", "MAX_FRAME_SIZE:x", "'x'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(server: FaultServer, kind: str, settings: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        server.open(kind, settings=settings)


def test_100_continue_is_honored_ignored_or_refused(server: FaultServer) -> None:
    expecting = [("expect", "100-continue")]
    with connect(server) as wire:
        honoured = wire.begin("/echo", method="PUT", headers=expecting, ends=False)
        head = wire.frame(honoured)
        assert isinstance(head, Head) and (head.lines, head.ends) == ([(":status", "100")], False)
        wire.send_body(honoured, b"abc", ends=True)
        assert decoded(wire.answer(honoured))["body_length"] == 3
        ignored = wire.begin("/echo?expect=ignore", method="PUT", headers=expecting, ends=False)
        wire.send_body(ignored, b"abc", ends=True)
        assert len(wire.answer(ignored).heads) == 1
        refused = wire.begin("/echo?expect=refuse", method="PUT", headers=expecting, ends=False)
        assert wire.answer(refused) == ([[(":status", "417")]], b"", "end")
        assert wire.ask("/seq/200").status == 200


def test_an_early_answer_does_not_wait_for_the_body(server: FaultServer) -> None:
    mine = server.new_id()
    with connect(server) as wire:
        stream = wire.begin(server.target("/seq/503", id=mine, early=""), method="PUT", ends=False)
        assert wire.answer(stream).status == 503
        assert server.seen(mine)[0]["stream_ended"] is None
        wire.send_body(stream, b"abc", ends=True)
        (request,) = server.seen(mine, over=True)
    assert (request["body_length"], request["body_complete"], request["stream_ended"]) == (3, True, "done")


# Pace


def test_pauses_are_never_shorter_than_asked_for(server: FaultServer) -> None:
    with connect(server) as wire:
        begin = time.monotonic()
        stream = wire.begin("/seq/200?size=4&first=60&every=20&drip=1")
        assert isinstance(wire.frame(stream), Head)
        assert time.monotonic() - begin >= 0.06
        sizes = [len(frame.data) for frame in (wire.frame(stream) for _ in range(4)) if isinstance(frame, DataFrame)]
        assert sizes == [1, 1, 1, 1]
        assert time.monotonic() - begin >= 0.12


def test_a_head_can_drip(server: FaultServer) -> None:
    with connect(server) as wire:
        begin = time.monotonic()
        answer = wire.ask("/seq/200?every_head=20&drip=30&h=X:" + "x" * 60)
        assert time.monotonic() - begin >= 0.04
        assert answer.body == pattern(64)


def test_a_connection_that_idles_is_closed_at_its_time_with_a_goaway(server: FaultServer) -> None:
    with connect(server) as wire:
        wire.ask("/seq/200?idle=60")
        begin = time.monotonic()
        assert wire.ask("/seq/200?idle=60&first=100").status == 200, "a request in time is answered"
        assert wire.ending() == "closed"
        assert time.monotonic() - begin >= 0.06
        assert wire.goaways == [("NO_ERROR", 3)]


# What is seen


def test_a_client_that_resets_a_stream_is_seen_doing_so(server: FaultServer) -> None:
    for path in ("/seq/stall:10", "/seq/200?first=60000", "/seq/200?size=endless"):
        mine = server.new_id()
        with connect(server, window=1000) as wire:
            stream = wire.begin(path + ("&" if "?" in path else "?") + f"id={mine}")
            server.seen(mine, requests=1)
            wire.reset_stream(stream, ErrorCodes.CANCEL)
            (request,) = server.seen(mine, over=True)
            assert (request["stream_ended"], request["stream_code"]) == ("client_reset", "CANCEL")
            assert (request["answered"], request["connection_ended"]) == (False, None)
            assert wire.ask("/seq/204").status == 204, "the connection stays"


def test_a_request_that_is_reset_at_once_is_seen_all_the_same(server: FaultServer) -> None:
    mine = server.new_id()
    with connect(server) as wire:
        request = wire.request_frame(server.target("/seq/stall", id=mine))
        wire.send_frames(request, RstStreamFrame(request.stream_id, int(ErrorCodes.CANCEL)))
        (seen,) = server.seen(mine, requests=1, over=True)
    assert (seen["stream_ended"], seen["stream_code"]) == ("client_reset", "CANCEL")


@pytest.mark.parametrize("way", ["client_closed", "client_reset"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_client_that_goes_ends_its_streams(server: FaultServer, kind: str, way: str) -> None:
    mine = server.new_id()
    with connect(server, kind) as wire:
        wire.begin(server.target("/seq/stall", id=mine))
        wire.begin(server.target("/echo", id=mine), method="PUT", body=b"abc", ends=False)
        server.seen(mine, requests=2)
        if way == "client_closed":
            wire.finish()
        else:
            wire.reset()
        requests = server.seen(mine, ended=True)
    assert [request["connection_ended"] for request in requests] == [way] * 2
    assert [(request["stream_ended"], request["answered"]) for request in requests] == [("connection", False)] * 2
    assert (requests[1]["body_start"], requests[1]["body_complete"]) == ("abc", False)


def test_a_goaway_of_the_client_is_seen(server: FaultServer) -> None:
    port = server.open("h2c")
    with Http2Wire(port) as wire:
        mine = server.new_id()
        request = wire.request_frame(server.target("/seq/refused_stream", id=mine))
        wire.send_frames(request, GoAwayFrame(0, error_code=int(ErrorCodes.INTERNAL_ERROR)))
        wire.finish()
        (connection,) = server.connections(port, opened=1, ended=True)
    (seen,) = server.seen(mine)
    assert (seen["answered"], seen["stream_ended"]) == (False, "connection")
    assert (connection["goaway"], connection["protocol"], connection["error"]) == ("INTERNAL_ERROR", "HTTP/2", "")


@pytest.mark.parametrize("sent", [b"GET /echo HTTP/1.1\r\n\r\n" + bytes(30), bytes(100)])
def test_what_is_not_http2_is_refused_and_told(server: FaultServer, sent: bytes) -> None:
    port = server.open("h2c")
    with Wire(port) as wire:
        wire.send(sent)
        assert wire.read_to_end()[1] == "closed"
    (connection,) = server.connections(port, opened=1, ended=True)
    assert connection["error"] and connection["requests"] == []


def test_a_goaway_of_the_client_may_come_with_the_end_of_a_body() -> None:
    """In one piece. Given that, the server does not fail, which it would report at its end."""
    with FaultServer() as server, connect(server) as wire:
        head = wire.request_frame(server.target("/seq/200"), method="POST", ends=False)
        wire.send_frames(head, DataFrame(head.stream_id, b"body"), GoAwayFrame(0, error_code=0))
        wire.finish()


def test_a_connection_that_breaks_the_rules_is_ended_with_a_goaway(server: FaultServer) -> None:
    port = server.open("h2c")
    with Http2Wire(port) as wire:
        mine = server.new_id()
        stalled = wire.begin(server.target("/seq/stall", id=mine))
        server.seen(mine, requests=1)
        wire.send_frames(DataFrame(stalled + 100, b"of no stream"))
        assert wire.answer(stalled).ending == "closed"
        assert [code for code, _ in wire.goaways] == ["PROTOCOL_ERROR"]
    (connection,) = server.connections(port, ended=True)
    assert (connection["error"] != "", len(connection["requests"])) == (True, 1)


def test_a_request_that_is_not_in_the_vocabulary_is_answered_with_400(server: FaultServer) -> None:
    with connect(server) as wire:
        answer = wire.ask("/seq/200?colour=red")
    assert (answer.status, answer.body) == (400, b"there is no parameter 'colour'\n")
