"""However a client's request has ended, its next one is as good as its first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from boxretry import BoxRetryError, Client, Response, Timeout
from calls import once
from fault_server import FaultServer

Send = Callable[..., Response]


def failing_url(server: FaultServer, failure: str) -> str:
    id = server.new_id()
    return {
        "no such host": "http://nothing.invalid/",
        "redirect to no such host": server.url("/seq/302", h="Location:http://nothing.invalid/", id=id),
        "refused": f"http://127.0.0.1:{server.ports['refused']}/",
        "wrong certificate": server.url("/seq/200", kind="https", id=id),
        "reset": server.url("/seq/reset", id=id),
        "garbage": server.url("/seq/garbage", id=id),
        "cut off": server.url("/seq/200", {"close": "body", "size": 100_000}, id=id),
        "silence": server.url("/seq/stall", id=id),
    }[failure]


FAILURES = [
    "no such host",
    "redirect to no such host",
    "refused",
    "wrong certificate",
    "reset",
    "garbage",
    "cut off",
    "silence",
]


def get(client: Client, url: str, folder: Path, **arguments: Any) -> Response:
    return client.get(url, **arguments)


def get_to_a_file(client: Client, url: str, folder: Path, **arguments: Any) -> Response:
    return client.get(url, to_file=folder / "to", **arguments)


def get_compressed(client: Client, url: str, folder: Path, **arguments: Any) -> Response:
    return client.get(url, compression=True, **arguments)


def post_bytes(client: Client, url: str, folder: Path, **arguments: Any) -> Response:
    return client.post(url, data=b"x" * 100_000, **arguments)


def put_a_file(client: Client, url: str, folder: Path, **arguments: Any) -> Response:
    (folder / "from").write_bytes(b"y" * 100_000)
    with (folder / "from").open("rb") as file:
        return client.put(url, data=file, **arguments)


def post_a_stream(client: Client, url: str, folder: Path, **arguments: Any) -> Response:
    return client.post(url, data=iter([b"a", b"b"]), **arguments)


def post_a_form(client: Client, url: str, folder: Path, **arguments: Any) -> Response:
    return client.post(url, files={"part": b"x"}, **arguments)


NEXT = [get, get_to_a_file, get_compressed, post_bytes, put_a_file, post_a_stream, post_a_form]


@pytest.mark.parametrize("failing", [get, get_to_a_file, put_a_file], ids=lambda send: str(send.__name__))
@pytest.mark.parametrize("failure", FAILURES)
def test_after_a_failure_each_kind_of_request_goes_well(
    server: FaultServer, tmp_path: Path, failing: Send, failure: str
) -> None:
    with Client(once()) as client:
        for send in NEXT:
            with pytest.raises(BoxRetryError):
                failing(client, failing_url(server, failure), tmp_path, timeout=Timeout(200))
            assert send(client, server.url("/seq/200", id=server.new_id()), tmp_path).status == 200
