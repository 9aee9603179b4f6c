"""API clients against a server of this machine: what they get and what they send is the same with our adapters."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_server import ApiServer
from environments import environment, variables

HERE = Path(__file__).parent
PROGRAMS = [
    *("openai", "anthropic", "huggingface_hub", "twine"),
    *("google_auth", "authlib", "requests_oauthlib", "tuspy"),
]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    with ApiServer() as server:
        yield server


def run(program: str, whose: str, server: ApiServer) -> tuple[Any, list[dict[str, Any]]]:
    server.reset()
    ended = subprocess.run(
        [environment("clients"), HERE / "client_programs.py", program, whose, server.url],
        env={**variables(HERE / "mounted"), "PYTHONHASHSEED": "0"},  # twine sends its fields in the order of a set
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1]), server.received


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_client_does_the_same_with_ours(program: str, server: ApiServer) -> None:
    plain = run(program, "plain", server)
    ours = run(program, "ours", server)
    assert plain[1], "no request has come"
    (got, sent_by_us), (got_by_ours, sent) = plain[0], ours[0]
    assert sent_by_us == 0
    assert sent == len(ours[1]), "requests went past the adapter"
    assert got_by_ours == got
    assert ours[1] == plain[1]
