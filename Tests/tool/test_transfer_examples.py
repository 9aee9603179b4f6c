"""The examples in C that move bodies, built as a user builds them, against servers that fail in the middle."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import pytest
from fault_server import FaultServer, pattern
from fetch_program import NO_PROXIES
from nginx import Nginx
from tool_program import REPOSITORY, Run, compile_against_library

Example = Callable[..., Run]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Example:
    """Runs one of the examples, which is built once."""
    folder = tmp_path_factory.mktemp("examples")

    def run(name: str, *arguments: str) -> Run:
        if not (folder / name).exists():
            source = REPOSITORY / "bindings" / "c" / "examples" / f"{name}.c"
            compile_against_library([source], folder / name, "-std=c99")
        command = [str(folder / name), *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, env=NO_PROXIES, timeout=60, check=False)
        return Run(ended.returncode, ended.stdout, ended.stderr)

    return run


@pytest.fixture(scope="module")
def nginx() -> Iterator[Nginx]:
    with Nginx() as running:
        yield running


@pytest.mark.parametrize("name", ["upload", "download", "form"])
def test_without_arguments_each_says_how_it_is_used(example: Example, name: str) -> None:
    run = example(name)
    assert (run.exit_code, run.output, run.errors.startswith(f"usage: {name} ")) == (2, "", True)


# --- upload ---


def test_upload_rewinds_and_sends_all_of_it_again(example: Example, server: FaultServer, tmp_path: Path) -> None:
    """R3: given a 503, and then a server that takes it."""
    data = pattern(2_000_000)
    (tmp_path / "file").write_bytes(data)
    mine = server.new_id()
    url = server.url("/seq/503,200", h="Retry-After:0", id=mine)
    run = example("upload", str(tmp_path / "file"), url)
    assert run == Run(
        0, "from the beginning\nattempt 1: status 503, server_error\nattempt 2: status 200, success\n", ""
    )
    sent = [(request["method"], request["body_sha256"]) for request in server.seen(mine, requests=2)]
    assert sent == [("PUT", hashlib.sha256(data).hexdigest())] * 2


def test_upload_says_what_it_cannot_read_or_send(example: Example, server: FaultServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    run = example("upload", "/no/such", server.url("/seq/200"))
    assert (run.exit_code, run.errors) == (1, "upload: /no/such: No such file or directory\n")
    run = example("upload", str(tmp_path / "file"), "ftp://a")
    assert run.errors == "upload: invalid argument: request.url: has a scheme other than http and https\n"
    assert example("upload", str(tmp_path / "file"), server.url("/seq/404")).exit_code == 1


# --- download ---


def test_download_continues_where_it_broke_off(example: Example, server: FaultServer, tmp_path: Path) -> None:
    """B15: given a reset in the middle and a strong ETag, only the rest is asked for."""
    mine = server.new_id()
    data = pattern(4096).decode()
    parameters: dict[str, str | int | list[str]] = {"h": ['ETag:"one"'], "1.body": data, "1.reset": "body"}
    parameters |= {"2.h": ["Content-Range:bytes 2048-4095/4096"], "2.body": data[2048:]}
    file = tmp_path / "file"
    run = example("download", server.url("/seq/200,206", dict(parameters), id=mine), str(file))
    assert (run.exit_code, run.output.splitlines()) == (
        0,
        [
            "attempt 1: receive, network_exception",
            "attempt 2: status 206, success, resumed at byte 2048",
            f"{file}: 4096 bytes",
        ],
    )
    assert file.read_text() == data
    assert "4096 bytes of 4096\n" in run.errors
    assert dict(server.seen(mine)[1]["headers"])["Range"] == "bytes=2048-"


def test_download_from_nginx_is_whole(example: Example, nginx: Nginx, tmp_path: Path) -> None:
    data = pattern(20_000_000)
    (nginx.files / "large").write_bytes(data)
    run = example("download", nginx.url("/files/large"), str(tmp_path / "file"))
    assert (run.exit_code, (tmp_path / "file").read_bytes() == data) == (0, True)


def test_download_leaves_no_file_after_a_failure(example: Example, server: FaultServer, tmp_path: Path) -> None:
    run = example("download", server.url("/seq/404"), str(tmp_path / "file"))
    assert (run.exit_code, run.errors.splitlines()[-1]) == (1, "download: status 404")
    assert list(tmp_path.iterdir()) == []


def test_download_says_what_it_cannot_write(example: Example, server: FaultServer, tmp_path: Path) -> None:
    """Before anything is sent."""
    mine = server.new_id()
    run = example("download", server.url("/seq/200", id=mine), str(tmp_path / "none" / "file"))
    assert run.errors == "download: invalid argument: sink.path: No such file or directory\n"
    assert (run.exit_code, server.seen(mine)) == (1, [])


# --- form ---


def test_form_is_sent_again_with_the_same_key(example: Example, server: FaultServer, tmp_path: Path) -> None:
    """B12, R3."""
    (tmp_path / "file.bin").write_text("in the file")
    mine = server.new_id()
    url = server.url("/seq/503,200", {"503.h": "Retry-After:0", "200.body": "done"}, id=mine)
    run = example("form", url, "The title", str(tmp_path / "file.bin"))
    assert run == Run(0, "status 200, attempts: 2\ndone", "")
    first, second = server.seen(mine, requests=2)
    keys = [dict(request["headers"])["Idempotency-Key"] for request in (first, second)]
    assert keys[0] == keys[1] != ""
    for request in (first, second):
        assert 'name="title"\r\n\r\nThe title\r\n' in request["body_start"]
        assert 'name="file"; filename="file.bin"\r\n' in request["body_start"]
        assert "\r\n\r\nin the file\r\n" in request["body_start"]


def test_form_says_that_the_file_is_not_there(example: Example, server: FaultServer) -> None:
    run = example("form", server.url("/seq/200"), "The title", "/no/such")
    assert (run.exit_code, run.output) == (1, "")
    assert run.errors.startswith("form: ")
