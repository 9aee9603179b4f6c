"""What a server says while no request is under way: W3."""

from __future__ import annotations

import os
import ssl
import threading

import pytest
from boxretry import Client, RetryStrategy
from calls import PATIENCE, recorded
from faults import certificates
from keeping_server import Exchange, KeepingServer

#: What the server writes behind its answer, once the client has the answer; and whether it closes then.
UNASKED: dict[str, tuple[bytes, bool]] = {
    "a whole 200": (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nnot yours", False),
    "a 408 and the end": (b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", True),
    "an empty line": (b"\r\n", False),
    "64 random bytes": (os.urandom(64), False),
    "the end": (b"", True),
}
#: Ways to end the first answer: libcurl reads each of them in another way.
FRAMINGS: dict[str, bytes] = {
    "length": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "none": b"HTTP/1.1 204 No Content\r\n\r\n",
}


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, str]:
    """What a server speaks TLS with, and the path of the certificate that clients are to trust."""
    contexts, files = certificates.make(tmp_path_factory.mktemp("certificates"))
    return contexts["https"], files["ca"]


class Talkative:
    """Answers requests with their path; the first one in another way. Then, when the client has that answer, it writes
    something that was not requested."""

    def __init__(self, framing: bytes, unasked: bytes, closes: bool) -> None:
        self._framing = framing
        self._unasked = unasked
        self._closes = closes
        self._is_first = True
        self.received = threading.Event()
        self.has_written = threading.Event()

    def __call__(self, exchange: Exchange) -> bool:
        if not self._is_first:
            path = exchange.seen.path.encode()
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(path), path))
            return True
        self._is_first = False
        head, end, body = self._framing.partition(b"\r\n\r\n")
        exchange.send(head + end)
        exchange.send(body)
        assert self.received.wait(PATIENCE)
        exchange.send(self._unasked)
        if self._closes:
            exchange.end()
        exchange.wait_until_delivered(ended=self._closes)
        self.has_written.set()
        return True


def careful() -> RetryStrategy:
    return RetryStrategy(max_attempts=0, max_retries_on_exception=0, retry_unsafe_methods=False)


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("unasked", UNASKED)
def test_f83_bytes_on_an_idle_connection_answer_nothing(
    tls: tuple[ssl.SSLContext, str], unasked: str, method: str, framing: str, scheme: str
) -> None:
    """F83, W3. Given an idle connection on which the server writes, when the next request is made, then it goes over
    another connection and gets its own answer; the server sees it once, and nothing is counted."""
    context, ca = tls
    server_says = Talkative(FRAMINGS[framing], *UNASKED[unasked])
    with (
        KeepingServer(server_says, context if scheme == "https" else None) as server,
        Client(careful(), ca_file=ca) as client,
    ):
        client.get(server.url + "/first")
        server_says.received.set()
        assert server_says.has_written.wait(PATIENCE)
        response = client.request(method, server.url + "/second", data=b"body" if method == "POST" else None)
        assert (response.status, response.content) == (200, b"/second")
        assert recorded(response.attempts) == len(response.attempts) == 1
        stats = client.stats()
        assert (stats.attempts, stats.reconnects) == (2, 0)
        first, second = server.seen
        assert second.connection != first.connection
        assert second.body == (b"body" if method == "POST" else b"")


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_w3_bytes_right_behind_an_answer_answer_nothing(
    tls: tuple[ssl.SSLContext, str], framing: str, scheme: str
) -> None:
    """F83, W3. Given a whole second answer together with the body of the first, over TLS in one record, of which
    libcurl reads no more than the body, then the next requests get their own answers."""
    context, ca = tls
    server_says = Talkative(FRAMINGS[framing] + UNASKED["a whole 200"][0], b"", False)
    server_says.received.set()
    with (
        KeepingServer(server_says, context if scheme == "https" else None) as server,
        Client(careful(), ca_file=ca) as client,
    ):
        client.get(server.url + "/first")
        for path in (b"/second", b"/third"):
            assert client.get(server.url + path.decode()).content == path
        assert client.stats().attempts == len(server.seen) == 3


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_w3_a_quiet_connection_is_used_again(tls: tuple[ssl.SSLContext, str], scheme: str) -> None:
    """W3. Given a server that writes only its answers, then all requests share one connection."""
    context, ca = tls
    server_says = Talkative(FRAMINGS["length"], b"", False)
    server_says.received.set()
    with (
        KeepingServer(server_says, context if scheme == "https" else None) as server,
        Client(careful(), ca_file=ca) as client,
    ):
        for number in range(20):
            client.post(f"{server.url}/{number}", data=b"x")
        assert {each.connection for each in server.seen} == {0}
