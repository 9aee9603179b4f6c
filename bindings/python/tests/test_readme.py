"""The programs in README.md."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from paths import PACKAGE

from boxretry import Client


class Response(NamedTuple):
    status: int
    headers: dict[str, str]


PROGRAMS = re.findall(r"^```python\n(.*?)^```$", (PACKAGE / "README.md").read_text(), re.DOTALL | re.MULTILINE)


def test_the_program_with_a_transport_of_its_own_runs() -> None:
    names: dict[str, Any] = {}
    exec(PROGRAMS[0], names)

    responses = iter([Response(503, {"retry-after": "0"}), Response(429, {"Retry-After": "0"}), Response(200, {})])
    assert names["get"](lambda: next(responses)).status == 200
    assert names["get"](lambda: Response(404, {})).status == 404


def test_the_program_that_lets_the_library_send_runs(server: Any) -> None:
    names: dict[str, Any] = {"url": server.url("/echo", id=server.new_id())}
    exec(PROGRAMS[1], names)
    assert names["response"].status == 200
    assert names["data"]["method"] == "GET"


def test_the_program_with_large_bodies_runs(server: Any, tmp_path: Path) -> None:
    id, path = server.new_id(), tmp_path / "file"
    path.write_bytes(b"up")
    exec(PROGRAMS[2], {"Client": Client, "url": server.url("/seq/200", id=id, body="down"), "path": path})
    assert path.read_bytes() == b"down"
    put, get, streamed = server.seen(id)
    assert (put["method"], put["body_start"], get["method"], streamed["method"]) == ("PUT", "up", "GET", "GET")


def test_the_program_for_asyncio_runs(server: Any) -> None:
    names: dict[str, Any] = {"url": server.url("/echo", id=server.new_id())}
    exec(PROGRAMS[3], names)
    assert asyncio.run(names["main"]()).status == 200


def test_the_program_with_other_packages_runs() -> None:
    for package in ("requests", "httpx", "box_sdk_gen"):
        pytest.importorskip(package)
    names: dict[str, Any] = {}
    exec(PROGRAMS[4], names)
    assert isinstance(names["session"].get_adapter("https://example.com"), names["RetryAdapter"])
    names["client"].close()
