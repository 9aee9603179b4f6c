"""nginx: that it starts, serves, takes uploads, tells what it saw, and leaves nothing behind."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import pytest
from fault_server import pattern
from http2_wire import Answer, Http2Wire, Line
from nginx import Nginx
from wire import Response, Wire


@pytest.fixture(scope="module")
def running() -> Iterator[Nginx]:
    with Nginx("keepalive_requests 3;") as nginx:
        (nginx.files / "large").write_bytes(pattern(3_000_000))
        yield nginx


def get(nginx: Nginx, kind: str, path: str, headers: str = "") -> Response:
    with Wire(nginx.ports[kind], ca=nginx.ca if kind == "https" else "") as wire:
        return wire.get(path, headers=headers)


def ask(nginx: Nginx, kind: str, path: str, headers: list[Line]) -> Answer:
    with Http2Wire(nginx.ports[kind], ca=nginx.ca if kind == "h2" else "") as wire:
        return wire.ask(path, headers=headers)


@pytest.mark.parametrize("kind", ["http", "https"])
def test_files_have_ranges_and_etags(running: Nginx, kind: str) -> None:
    whole = get(running, kind, "/files/large")
    assert (whole.status, whole.body, whole.headers["Accept-Ranges"]) == (200, pattern(3_000_000), "bytes")
    etag = whole.headers["ETag"]
    rest = get(running, kind, "/files/large", f"Range: bytes=2999990-\r\nIf-Range: {etag}\r\n")
    assert (rest.status, rest.body) == (206, pattern(10, 2_999_990))
    assert rest.headers["Content-Range"] == "bytes 2999990-2999999/3000000"
    other = get(running, kind, "/files/large", 'Range: bytes=2999990-\r\nIf-Range: "other"\r\n')
    assert (other.status, len(other.body)) == (200, 3_000_000)
    assert get(running, kind, "/files/large", "Range: bytes=3000000-\r\n").status == 416


@pytest.mark.parametrize("kind", ["h2", "h2c"])
def test_files_are_there_over_http2_too(running: Nginx, kind: str) -> None:
    whole = ask(running, kind, "/files/large", [])
    assert (whole.status, whole.body, whole.ending) == (200, pattern(3_000_000), "end")
    rest = ask(running, kind, "/files/large", [("range", "bytes=2999990-"), ("if-range", whole.header("etag") or "")])
    assert (rest.status, rest.body) == (206, pattern(10, 2_999_990))


def test_gzip_is_for_those_who_accept_it(running: Nginx) -> None:
    packed = ask(running, "h2", "/gzip/large", [("accept-encoding", "gzip")])
    assert (packed.header("content-encoding"), gzip.decompress(packed.body)) == ("gzip", pattern(3_000_000))
    assert (packed.header("etag") or "").startswith("W/")
    assert ask(running, "h2", "/gzip/large", []).body == pattern(3_000_000)


@pytest.mark.parametrize("kind", ["http", "h2"])
def test_uploads_become_files(running: Nginx, kind: str) -> None:
    path = f"/uploads/{kind}/new"
    if kind == "http":
        with Wire(running.ports["http"]) as one:
            assert one.get(path, method="PUT", body=pattern(1_000_000)).status == 201
    else:
        with Http2Wire(running.ports["h2"], ca=running.ca) as two:
            assert two.ask(path, method="PUT", body=pattern(60_000)).status == 201
    assert (running.uploads / kind / "new").read_bytes() == pattern(1_000_000 if kind == "http" else 60_000)


def test_a_goaway_of_its_own_ends_a_connection_that_has_served_enough(running: Nginx) -> None:
    """The directive of the fixture asks for it."""
    with Http2Wire(running.ports["h2c"]) as wire:
        assert [wire.ask("/files/large").status for _ in range(3)] == [200] * 3
        assert wire.ending() == "closed"
        assert [code for code, _ in wire.goaways] == ["NO_ERROR"]


def test_it_tells_what_it_saw() -> None:
    with Nginx() as nginx:
        (nginx.files / "small").write_bytes(b"0123456789")
        assert nginx.url("/files/small") == f"http://127.0.0.1:{nginx.ports['http']}/files/small"
        assert nginx.url("/", kind="h2") == f"https://127.0.0.1:{nginx.ports['h2']}/"
        get(nginx, "https", "/files/small", "Range: bytes=5-\r\n")
        ask(nginx, "h2", "/files/none", [])
        first, second = nginx.seen(2)
    assert (first["protocol"], first["method"], first["path"]) == ("HTTP/1.1", "GET", "/files/small")
    assert (first["status"], first["sent_length"], first["range"]) == (206, 5, "bytes=5-")
    assert (second["protocol"], second["status"], second["path"]) == ("HTTP/2.0", 404, "/files/none")
    assert second["connection"] != first["connection"]


def test_it_ends_with_its_block_and_leaves_nothing_behind() -> None:
    with Nginx() as nginx:
        port, folder = nginx.ports["http"], nginx.files.parent
    with pytest.raises(ConnectionRefusedError):
        Wire(port)
    assert not folder.exists()


def test_one_that_cannot_start_says_why() -> None:
    with pytest.raises(RuntimeError, match='unknown directive "nonsense"'), Nginx("nonsense 1;"):
        pass
