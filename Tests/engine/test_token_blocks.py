"""T1: of a token that was sent, no block that the library allocated holds it when it is given back.

That of one which was never sent nothing is left in the whole process: Tests/c/token_memory.c.
"""

from __future__ import annotations

import json
import socket
import struct
import textwrap

import pytest
from fault_server import FaultServer
from programs import preloaded, run
from raw_server import Accepting

SECRET = "of-a-token-that-nobody-else-has-0123456789"

REPORT = """
import ctypes, gc
def report():
    gc.collect()
    blocks = ctypes.CDLL(None)
    blocks.blocks_freed.restype = blocks.blocks_with_secret.restype = ctypes.c_long
    print(blocks.blocks_freed() > 10, blocks.blocks_with_secret())
secret, quick = os.environ["SECRET"], RetryStrategy(retry_base_interval=0.001)
"""


@pytest.fixture(scope="module")
def freed_blocks(tmp_path_factory: pytest.TempPathFactory) -> str:
    return preloaded("freed_blocks.c", tmp_path_factory.mktemp("blocks"))


def blocks_with_secret(program: str, freed_blocks: str, secret: str, *arguments: object) -> int:
    """Runs a program that reports, and that does something."""
    output = run(REPORT + textwrap.dedent(program), *arguments, LD_PRELOAD=freed_blocks, SECRET=secret)
    happens, count = output.split()
    assert happens == "True"
    return int(count)


def test_t1_a_provider_s_token_that_was_sent(server: FaultServer, freed_blocks: str) -> None:
    """Given one that was sent in a retry, to a redirect and from a thread of the library's."""
    program = """
    with TokenSource(lambda: (secret, 3600)) as source, Client(quick, token_source=source) as client:
        for url in sys.argv[1:]:
            assert client.get(url).status == 200
        assert client.submit("GET", sys.argv[1]).response().status == 200
    del source, client
    report()
    """
    retried, redirected = server.new_id(), server.new_id()
    urls = [server.url("/seq/503,200", id=retried), server.url("/redirect/1", id=redirected)]
    assert blocks_with_secret(program, freed_blocks, SECRET, *urls) == 0
    sent = [dict(request["headers"])["Authorization"] for id in (retried, redirected) for request in server.seen(id)]
    assert sent == [f"Bearer {SECRET}"] * 5


def test_t1_an_endpoint_s_token_that_was_sent(server: FaultServer, freed_blocks: str) -> None:
    """The answer of the endpoint, in which it came, is overwritten as well."""
    program = """
    with OAuth2Token(sys.argv[1], proxy=Proxy.NONE) as source, Client(quick, token_source=source) as client:
        assert client.get(sys.argv[2]).status == 200
    del source, client
    report()
    """
    urls = [server.url("/token", id=server.new_id()), server.url("/seq/200", id=server.new_id())]
    assert blocks_with_secret(program, freed_blocks, "token-1", *urls) == 0


class BreakingEndpoint(Accepting):
    """An endpoint whose answers have a token, and then break off, or stall."""

    def __init__(self, status: int, size: int, ending: str) -> None:
        super().__init__(socket.create_server(("127.0.0.1", 0)))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/"
        self._status, self._size, self._ending = status, size, ending
        self._stalled: list[socket.socket] = []

    def take(self, connection: socket.socket) -> None:
        while b"\r\n\r\n" not in connection.recv(65536):
            pass
        body = json.dumps({"access_token": SECRET, "expires_in": 3600}).encode() + b" " * self._size
        connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (self._status, len(body) + 100) + body)
        if self._ending == "stall":
            return self._stalled.append(connection)
        if self._ending == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()


@pytest.mark.parametrize("size", [0, 40_000, 70_000])
@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("ending", ["close", "stall", "reset"])
def test_f101_an_answer_that_breaks_off_after_the_token(freed_blocks: str, ending: str, status: int, size: int) -> None:
    """T1. Given an endpoint whose answer breaks off or stalls after the token, no freed block has the token in it.

    Nor if the buffer has grown, or the answer is longer than what is read.
    """
    program = """
    policy = TokenRetryPolicy(maximum_attempts=1)
    with OAuth2Token(sys.argv[1], proxy=Proxy.NONE, policy=policy, provider_timeout=1) as source:
        try:
            source.get()
            print("got")
        except ClientTokenProviderFailedError:
            pass
    del source
    report()
    """
    with BreakingEndpoint(status, size, ending) as endpoint:
        assert blocks_with_secret(program, freed_blocks, SECRET, endpoint.url) == 0


def test_the_search_finds_text_that_is_not_a_token(server: FaultServer, freed_blocks: str) -> None:
    """Else the other tests would show nothing: a header of the caller's is not overwritten."""
    program = """
    with Client(quick) as client:
        assert client.submit("GET", sys.argv[1], headers={"X-Plain": secret}).response().status == 200
    del client
    report()
    """
    url = server.url("/seq/200", id=server.new_id())
    assert blocks_with_secret(program, freed_blocks, SECRET, url) > 0
