"""W9, F99: a child of fork() has no lock that a thread of its parent holds."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from c_programs import build
from fault_server import FaultServer


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("forks", tmp_path_factory.mktemp("forks"))


@pytest.fixture
def times(request: pytest.FixtureRequest) -> int:
    return 1_000 if request.config.getoption("--long") else 40


def outcome(*command: object) -> tuple[int, str, str]:
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=1800)
    return result.returncode, result.stdout, result.stderr


@pytest.mark.parametrize("sends", [False, True])
def test_f99_fork_in_the_first_client_new(server: FaultServer, program: Path, times: int, sends: bool) -> None:
    """W9, F99. Given a thread in the first boxretry_client_new(), then the child's returns, and its client works."""
    url = server.url("/seq/200", id=server.new_id(), cycle="", quiet="") if sends else ""
    assert outcome(program, "first_client", times, url, "") == (0, f"{times} rounds, 0 failed\n", "")


def test_fork_while_others_are_in_a_handshake(server: FaultServer, program: Path, times: int) -> None:
    """W9. Given threads that are always inside libcurl and its TLS library, then a child's client works over TLS."""
    url = server.url("/seq/200", kind="https", id=server.new_id(), cycle="", quiet="")
    times //= 4
    assert outcome(program, "busy", times, url, server.ca) == (0, f"{times} rounds, 0 failed\n", "")


@pytest.mark.parametrize("kind", ["told", "by_itself"])
def test_fork_while_a_call_waits_on_a_manual_clock(server: FaultServer, tmp_path: Path, kind: str) -> None:
    """W9. The child cannot use its parent's clock and client, but its own; the parent's call continues."""
    urls = [server.url("/seq/503,200", {"503.h": "Retry-After:3600"}, id=server.new_id()) for _ in range(2)]
    command = (build("fork_clocks", tmp_path), kind, *urls)
    assert outcome(*command) == (0, "child: 200, 3600 s\nparent: 200, 3600 s\n", "")
