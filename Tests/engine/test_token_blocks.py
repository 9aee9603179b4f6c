"""T1: of a token that was sent, no block that the library allocated holds it when it is given back.

That of one which was never sent nothing is left in the whole process: Tests/c/token_memory.c.
"""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

import pytest
from fault_server import FaultServer
from programs import run

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
    library = tmp_path_factory.mktemp("blocks") / "freed_blocks.so"
    source = Path(__file__).with_name("freed_blocks.c")
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", source, "-o", library], check=True)
    return str(library)


def blocks_with_secret(program: str, freed_blocks: str, secret: str, *arguments: object) -> int:
    """Runs a program that reports, and in which something happens at all."""
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


def test_the_search_finds_what_is_no_token(server: FaultServer, freed_blocks: str) -> None:
    """Else the other tests would show nothing: a header of the caller's is not overwritten."""
    program = """
    with Client(quick) as client:
        assert client.submit("GET", sys.argv[1], headers={"X-Plain": secret}).response().status == 200
    del client
    report()
    """
    url = server.url("/seq/200", id=server.new_id())
    assert blocks_with_secret(program, freed_blocks, SECRET, url) > 0
