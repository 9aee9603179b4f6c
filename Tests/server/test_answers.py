"""Answers that are as HTTP wants them: status, headers, bodies, framing, pace, and what depends on the request."""

from __future__ import annotations

import email.utils
import gzip
import hashlib
import json
import time

import pytest
from fault_server import FaultServer, pattern
from wire import Wire


def test_a_plain_answer_keeps_the_connection(server: FaultServer) -> None:
    with Wire(server.ports["http"]) as wire:
        first, second = wire.get("/seq/200"), wire.get("/seq/503")
    assert (first.status, first.body, first.headers["Content-Length"]) == (200, pattern(64), "64")
    assert (second.status, second.body) == (503, pattern(64))
    assert email.utils.parsedate_to_datetime(first.headers["Date"]).tzinfo is not None


def test_each_request_gets_its_item_on_any_connection_and_port(server: FaultServer) -> None:
    target = server.target("/seq/503,429,200", id=server.new_id())
    with Wire(server.ports["http"]) as first, Wire(server.ports["https"], ca=server.ca) as second:
        statuses = [first.get(target).status, second.get(target).status, first.get(target).status]
        assert statuses == [503, 429, 200]
        assert second.get(target).status == 200


def test_scripts_count_by_id_and_path(server: FaultServer) -> None:
    one, two = server.new_id(), server.new_id()
    with Wire(server.ports["http"]) as wire:
        assert wire.get(server.target("/seq/503,200", id=one)).status == 503
        assert wire.get(server.target("/seq/503,200", id=two)).status == 503
        assert wire.get(server.target("/seq/500,200", id=one)).status == 500
        assert wire.get(server.target("/seq/503,200", id=one)).status == 200


def test_headers_are_sent_as_given_and_replace_those_of_the_server(server: FaultServer) -> None:
    headers = [
        "Retry-After:5",
        "retry-after:\xff 7",
        "Retry-After:",
        "Date:Wed, 21 Oct 2015 07:28:00 GMT",
        "-Content-Type",
    ]
    with Wire(server.ports["http"]) as wire:
        response = wire.get(server.target("/seq/429", h=headers))
    assert response.headers.get_all("Retry-After") == ["5", "\xff 7", ""]
    assert response.headers.get_all("Date") == ["Wed, 21 Oct 2015 07:28:00 GMT"]
    assert "Content-Type" not in response.headers


def test_a_status_line_can_be_anything(server: FaultServer) -> None:
    with Wire(server.ports["http"]) as wire:
        wire.request(server.target("/seq/200", status_line="HTTP/1.0 299 Odd"))
        assert wire.read_head().startswith(b"HTTP/1.0 299 Odd\r\n")


@pytest.mark.parametrize(
    ("total", "line"), [(1000, 1000), (100_000, 1000), (50_000, 24), (50_000, 50_000), (2999, 1000)]
)
def test_headers_can_be_huge(server: FaultServer, total: int, line: int) -> None:
    with Wire(server.ports["http"]) as wire:
        wire.request("/seq/200")
        usual = wire.read_head()
        wire.read(64)
        wire.request(server.target("/seq/200", headers=total, header_line=line))
        huge = wire.read_head()
        assert wire.read(64) == pattern(64)
    assert len(huge) - len(usual) == total
    lines = huge.split(b"\r\n")
    assert len(lines) - len(usual.split(b"\r\n")) == max(1, total // line)


@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, 3_000_000])
@pytest.mark.parametrize("framing", ["", "chunked", "until_close", "gzip"])
@pytest.mark.parametrize("kind", ["http", "https"])
def test_a_body_has_its_size_and_content(server: FaultServer, kind: str, size: int, framing: str) -> None:
    with Wire(server.ports[kind], ca=server.ca if kind == "https" else "") as wire:
        response = wire.get(server.target("/seq/200", {framing: ""} if framing else None, size=size))
    body = gzip.decompress(response.body) if framing == "gzip" else response.body
    assert hashlib.sha256(body).digest() == hashlib.sha256(pattern(size)).digest()
    assert response.headers["Content-Length"] == (None if framing else str(size))
    assert response.headers["Transfer-Encoding"] == ("chunked" if framing in ("chunked", "gzip") else None)


def test_a_body_can_be_given(server: FaultServer) -> None:
    with Wire(server.ports["http"]) as wire:
        response = wire.get(
            server.target("/seq/401", body='{"code":"token_expired"} \xff', h="Content-Type:application/json")
        )
    assert (response.body, response.headers["Content-Type"]) == (b'{"code":"token_expired"} \xff', "application/json")


def test_chunks_are_of_the_size_that_is_asked_for_and_trailers_follow(server: FaultServer) -> None:
    with Wire(server.ports["http"]) as wire:
        wire.request(server.target("/seq/200", body="abcdefg", chunked="", drip=3, trailer="Retry-After:9"))
        wire.read_head()
        expected = b"3\r\nabc\r\n3\r\ndef\r\n1\r\ng\r\n0\r\nRetry-After: 9\r\n\r\n"
        assert wire.read(len(expected)) == expected
        assert wire.get("/seq/200").status == 200


def test_raw_bytes_are_the_whole_answer(server: FaultServer) -> None:
    with Wire(server.ports["http"]) as wire:
        wire.request(server.target("/seq/200", raw="HTTP/1.1 2x0\n\x00\xff", close="end"))
        assert wire.read_to_end() == (b"HTTP/1.1 2x0\n\x00\xff", "closed")


def test_early_hints_come_before_the_answer(server: FaultServer) -> None:
    with Wire(server.ports["http"]) as wire:
        wire.request(server.target("/seq/503", hint="Retry-After:9"))
        assert wire.read_head() == b"HTTP/1.1 103 Early Hints\r\nRetry-After: 9\r\n\r\n"
        assert wire.read_head().startswith(b"HTTP/1.1 503 ")


@pytest.mark.parametrize(("status", "method"), [(200, "HEAD"), (204, "GET"), (304, "GET")])
@pytest.mark.parametrize("way", ["", "&chunked", "&first=1"])
def test_answers_without_a_body_have_none(server: FaultServer, status: int, method: str, way: str) -> None:
    with Wire(server.ports["http"]) as wire:
        wire.request(f"/seq/{status}?h=X:1{way}", method=method)
        assert b"Location" not in wire.read_head(), "a 304 leads nowhere"
        wire.request("/seq/200")
        assert wire.read_head().startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("asked", ["Connection: close\r\n", "", "HTTP/1.0"])
def test_the_connection_ends_when_either_side_says_so(server: FaultServer, asked: str) -> None:
    with Wire(server.ports["http"]) as wire:
        if asked == "HTTP/1.0":
            wire.send(b"GET /seq/200 HTTP/1.0\r\n\r\n")
        else:
            wire.request("/seq/200" if asked else "/seq/200?h=Connection:close", headers=asked)
        data, ending = wire.read_to_end()
    assert b"Connection: close\r\n" in data and data.endswith(pattern(64)) and ending == "closed"


def test_a_redirect_leads_back_to_the_script(server: FaultServer) -> None:
    target = server.target("/redirect/2", id=server.new_id(), to="https")
    with Wire(server.ports["http"]) as wire:
        hops = [wire.get(target) for _ in range(3)]
    assert [hop.status for hop in hops] == [302, 302, 200]
    assert hops[0].headers["Location"] == f"https://127.0.0.1:{server.ports['https']}{target}"
    assert "Location" not in hops[2].headers


@pytest.mark.parametrize(
    ("parameters", "location"),
    [
        ("", "{target}"),
        ("&to=http://other.example:81", "http://other.example:81{target}"),
        ("&h=Location:/echo", "/echo"),
    ],
)
def test_a_redirect_can_lead_anywhere(server: FaultServer, parameters: str, location: str) -> None:
    target = f"/seq/307?h=Retry-After:9{parameters}"
    with Wire(server.ports["http"]) as wire:
        response = wire.get(target)
    assert (response.status, response.headers["Retry-After"]) == (307, "9")
    assert response.headers.get_all("Location") == [location.format(target=target)]


def test_auth_wants_the_right_token_and_counts_only_requests_that_have_it(server: FaultServer) -> None:
    target = server.target("/auth/503,200", {"401.body": '{"code":"token_expired"}'}, id=server.new_id(), accept="good")
    with Wire(server.ports["http"]) as wire:
        refused = wire.get(target, headers="Authorization: Bearer bad\r\n")
        good = "Authorization: Bearer good\r\n"
        assert [wire.get(target, headers=good).status, wire.get(target).status] == [503, 401]
        assert wire.get(target, headers=good).status == 200
    assert (refused.status, refused.body) == (401, b'{"code":"token_expired"}')
    assert refused.headers["WWW-Authenticate"] == "Bearer"


def test_each_token_is_a_new_one(server: FaultServer) -> None:
    target = server.target("/seq/503,token", id=server.new_id(), expires_in='"7"')
    with Wire(server.ports["http"]) as wire:
        assert wire.get(target, method="POST").status == 503
        answers = [json.loads(wire.get(target, method="POST", body=b"grant_type=x").body) for _ in range(2)]
        fixed = json.loads(wire.get("/token?token=abc").body)
    assert answers == [{"access_token": f"token-{n}", "token_type": "bearer", "expires_in": "7"} for n in (1, 2)]
    assert (fixed["access_token"], fixed["expires_in"]) == ("abc", 3600)


@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize("size", [1, 5000, 1_000_000])
def test_echo_tells_what_arrived(server: FaultServer, framing: str, size: int) -> None:
    body = pattern(size)
    with Wire(server.ports["http"]) as wire:
        if framing == "length":
            wire.request("/echo", method="PUT", headers="X-One:  two \r\n", body=body)
        else:
            wire.request("/echo", method="PUT", headers="X-One:  two \r\nTransfer-Encoding: chunked\r\n")
            wire.send(
                b"1;x=y\r\n%b\r\n%X\r\n%b\r\n0\r\nT: 1\r\n\r\n" % (body[:1], size - 1, body[1:])
                if size > 1
                else b"1\r\n%b\r\n0\r\n\r\n" % body
            )
        told = json.loads(wire.response().body)
        assert wire.get("/seq/200").status == 200, "nothing of the body is left on the connection"
    assert (told["method"], told["path"], told["body_complete"]) == ("PUT", "/echo", True)
    assert (told["body_length"], told["body_sha256"]) == (size, hashlib.sha256(body).hexdigest())
    assert ["X-One", "two"] in told["headers"]


def test_100_continue_is_honored_before_the_body_is_read(server: FaultServer) -> None:
    with Wire(server.ports["http"]) as wire:
        wire.request("/echo", method="PUT", headers="Content-Length: 3\r\nExpect: 100-continue\r\n")
        assert wire.read_head() == b"HTTP/1.1 100 Continue\r\n\r\n"
        wire.send(b"abc")
        assert json.loads(wire.response().body)["body_length"] == 3


def test_100_continue_can_be_ignored_or_refused(server: FaultServer) -> None:
    mine = server.new_id()
    expecting = "Content-Length: 3\r\nExpect: 100-continue\r\n"
    with Wire(server.ports["http"]) as wire:
        wire.request(f"/echo?expect=ignore&id={mine}", method="PUT", headers=expecting)
        server.seen(mine, requests=1)
        wire.send(b"abc")
        assert wire.read_head().startswith(b"HTTP/1.1 200 ")
    with Wire(server.ports["http"]) as wire:
        wire.request("/echo?expect=refuse", method="PUT", headers=expecting)
        data, ending = wire.read_to_end()
    assert data.startswith(b"HTTP/1.1 417 ") and ending == "closed"


def test_an_early_answer_does_not_wait_for_the_body(server: FaultServer) -> None:
    with Wire(server.ports["http"]) as wire:
        wire.request("/seq/503?early", method="PUT", headers="Content-Length: 3\r\n")
        assert wire.response().status == 503
        wire.send(b"abc")
        assert wire.get("/seq/200").status == 200


def test_pauses_are_never_shorter_than_asked_for(server: FaultServer) -> None:
    with Wire(server.ports["http"]) as wire:
        begin = time.monotonic()
        wire.request("/seq/200?size=4&first=60&every=20&drip=1")
        wire.read_head()
        assert time.monotonic() - begin >= 0.06
        assert wire.read(4) == b"0000"
        assert time.monotonic() - begin >= 0.12


def test_a_head_can_drip(server: FaultServer) -> None:
    with Wire(server.ports["http"]) as wire:
        begin = time.monotonic()
        wire.request("/seq/200?every_head=20&drip=50")
        head = wire.read_head()
        assert len(head) > 100
        assert time.monotonic() - begin >= 0.04
        assert wire.read(64) == pattern(64)
        begin = time.monotonic()
        wire.request("/seq/200?headers=endless&header_line=30&every_head=20&drip=1000")
        wire.read(len(head) + 90)
        assert time.monotonic() - begin >= 0.04


def test_requests_that_are_not_http_are_refused(server: FaultServer) -> None:
    port = server.open("http")
    broken = [
        b"HELLO\r\n\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
        b"GET /echo HTTP/1.1\r\nX: " + b"a" * 1_100_000,
    ]
    for data in broken:
        with Wire(port) as wire:
            wire.send(data)
            assert wire.read_to_end()[0].startswith(b"HTTP/1.1 400 ")
    assert all(connection["error"] for connection in server.connections(port, opened=len(broken), ended=True))


def test_a_proxy_is_asked_with_whole_urls(server: FaultServer) -> None:
    with Wire(server.ports["http"]) as wire:
        told = json.loads(wire.get("http://other.example/echo").body)
    assert told["path"] == "http://other.example/echo"


def test_a_url_that_is_not_in_the_vocabulary_is_answered_with_400_and_why(server: FaultServer) -> None:
    mine = server.new_id()
    with Wire(server.ports["http"]) as wire:
        response = wire.get(server.target("/seq/200", id=mine, colour="red"))
    assert (response.status, response.body) == (400, b"there is no parameter 'colour'\n")
    assert [request["answer"] for request in server.seen(mine)] == ["refused"]
