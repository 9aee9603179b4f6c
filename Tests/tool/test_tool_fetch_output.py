"""`boxretry fetch -o`: the file is there when the call has succeeded, whole, or not there."""

from __future__ import annotations

import gzip
import os
import resource
import signal
import stat
import subprocess
from pathlib import Path
from urllib.parse import quote_from_bytes

import pytest
from fault_server import FaultServer, pattern
from fetch_program import AT_ONCE, NO_RETRIES, Running, fetch, fetch_json
from tool_program import TOOL


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_body_goes_into_the_file_and_not_to_stdout(server: FaultServer, tmp_path: Path) -> None:
    file = tmp_path / "page"
    for option in ("-o", "--output"):
        run = fetch(option, str(file), server.url("/seq/200", size=3_000_000))
        assert (run.exit_code, run.output, run.errors) == (0, "", "")
        assert file.read_bytes() == pattern(3_000_000)
        assert names_in(tmp_path) == ["page"]
        file.unlink()


def test_with_json_both_are_there(server: FaultServer, tmp_path: Path) -> None:
    answer = fetch_json("-o", str(tmp_path / "page"), server.url("/seq/200", size=100))
    assert (answer["body_bytes"], (tmp_path / "page").read_bytes()) == (100, pattern(100))


def test_include_prints_the_head_on_stdout_beside_the_file(server: FaultServer, tmp_path: Path) -> None:
    run = fetch("-i", "-o", str(tmp_path / "page"), server.url("/seq/200", size=16))
    assert run.output.startswith("HTTP 200\r\nDate: ") and run.output.endswith("\r\n\r\n")
    assert (tmp_path / "page").read_bytes() == pattern(16)


def test_a_dash_is_stdout(server: FaultServer) -> None:
    assert fetch("-o", "-", server.url("/seq/200", body="here")).output == "here"


def test_what_comes_before_a_success_is_not_written(server: FaultServer, tmp_path: Path) -> None:
    """B15: neither the error's body, nor the half of one that broke off."""
    url = server.url("/seq/503,short,200", {"503.body": "an error", "200.size": 32}, id=server.new_id())
    fetch_json("-o", str(tmp_path / "page"), AT_ONCE, url)
    assert (tmp_path / "page").read_bytes() == pattern(32)


@pytest.mark.parametrize(("path", "exit_code"), [("/seq/404", 4), ("/seq/short", 5), ("/seq/reset:body", 5)])
@pytest.mark.parametrize("before", [None, "what was there"])
def test_a_call_that_fails_leaves_all_as_it_was(
    server: FaultServer, tmp_path: Path, path: str, exit_code: int, before: str | None
) -> None:
    file = tmp_path / "page"
    if before is not None:
        file.write_text(before)
    run = fetch("-o", str(file), NO_RETRIES, server.url(path))
    assert (run.exit_code, run.output) == (exit_code, "")
    assert names_in(tmp_path) == ([] if before is None else ["page"])
    assert before is None or file.read_text() == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_f92_a_signal_leaves_no_file(server: FaultServer, tmp_path: Path, number: signal.Signals) -> None:
    """B15, F92: what has come is beside it, under another name, and goes if a signal ends the call."""
    mine = server.new_id()
    with Running("-o", str(tmp_path / "page"), server.url("/seq/stall:body", size=1000, id=mine)) as running:
        server.seen(mine, requests=1)
        assert "page" not in names_in(tmp_path)
        running.interrupt(number)
        assert running.finish().exit_code == 128 + number
    assert names_in(tmp_path) == []


def test_a_file_is_replaced_and_never_half_written(server: FaultServer, tmp_path: Path) -> None:
    """A program that had the old file open still reads the old one."""
    file = tmp_path / "page"
    file.write_text("what was there")
    with file.open() as old:
        fetch("-o", str(file), server.url("/seq/200", size=16))
        assert (old.read(), file.read_bytes()) == ("what was there", pattern(16))


def test_a_new_file_has_the_usual_mode_and_an_old_one_keeps_its_own(server: FaultServer, tmp_path: Path) -> None:
    file = tmp_path / "page"
    umask = os.umask(0o027)
    try:
        fetch("-o", str(file), server.url("/seq/200"))
    finally:
        os.umask(umask)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    file.chmod(0o604)
    fetch("-o", str(file), server.url("/seq/200"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o604


def test_a_link_stays_a_link(server: FaultServer, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "page").write_text("what was there")
    (tmp_path / "link").symlink_to("folder/page")
    fetch("-o", str(tmp_path / "link"), server.url("/seq/200", size=16))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "page").read_bytes() == pattern(16)
    assert (names_in(tmp_path), names_in(tmp_path / "folder")) == (["folder", "link"], ["page"])


def test_a_pipe_stays_a_pipe(server: FaultServer, tmp_path: Path) -> None:
    """And so do /dev/null and similar files."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert fetch("-o", str(pipe), server.url("/seq/200", size=16)).exit_code == 0
    assert (os.read(reader, 100), pipe.is_fifo()) == (pattern(16), True)
    os.close(reader)
    assert names_in(tmp_path) == ["pipe"]


@pytest.mark.parametrize("name", ["none/page", "", "folder", "folder/", "file/page", "new/"])
def test_a_file_that_cannot_be_is_found_out_before_anything_is_sent(
    server: FaultServer, tmp_path: Path, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    mine = server.new_id()
    path = f"{tmp_path}/{name}" if name else ""
    answer = fetch_json("-o", path, server.url("/seq/200", id=mine), exit_code=9)
    assert answer == {"status": 0, "error": "setting", "body_bytes": 0, "attempts": [], "redirects": []}
    assert server.seen(mine) == []
    assert names_in(tmp_path) == ["file", "folder"]


def test_a_disk_that_is_full_is_a_failure_on_this_machine(server: FaultServer, tmp_path: Path) -> None:
    """Given room for a part of the body, the old file is left as it was, and nothing beside it."""
    file = tmp_path / "page"
    file.write_text("what was there")

    def leave_little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    run = subprocess.run(
        [TOOL, "fetch", "-o", file, server.url("/seq/200", size=1_000_000)],
        stderr=subprocess.PIPE,
        preexec_fn=leave_little_room,
        check=False,
    )
    assert run.returncode == 9
    assert run.stderr == (b"boxretry fetch: sink: the response body could not be written: sink.path: File too large\n")
    assert (names_in(tmp_path), file.read_text()) == (["page"], "what was there")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--json"], b"boxretry: "), (["-i"], b"boxretry: "), ([], b"boxretry fetch: ")],
    ids=["json", "memory", "streamed"],
)
def test_what_stdout_does_not_take_is_an_error(server: FaultServer, arguments: list[str], message: bytes) -> None:
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(
            [TOOL, "fetch", *arguments, server.url("/seq/200", size=100_000)],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert run.returncode == 1
    assert run.stderr == message + b"the output could not be written: No space left on device\n"


def test_a_device_that_takes_nothing_is_a_failure_on_this_machine(server: FaultServer) -> None:
    """Given more than fits between the loop and the device, the call ends in the middle."""
    for size in (10, 9_000_000):
        run = fetch("-o", "/dev/full", server.url("/seq/200", size=size))
        assert (run.exit_code, run.output) == (9, "")
        assert run.errors == "boxretry fetch: the output file cannot be written: No space left on device\n"


# --- Bodies that are not held in memory ---


def peak_memory(*arguments: str) -> int:
    """Kilobytes that the tool needed for a call that succeeds, and of which the body goes nowhere."""
    process = subprocess.Popen([TOOL, "fetch", *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss


@pytest.mark.parametrize("where", ["file", "/dev/null", "-"])
def test_a_large_body_needs_no_more_memory_than_a_small_one(server: FaultServer, tmp_path: Path, where: str) -> None:
    """B15: given 64 MB, not even a quarter of it."""
    output = ["-o", str(tmp_path / "page") if where == "file" else where]
    small = peak_memory(*output, server.url("/seq/200", size=10))
    assert peak_memory(*output, server.url("/seq/200", size=64_000_000)) < small + 16_000


def test_a_reader_that_takes_its_time_gets_all_of_it(server: FaultServer) -> None:
    """M1: given more than fits between server and reader, the request timeout rests while the reader does."""
    command = [str(TOOL), "fetch", "--timeout-interval-for-request-ms=100", server.url("/seq/200", size=20_000_000)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        assert process.stdout is not None
        assert process.stdout.read() == pattern(20_000_000)
    assert process.returncode == 0


def test_what_has_gone_to_stdout_cannot_be_taken_back(server: FaultServer) -> None:
    """B15: so that a body which breaks off there is not fetched again."""
    mine = server.new_id()
    run = fetch(AT_ONCE, server.url("/seq/short,200", id=mine))
    assert (run.exit_code, run.output.encode()) == (5, pattern(32))
    assert len(server.seen(mine)) == 1


def test_the_body_of_a_redirect_is_not_for_the_file(server: FaultServer, tmp_path: Path) -> None:
    """B15: as that of any response that is not a 2xx."""
    run = fetch("--no-location", "-o", str(tmp_path / "page"), server.url("/seq/302", body="elsewhere"))
    assert (run.exit_code, run.output, names_in(tmp_path)) == (0, "", [])
    assert fetch("--no-location", server.url("/seq/302", body="elsewhere")).output == "elsewhere"


# --- Downloads that continue ---


def broken_then_rest(server: FaultServer, mine: str, second: str) -> str:
    """A download that breaks off after 5 bytes; the server's second answer is the rest, or all."""
    parameters: dict[str, str | int | list[str]] = {
        "h": ['ETag:"one"'],
        "1.body": "0123456789",
        "1.reset": "body",
        "2.body": "0123456789" if second == "200" else "56789",
    }
    if second == "206":
        parameters["2.h"] = ["Content-Range:bytes 5-9/10"]
    return server.url(f"/seq/200,{second}", dict(parameters), id=mine)


@pytest.mark.parametrize(("second", "resumed_from"), [("206", 5), ("200", 0)])
def test_resume_asks_for_the_rest_alone(server: FaultServer, tmp_path: Path, second: str, resumed_from: int) -> None:
    """B15: by Range and If-Range; a server that sends all of it is right too."""
    mine = server.new_id()
    file = tmp_path / "page"
    answer = fetch_json("--resume", "-o", str(file), AT_ONCE, broken_then_rest(server, mine, second))
    assert file.read_bytes() == b"0123456789"
    assert [attempt["resumed_from"] for attempt in answer["attempts"]] == [0, resumed_from]
    assert answer["body_bytes"] == 10
    headers = [dict(request["headers"]) for request in server.seen(mine)]
    assert [(seen.get("Range"), seen.get("If-Range")) for seen in headers] == [(None, None), ("bytes=5-", '"one"')]


def test_without_resume_all_of_it_is_asked_for_again(server: FaultServer, tmp_path: Path) -> None:
    mine = server.new_id()
    fetch_json("-o", str(tmp_path / "page"), AT_ONCE, broken_then_rest(server, mine, "200"))
    assert (tmp_path / "page").read_bytes() == b"0123456789"
    assert all("Range" not in dict(request["headers"]) for request in server.seen(mine))


@pytest.mark.parametrize("framing", ["length", "chunked", "until_close"])
def test_f84_half_of_a_compressed_stream_leaves_no_file(server: FaultServer, tmp_path: Path, framing: str) -> None:
    """F84, W4. Given half of a gzip stream that is framed as if whole, then an old file stays as it was."""
    half = gzip.compress(pattern(1_000))[:40]
    query = "" if framing == "length" else f"&{framing}"
    target = server.target("/seq/200", {"h": "Content-Encoding:gzip"}, id=server.new_id())
    url = f"http://127.0.0.1:{server.ports['http']}{target}{query}&body={quote_from_bytes(half)}"
    (tmp_path / "page").write_text("old")
    run = fetch("--compressed", "-o", str(tmp_path / "page"), AT_ONCE, url)
    assert run.exit_code == 5
    assert (tmp_path / "page").read_text() == "old"
    assert names_in(tmp_path) == ["page"]


def test_an_output_file_that_cannot_be_written_is_reported_by_its_reason(server: FaultServer, tmp_path: Path) -> None:
    """Before anything is sent."""
    mine = server.new_id()
    for name, why in ((str(tmp_path / "no" / "file"), "No such file or directory"), (str(tmp_path), "Is a directory")):
        run = fetch("-o", name, server.url("/seq/200", id=mine))
        assert (run.exit_code, run.errors) == (9, f"boxretry fetch: the output file cannot be written: {why}\n")
    assert server.seen(mine) == []
