"""W8, F91: a process ends with the status that it asked for, in any state of the library."""

from __future__ import annotations

import collections
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from c_programs import build
from fault_server import FaultServer
from programs import PREFIX, start

STATUS = 42
KINDS = {
    "closed": "calls that were waited for; the client is closed and freed",
    "freed": "the client is freed, but not closed",
    "left": "nothing is freed",
    "under_way": "calls are connecting, or wait for an answer",
    "closed_late": "the same, and a destructor of the program closes the client",
    "waited": "such a call was waited for, in vain; the process ends a moment later",
    "under_way_freed": "such calls are freed, with their client",
    "performing": "threads of the program are inside perform",
    "thread_ends": "such a thread ends at the same moment",
    "joined": "an exit handler of the program's waits for such threads",
    "in_completion": "exit() in a completion callback, on the library's thread",
    "in_sink": "exit() in a sink's callback, inside libcurl",
    "token": "a token endpoint was asked",
    "forked": "a child exits, and then its parent",
    "at_once": "_exit()",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("exits", tmp_path_factory.mktemp("exits"), "-lcrypto", "-ldl")


@pytest.fixture
def times(request: pytest.FixtureRequest) -> int:
    return 1_000 if request.config.getoption("--long") else 10


def run_often(times: int, *command: object, **environment: str) -> dict[tuple[int, bytes], int]:
    """How often a program ended with which status, and what it said on stderr."""

    def run(_: int) -> tuple[int, bytes]:
        result = subprocess.run(
            list(map(str, command)), capture_output=True, timeout=120, env={**os.environ, **environment}
        )
        return result.returncode, result.stderr

    with ThreadPoolExecutor(3) as pool:
        return dict(collections.Counter(pool.map(run, range(times))))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_f91_exit_status(server: FaultServer, program: Path, times: int, kind: str) -> None:
    """W8, F91. The kinds are those of exits.c."""
    url = server.url("/seq/200", kind="https", id=server.new_id(), size=100, cycle="", quiet="")
    assert run_often(times, program, kind, url, server.ca) == {(STATUS, b""): times}


def test_f91_calls_that_another_thread_leaves_at_exit_end_without_libcurl(server: FaultServer, program: Path) -> None:
    """W8, F91. Given a thread that drives the loop until exit() has begun, and freed memory is overwritten."""
    url = server.url("/seq/200", kind="https", id=server.new_id(), size=100, cycle="", quiet="")
    assert run_often(5, program, "handed_over", url, server.ca, MALLOC_PERTURB_="165") == {(STATUS, b""): 5}


def test_f91_no_thread_is_inside_openssl_after_close(server: FaultServer, program: Path, times: int) -> None:
    """W8, F91. Given a close that returned OK, then the program may call OPENSSL_cleanup(), and ends by _exit()."""
    url = server.url("/seq/200", kind="https", id=server.new_id(), size=100, cycle="", quiet="")
    times *= 5
    assert run_often(times, program, "closed_before_cleanup", url, server.ca) == {(STATUS, b""): times}


def test_exit_waits_for_no_callback_longer_than_two_seconds(server: FaultServer, program: Path) -> None:
    """W8. Given a callback that takes longer, which never gets back into libcurl."""
    url = server.url("/seq/200", kind="https", id=server.new_id(), size=100, quiet="")
    assert run_often(3, program, "slow_callback", url, server.ca) == {(STATUS, b""): 3}


def test_f91_tool_with_a_token_endpoint(server: FaultServer, times: int) -> None:
    """W8, F91. `boxretry fetch --token-url https://…`: its two engines are at their end when main returns."""
    token = server.url("/token", kind="https", id=server.new_id(), quiet="")
    api = server.url("/seq/200", kind="https", id=server.new_id(), quiet="", body="x")
    command = [PREFIX / "bin" / "boxretry", "fetch", "--cacert", server.ca, "--token-url", token]
    form = ["--token-form", "grant_type=client_credentials", "--token-form", "client_id=me"]
    assert run_often(times, *command, *form, api) == {(0, b""): times}


PYTHON = {
    "threads": "for _ in range(3): threading.Thread(target=get, daemon=True).start()",
    "calls": "calls = [client.submit('GET', url) for _ in range(4)]",
    "lost clients": "for _ in range(4): Client(once, ca_file=ca).submit('GET', url)",
    "a token source": "threading.Thread(target=get_token, daemon=True).start()",
    "asyncio": """
    import asyncio
    from boxretry.aio import AsyncClient
    async def main():
        client = AsyncClient(once, ca_file=ca)
        for _ in range(4): asyncio.create_task(client.get(url))
        await asyncio.sleep(0.002)
        sys.exit(42)
    try:
        asyncio.run(main())
    except BoxRetryError: pass
    """,
}


@pytest.mark.parametrize("item", ["200", "stall"])
@pytest.mark.parametrize("way", PYTHON)
def test_f91_python_ends_with_calls_under_way(
    server: FaultServer, request: pytest.FixtureRequest, way: str, item: str
) -> None:
    """W8, F91. Daemon threads, calls without a waiter, clients that were collected, asyncio."""
    program = f"""
    import random
    ca, url = sys.argv[1:]
    client = Client(once, ca_file=ca)
    def get():
        try:
            while True: client.get(url)
        except (BoxRetryError, CancelledError): pass
    source = OAuth2Token(url, ca_file=ca)
    def get_token():
        try: source.get()
        except (BoxRetryError, CancelledError): pass
    {PYTHON[way]}
    time.sleep(random.random() / 100)
    sys.exit({STATUS})
    """
    times = 100 if request.config.getoption("--long") else 2
    url = server.url(f"/seq/{item}", kind="https", id=server.new_id(), cycle="", quiet="")
    for _ in range(times):
        process = start(program, server.ca, url)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (STATUS, "")
