"""What requests and HTTPX send, return and raise by themselves and with our adapters, compared.

Each behavior is a request and an answer. The server keeps the bytes that it receives. The order of header lines may
differ, and the text of an exception.
"""

from __future__ import annotations

import gzip
import io
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import httpx
import pytest
import requests
import urllib3
from boxretry import RetryStrategy, libcurl_version
from boxretry.integrations.httpx import RetryTransport
from boxretry.integrations.requests import RetryAdapter
from recording import Answer, Received, RecordingServer, ok, raw

ONCE: dict[str, Any] = {"max_attempts": 1, "max_retries_on_exception": 0}

#: A body and headers, as both packages take them. Each request gets new ones.
BODIES: dict[str, Callable[[], dict[str, Any]]] = {
    "none": dict,
    "form": lambda: {"data": {"a": "1", "b": "ü &"}},
    "json": lambda: {"json": {"a": ["ü", None, 1.5]}},
    "files": lambda: {"files": {"f": ("ü.bin", io.BytesIO(b"x" * 70_000), "text/plain")}, "data": {"k": "v"}},
    "params": lambda: {"params": {"q": "a b+c", "r": ["1", "2"]}},
    "own length": lambda: {"headers": {"Content-Length": "0"}},
    "own host": lambda: {"headers": {"Host": "other.example"}},
    "own type": lambda: {"data": {"a": "1"}, "headers": {"Content-Type": "text/x"}},
    "empty header": lambda: {"headers": {"X-Empty": ""}},
    "header bytes": lambda: {"headers": {"X-Bytes": b"\xc3\xbc\xff"}},
    "cookies": lambda: {"headers": {"Cookie": "a=b; c=d"}},
    "auth": lambda: {"auth": ("us:er", "pä ss")},
}
RAW_BODIES: dict[str, Callable[[], Any]] = {
    "text": lambda: "grün",
    "bytes": lambda: b"\x00\xff" * 1000,
    "no bytes": lambda: b"",
    "file": lambda: io.BytesIO(b"abc" * 1000),
    "iterator": lambda: iter([b"a", b"b" * 70_000]),
    "empty iterator": lambda: iter([]),
    "large": lambda: b"z" * 2_000_000,
}
WITH_BODY = {"form", "json", "files", "own length", "own type", *(RAW_BODIES.keys() - {"no bytes"})}
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "get", "PROPFIND"]

#: Paths, as they are in the URL.
PATHS = [
    *("/", "", "?q=1", "/a%20b", "/a b", "/ü?ü=ü", "/a/../b/./c", "/%7e~%zz", "/x#fragment", "//double", "/a;b=c"),
    *("/?a=b&a=c", "/|^`", "/[x]", "/a%2Fb", "/'(!*)"),
]

ANSWERS: dict[str, Answer] = {
    "plain": ok(),
    "empty": ok(b""),
    "no content": raw(b"HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n", closes=False),
    "own reason": ok(status=b"200 All Right"),
    "no reason": ok(status=b"200"),
    "latin reason": ok(status=b"200 Gr\xfcn"),
    "http 1.0": raw(b"HTTP/1.0 200 OK\r\n\r\nuntil the end"),
    "chunked": raw(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", closes=False
    ),
    "trailers": raw(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-T: v\r\n\r\n", closes=False
    ),
    "gzip": ok(gzip.compress(b"abc" * 1000), b"Content-Encoding: gzip"),
    "no gzip": ok(b"abc", b"Content-Encoding: gzip"),
    "repeated": ok(b"x", b"X-A: 1", b"X-A: 2", b"Set-Cookie: a=1", b"Set-Cookie: b=2; Path=/"),
    "utf-8 header": ok(b"x", b"X-A: gr\xc3\xbcn"),
    "latin-1 header": ok(b"x", b"X-A: gr\xfcn"),
    "charset": ok("grün".encode("latin-1"), b"Content-Type: text/plain; charset=latin-1"),
    "json": ok(b'{"a": 1}', b"Content-Type: application/json"),
    "404": ok(b"not here", status=b"404 Not Found"),
    "401": ok(b"", b'WWW-Authenticate: Basic realm="x"', status=b"401 Unauthorized"),
    "500": ok(b"broken", status=b"500 Internal Server Error"),
    "503 later": ok(b"", b"Retry-After: 1", status=b"503 Service Unavailable"),
    "early hint": raw(b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" + ok().data, closes=False),
    "301": ok(b"", b"Location: /next", status=b"301 Moved Permanently"),
    "302 relative": ok(b"", b"Location: next?x#y", status=b"302 Found"),
    "302 utf-8": ok(b"", b"Location: /\xc3\xbc", status=b"302 Found"),
    "303": ok(b"", b"Location: /next", b"Set-Cookie: hop=1", status=b"303 See Other"),
    "307": ok(b"", b"Location: /next", status=b"307 Temporary Redirect"),
    "304": raw(b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n', closes=False),
    "short": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
    "short chunk": raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"),
    "bad chunk": raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n"),
    "two lengths": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
    "no answer": raw(b""),
    "reset": raw(b"", resets=True),
    "no http": raw(b"SSH-2.0-x\r\n"),
    "half a head": raw(b"HTTP/1.1 200 OK\r\nX-A: b\r\n"),
}
#: Without a body there is nothing to break off; and whether the end of a connection is seen in time is a race.
GOT = [
    (answer, method)
    for answer, method in itertools.product(ANSWERS, ["GET", "POST", "HEAD"])
    if method != "HEAD" or not ANSWERS[answer].closes
]
#: Then the connection is used again, or another one is made.
AFTER = ok(b"after")


def without_boundary(received: Received) -> Received:
    """The boundary of a form is random."""
    kind = b"".join(received.values(b"content-type"))
    boundary = kind.partition(b"boundary=")[2]
    if not boundary:
        return received
    headers = [(name, value.replace(boundary, b"BOUNDARY")) for name, value in received.headers]
    return Received(received.line, headers, received.body.replace(boundary, b"BOUNDARY"))


def observed(exchange: Callable[[str], dict[str, Any]], answer: Answer) -> dict[str, Any]:
    """All that one side does: what it says, and what the server has seen of it."""
    with RecordingServer([answer, AFTER]) as server:
        try:
            said = exchange(server.url)
        except Exception as error:
            said = {"raises": [each.__name__ for each in type(error).__mro__]}
        port = str(server.port).encode()
        seen = [
            (each.line, sorted((name, value.replace(port, b"PORT")) for name, value in each.headers), each.body)
            for each in map(without_boundary, server.received)
        ]
        shown = {
            name: value.replace(str(server.port), "PORT") if isinstance(value, str) else value
            for name, value in said.items()
        }
        return {**shown, "seen": seen, "connections": server.connections}


# ----- requests


def with_requests(is_ours: bool, method: str, path: str, stream: bool, **arguments: Any) -> Callable[[str], Any]:
    def exchange(url: str) -> dict[str, Any]:
        with requests.Session() as session:
            session.trust_env = False
            if is_ours:
                session.mount("http://", RetryAdapter(RetryStrategy(**ONCE)))
            response = session.request(method, url + path, stream=stream, timeout=30, **arguments)
            content = b"".join(response.iter_content(1000)) if stream else response.content
            after = session.get(url + "/after").content
            return {
                **{"status": response.status_code, "reason": response.reason, "url": response.url},
                **{"headers": list(response.raw.headers.items()), "cookies": sorted(session.cookies.items())},
                **{"content": content, "encoding": response.encoding, "version": response.raw.version},
                **{"history": [each.status_code for each in response.history], "after": after},
                **{"raw": (response.raw.status, response.raw.reason), "ok": response.ok, "links": response.links},
            }

    return exchange


#: Why something is not the same.
EARLY_HINTS = "http.client takes 103 for the response; the engine waits for the one that follows"
HALF_A_HEAD = "http.client takes a head that breaks off for a whole one (W4)"
BAD_CHUNK = "libcurl reports a chunk that is malformed as it reports a failure to read from the connection"
CAPITAL_HEX = "libcurl 8.20 and newer sends percent-encoded bytes of a path in upper case: %7e as %7E"
HEAD_WITH_BODY = "after a HEAD with a body the connection is not used again: libcurl would wait for a body"


def differs(request: pytest.FixtureRequest, reason: str) -> None:
    request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


def check_requests(method: str, path: str, answer: Answer, make: Callable[[], dict[str, Any]], stream: bool) -> None:
    plain = observed(with_requests(False, method, path, stream, **make()), answer)
    ours = observed(with_requests(True, method, path, stream, **make()), answer)
    assert ours == plain


TIMEOUTS = [0, -1, True, "1", (1,), (1, 2, 3), (0, 1), (1, 0), urllib3.Timeout(total=9), urllib3.Timeout(3, 4), 5, None]


@pytest.mark.parametrize("timeout", TIMEOUTS, ids=repr)
def test_requests_takes_the_same_timeouts(timeout: Any) -> None:
    def exchange(is_ours: bool) -> Callable[[str], Any]:
        def get(url: str) -> dict[str, Any]:
            with requests.Session() as session:
                session.trust_env = False
                if is_ours:
                    session.mount("http://", RetryAdapter(RetryStrategy(**ONCE)))
                return {"status": session.get(url, timeout=timeout).status_code}

        return get

    assert observed(exchange(True), ok()) == observed(exchange(False), ok())


@pytest.mark.parametrize("removed", ["Accept", "User-Agent", "Accept-Encoding", "Connection"])
def test_requests_leaves_out_the_same_headers(removed: str) -> None:
    check_requests("GET", "/", ok(), lambda: {"headers": {removed: None}}, False)


# ----- HTTPX


def with_httpx(is_ours: bool, method: str, path: str, stream: bool, **arguments: Any) -> Callable[[str], Any]:
    def exchange(url: str) -> dict[str, Any]:
        transport = RetryTransport(RetryStrategy(**ONCE)) if is_ours else None
        with httpx.Client(transport=transport, trust_env=False, follow_redirects=True, timeout=30) as client:
            request = client.build_request(method, url + path, **arguments)
            response = client.send(request, stream=stream)
            content = b"".join(response.iter_bytes()) if stream else response.content
            response.close()
            after = client.get(url + "/after").content
            return {
                **{"status": response.status_code, "reason": response.reason_phrase, "url": str(response.url)},
                **{"headers": response.headers.raw, "cookies": sorted(client.cookies.items())},
                **{"content": content, "encoding": response.encoding, "version": response.http_version},
                **{"history": [each.status_code for each in response.history], "after": after},
                **{"extensions": sorted(response.extensions), "links": response.links},
            }

    return exchange


def check_httpx(method: str, path: str, answer: Answer, make: Callable[[], dict[str, Any]], stream: bool) -> None:
    plain = observed(with_httpx(False, method, path, stream, **make()), answer)
    ours = observed(with_httpx(True, method, path, stream, **make()), answer)
    for side in (plain, ours):  # HTTPX writes Content-Length with any case, and its transports with their own.
        side["headers"] = [(name.lower(), value) for name, value in side.get("headers", [])]
    assert ours == plain


# ----- Both


class Package(NamedTuple):
    """What is compared, and what differs."""

    check: Callable[[str, str, Answer, Callable[[], dict[str, Any]], bool], None]
    #: Makes the arguments of one request.
    bodies: dict[str, Callable[[], dict[str, Any]]]
    #: Answers that it takes differently, and why.
    different: dict[str, str]


def argument(name: str, make: Callable[[], Any]) -> Callable[[], dict[str, Any]]:
    return lambda: {name: make()}


PACKAGES = {
    "requests": Package(
        check_requests,
        {**BODIES, **{name: argument("data", make) for name, make in RAW_BODIES.items()}},
        {"early hint": EARLY_HINTS, "half a head": HALF_A_HEAD},
    ),
    "httpx": Package(
        check_httpx,
        {
            **{name: make for name, make in BODIES.items() if name != "auth"},
            **{name: argument("content", make) for name, make in RAW_BODIES.items()},
        },
        {"bad chunk": BAD_CHUNK},
    ),
}
SENT = [(name, method, body) for name in PACKAGES for method in METHODS for body in PACKAGES[name].bodies]


@pytest.mark.long
@pytest.mark.parametrize(("package", "method", "body"), SENT)
def test_the_server_sees_the_same(package: str, method: str, body: str, request: pytest.FixtureRequest) -> None:
    if method == "HEAD" and body in WITH_BODY:
        differs(request, HEAD_WITH_BODY)
    check, bodies, _ = PACKAGES[package]
    check(method, "/x", ok(), bodies[body], False)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("package", PACKAGES)
def test_the_server_sees_the_same_path(package: str, path: str, request: pytest.FixtureRequest) -> None:
    # requests writes %257e, since %zz is not an encoded byte.
    if "%7e" in path and package != "requests" and tuple(map(int, libcurl_version().split("."))) >= (8, 20):
        differs(request, CAPITAL_HEX)
    PACKAGES[package].check("GET", path, ok(), dict, False)


@pytest.mark.long
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("answer", "method"), GOT)
@pytest.mark.parametrize("package", PACKAGES)
def test_the_caller_gets_the_same(
    package: str, answer: str, method: str, stream: bool, request: pytest.FixtureRequest
) -> None:
    check, _, different = PACKAGES[package]
    if answer in different:
        differs(request, different[answer])
    check(method, "/x", ANSWERS[answer], dict, stream)


@pytest.mark.parametrize("target", [b"/a/../b?x", b"/%zz", b"//x"])
def test_httpx_sends_the_same_target(target: bytes) -> None:
    check_httpx("GET", "/", ok(), lambda: {"extensions": {"target": target}}, False)
