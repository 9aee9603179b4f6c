"""A request on a client that has been used is like the same one on a new client, after any earlier request."""

from __future__ import annotations

import hashlib
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import pytest
from boxretry import BoxRetryError, Client, HTTPVersion, Response
from calls import once, quick
from fault_server import FaultServer
from raw_server import Accepting

# --- Any request after any other ---

#: The kind of the server's port, the items of its answer, their parameters, the method, and further arguments.
Kind = tuple[str, str, dict[str, Any], str, dict[str, Any]]


def kind(
    port: str = "http",
    items: str = "200",
    parameters: dict[str, Any] | None = None,
    method: str = "GET",
    **more: Any,
) -> Kind:
    return port, items, parameters or {}, method, more


def pieces() -> Iterator[bytes]:
    yield b"a" * 30_000
    yield b"b" * 50_000


KINDS: dict[str, Kind] = {
    "get": kind(),
    "get of much": kind(parameters={"size": 300_000, "chunked": "", "trailer": "A:b"}),
    "get without headers": kind(parameters={"raw": "HTTP/1.1 200 OK\r\n\r\nbody", "close": "end"}),
    "get of nothing": kind(items="204"),
    "not modified": kind(items="304"),
    "hints": kind(parameters={"hint": "Link:x"}),
    "head": kind(method="HEAD"),
    "head with a body": kind(method="HEAD", data=b"body"),
    "get with a body": kind(data=b"body"),
    "delete": kind(method="DELETE"),
    "post": kind(method="POST", data=b"p" * 100_000),
    "post of nothing": kind(method="POST", data=b""),
    "put in pieces": kind(method="PUT", data=pieces),
    "put with a length": kind(method="PUT", data=pieces, data_length=80_000),
    "form": kind(method="POST", files={"part": b"x" * 70_000}),
    "compressed": kind(parameters={"gzip": "", "size": 50_000}, compression=True),
    "compressed, and not asked for": kind(parameters={"gzip": "", "size": 50_000}),
    "to a sink": kind(parameters={"size": 300_000}, sink="taken"),
    "with progress": kind(parameters={"size": 50_000}, on_progress=lambda _: None),
    "again": kind(items="503,200"),
    "again in pieces": kind(items="503,200", method="PUT", data=pieces),
    "redirected": kind(items="302,200", method="POST", data=b"body"),
    "redirected with its body": kind(items="307,200", method="PUT", data=pieces),
    "cut off": kind(parameters={"close": "body", "size": 100_000}),
    "connection ends": kind(parameters={"close": "end"}),
    "early": kind(method="PUT", data=b"x" * 100_000, parameters={"early": ""}),
    "h2": kind("h2"),
    "h2 early": kind("h2", method="PUT", data=b"x" * 100_000, parameters={"early": ""}),
    "h2 of much": kind("h2", parameters={"size": 300_000}, sink="taken"),
    # It leaves no connection behind: libcurl may use it for a request that prefers HTTP/2, if no connection with
    # HTTP/2 is there.
    "h2 not wanted": kind("h2", parameters={"close": "end"}, http_version=HTTPVersion.HTTP_1_1),
    "h2 head": kind("h2", method="HEAD"),
    "h2c": kind("h2c", method="POST", data=b"x", http_version=HTTPVersion.HTTP_2_PRIOR_KNOWLEDGE),
}


def looked_at(response: Response) -> object:
    """What does not depend on the time."""
    headers = [(name, value) for name, value in response.headers.items() if name.lower() not in ("date", "location")]
    return response.status, headers, hashlib.sha256(response.content).hexdigest()


def seen(request: dict[str, Any]) -> object:
    """What the server saw of a request, but for what is another one each time, and what it may not have seen yet."""
    headers = [(name, re.sub("boundary=.*", "", value)) for name, value in request["headers"] if name != ":path"]
    is_other = "early" in request["path"] or any("multipart" in value for _, value in headers)
    body = None if is_other else (request["body_length"], request["body_sha256"])
    return request["protocol"], request["method"], headers, body, request["answer"]


def exchange(server: FaultServer, client: Client, kind: Kind) -> object:
    """Sends such a request: its result, and what the server saw."""
    port, items, parameters, method, more = kind
    id = server.new_id()
    taken = bytearray()
    sink = {"sink": taken.extend} if "sink" in more else {}
    try:
        response = client.request(method, server.url(f"/seq/{items}", parameters, kind=port, id=id), **{**more, **sink})
        came: object = looked_at(response)
    except BoxRetryError as error:
        came = type(error)
    return came, hashlib.sha256(taken).hexdigest(), [seen(request) for request in server.seen(id, over=True)]


def new_client(server: FaultServer) -> Client:
    return Client(quick(max_attempts=2, max_retries_on_exception=0), ca_file=server.ca)


def each_after_each(names: Sequence[str]) -> Iterator[str]:
    """A row in which every name follows every name, itself too, somewhere: a walk over all edges (Hierholzer)."""
    left = {name: list(names) for name in names}
    path, row = [names[0]], []
    while path:
        if left[path[-1]]:
            path.append(left[path[-1]].pop())
        else:
            row.append(path.pop())
    return reversed(row)


def test_each_kind_of_request_after_each_other(server: FaultServer) -> None:
    expected = {}
    for name, each in KINDS.items():
        with new_client(server) as client:
            expected[name] = exchange(server, client, each)
    before = "nothing"
    with new_client(server) as client:
        for name in each_after_each(list(KINDS)):
            assert exchange(server, client, KINDS[name]) == expected[name], f"{name}, after {before}"
            before = name


def test_the_same_url_with_another_method_or_body(server: FaultServer) -> None:
    """What was kept of the request before is not used for one that differs in its method, its URL or its body."""
    id = server.new_id()
    url, other = server.url("/seq/200", id=id), server.url("/seq/200", {"size": 5}, id=id)
    rows: list[tuple[str, str, bytes | None]] = [
        ("GET", url, None),
        ("GET", url, None),
        ("HEAD", url, None),
        ("GET", url, None),
        ("GET", url, b"body"),
        ("POST", url, b"body"),
        ("POST", url, None),
        ("POST", url, b"other"),
        ("GET", url, None),
        ("GET", other, None),
        ("GET", url, None),
        ("DELETE", url, None),
    ]
    with new_client(server) as client:
        for method, place, data in rows:
            assert client.request(method, place, data=data).status == 200
    seen = server.seen(id, requests=len(rows))
    assert [(request["method"], "size" in request["path"], request["body_length"]) for request in seen] == [
        (method, place == other, len(data or b"")) for method, place, data in rows
    ]


# --- Any answer after another ---

#: It has headers, whose memory is let go of before the next answer comes.
FIRST = b"HTTP/1.1 200 OK\r\nX-First: " + b"a" * 50 + b"\r\nContent-Length: 0\r\n\r\n"

LENGTH = b"Content-Length: 4\r\n\r\nbody"
OK = b"HTTP/1.1 200 OK\r\n"
HINT = b"HTTP/1.1 103 Early Hints\r\n"

ANSWERS = {
    "headers": OK + LENGTH,
    "no headers": OK + b"\r\nbody",
    "no carriage returns": b"HTTP/1.1 200 OK\n\nbody",
    "no body": b"HTTP/1.1 204 No Content\r\n\r\n",
    "a long status line": b"HTTP/1.1 200 " + b"a" * 100_000 + b"\r\n" + LENGTH,
    "blanks in a long status line": b"HTTP/1.1 200 " + b" " * 100_000 + b"\r\n" + LENGTH,
    "a long header": OK + b"X: " + b" y" * 40_000 + b"\r\n" + LENGTH,
    "small letters": b"http/1.1 200 OK\r\n" + LENGTH,
    "another protocol": b"HTTP/1.1 101 Switching Protocols\r\n\r\nbody",
    "another protocol, with headers": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nbody",
    "hints": (HINT + b"\r\n") * 2 + OK + LENGTH,
    "many hints": (HINT + b"\r\n") * 1_000 + OK + b"\r\nbody",
    "hints with headers": HINT + b"Link: x\r\n y\r\n\r\n" + OK + LENGTH,
    "a header like a status": OK + b"HTTP/1.1: x\r\n" + LENGTH,
    "a header like a status, folded": OK + b"HTTP/1.1: x\r\n y\r\n" + LENGTH,
    "a header that begins with a carriage return": OK + b"\rX: y\r\n" + LENGTH,
    "trailers": OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nX: y\r\n z\r\n\r\n",
    "trailers that begin folded": OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n x\r\nX: y\r\n\r\n",
    "folded": OK + b"X: y\r\n z\r\n" + LENGTH,
    "begins folded": OK + b" x: y\r\n" + LENGTH,
    "begins with a tab": OK + b"\tx: y\r\n" + LENGTH,
    "begins folded, and is long": OK + b" x" * 40_000 + b"\r\n" + LENGTH,
    "begins folded after hints": HINT + b"\r\n" + OK + b" x: y\r\n" + LENGTH,
    "hints begin folded": HINT + b" x: y\r\n\r\n" + OK + LENGTH,
    "begins folded after a long status line": b"HTTP/1.1 200 " + b"a" * 20_000 + b"\r\n x: y\r\n" + LENGTH,
    "begins folded after small letters": b"http/1.1 200 OK\r\n x: y\r\n" + LENGTH,
    "no status line": b"hello\r\n\r\nbody",
    "a NUL": OK + b"X: a\0b\r\n" + LENGTH,
    "no end of the head": OK + b"X: y\r\n",
}


class Answering(Accepting):
    """Gives each request of a connection the next of the answers, and closes after the last one."""

    def __init__(self, *answers: bytes) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        super().__init__(listener)
        self._answers = answers
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}/"

    def take(self, connection: socket.socket) -> None:
        with closing(connection):
            for answer in self._answers:
                head = b""
                while b"\r\n\r\n" not in head and (received := connection.recv(65536)):
                    head += received
                connection.sendall(answer)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass


def answered(client: Client, url: str) -> object:
    try:
        return looked_at(client.get(url))
    except BoxRetryError as error:
        return type(error)


@pytest.mark.parametrize("answer", ANSWERS)
def test_each_answer_after_another_one(answer: str) -> None:
    with Answering(ANSWERS[answer]) as server, Client(once()) as client:
        expected = answered(client, server.url)
    with Answering(FIRST, ANSWERS[answer]) as server, Client(once()) as client:
        assert client.get(server.url).status == 200
        assert answered(client, server.url) == expected
