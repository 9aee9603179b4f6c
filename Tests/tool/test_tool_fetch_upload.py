"""`boxretry fetch -T` and `-F`: bodies that are read while they are sent."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fault_server import FaultServer, pattern
from fetch_program import AT_ONCE, attempts_of, fetch, fetch_json, fetch_with_stdin, json_line
from tool_program import TOOL, run_tool

F_SETPIPE_SZ = 1031  # fcntl has no name for it before Python 3.10


def seen_of(server: FaultServer, *arguments: str) -> dict[str, Any]:
    """The request as the server saw it."""
    mine = server.new_id()
    run = fetch(*arguments, server.url("/seq/200", id=mine))
    assert (run.exit_code, run.errors) == (0, ""), run
    (request,) = server.seen(mine, requests=1)
    return dict(request)


def header_of(request: dict[str, Any], name: str) -> str | None:
    return {header.lower(): value for header, value in request["headers"]}.get(name.lower())


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# --- -T ---


@pytest.mark.parametrize("option", ["-T", "--upload-file"])
def test_upload_file_is_a_put_with_the_file(server: FaultServer, tmp_path: Path, option: str) -> None:
    data = pattern(3_000_001)
    (tmp_path / "file").write_bytes(data)
    request = seen_of(server, option, str(tmp_path / "file"))
    assert (request["method"], request["body_sha256"]) == ("PUT", digest(data))
    assert (header_of(request, "Content-Length"), header_of(request, "Content-Type")) == ("3000001", None)


def test_the_method_of_an_upload_can_be_another(server: FaultServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    request = seen_of(server, "-T", str(tmp_path / "file"), "-X", "POST")
    assert (request["method"], request["body_length"], header_of(request, "Content-Length")) == ("POST", 0, "0")


def test_a_file_is_sent_as_often_as_it_has_to_be(server: FaultServer, tmp_path: Path) -> None:
    """R3: given a 503 and a connection that breaks off in the middle of the body, all of it is sent again."""
    data = pattern(2_000_000)
    (tmp_path / "file").write_bytes(data)
    mine = server.new_id()
    url = server.url("/seq/503,reset,200", {"reset.reset": "request"}, id=mine)
    answer = fetch_json("-T", str(tmp_path / "file"), AT_ONCE, url)
    assert answer["status"] == 200
    last = server.seen(mine, requests=3)[2]
    assert (last["body_complete"], last["body_sha256"]) == (True, digest(data))


def upload_from_pipe(url: str, data: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([TOOL, "fetch", "-T", "-", *arguments, url], input=data, capture_output=True, check=False)


def test_a_pipe_on_stdin_is_sent_in_chunks(server: FaultServer) -> None:
    data = pattern(5_000_000)
    mine = server.new_id()
    run = upload_from_pipe(server.url("/seq/200", id=mine), data)
    assert (run.returncode, run.stderr) == (0, b"")
    (request,) = server.seen(mine, requests=1)
    assert (request["method"], request["body_sha256"]) == ("PUT", digest(data))
    assert header_of(request, "Transfer-Encoding") == "chunked"


def test_what_is_read_at_once_may_be_more_than_is_sent_at_once(server: FaultServer) -> None:
    """Given a pipe that holds a megabyte, and holds it when the tool begins."""
    data = pattern(1_000_000)
    mine = server.new_id()
    reader, writer = os.pipe()
    fcntl.fcntl(writer, F_SETPIPE_SZ, 1 << 20)
    os.write(writer, data)
    os.close(writer)
    command = [str(TOOL), "fetch", "-T", "-", server.url("/seq/200", id=mine)]
    assert subprocess.run(command, stdin=reader, capture_output=True, check=False).returncode == 0
    os.close(reader)
    (request,) = server.seen(mine, requests=1)
    assert request["body_sha256"] == digest(data)


def test_a_pipe_cannot_be_sent_again(server: FaultServer) -> None:
    """R3: the caller gets the response that there is."""
    mine = server.new_id()
    run = upload_from_pipe(server.url("/seq/503,200", id=mine), b"data", AT_ONCE)
    assert run.returncode == 4
    assert b"status 503 Service Unavailable (the body of the request cannot be sent again)" in run.stderr
    assert len(server.seen(mine)) == 1


def test_a_file_on_stdin_can_be_sent_again_from_where_it_stood(server: FaultServer, tmp_path: Path) -> None:
    """R3."""
    (tmp_path / "file").write_bytes(b"read before, sent")
    mine = server.new_id()
    with (tmp_path / "file").open("rb") as file:
        os.lseek(file.fileno(), len("read before, "), os.SEEK_SET)
        command = [str(TOOL), "fetch", AT_ONCE, "-T", "-", server.url("/seq/503,200", id=mine)]
        assert subprocess.run(command, stdin=file, capture_output=True, check=False).returncode == 0
    assert [request["body_start"] for request in server.seen(mine, requests=2)] == ["sent", "sent"]


def test_a_writer_that_takes_its_time_is_waited_for(server: FaultServer) -> None:
    """M1: the request timeout rests while there is nothing to send, and what there is goes out at once."""
    mine = server.new_id()
    command = [str(TOOL), "fetch", "--timeout-interval-for-request-ms=100", "-T", "-", server.url("/echo", id=mine)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.write(b"first")
        process.stdin.flush()
        assert len(server.seen(mine, requests=1)) == 1, "it is on its way before its body is whole"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.stdin.write(b" second")
        process.stdin.close()
        assert process.wait(60) == 0
    (request,) = server.seen(mine)
    assert request["body_start"] == "first second"


def test_a_large_upload_needs_no_more_memory_than_a_small_one(server: FaultServer, tmp_path: Path) -> None:
    def peak_memory(size: int) -> int:
        with (tmp_path / "file").open("wb") as file:
            file.truncate(size)
        command = [str(TOOL), "fetch", "-s", "-T", str(tmp_path / "file"), server.url("/seq/200")]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return usage.ru_maxrss

    assert peak_memory(64_000_000) < peak_memory(10) + 16_000


# --- -F ---


def parts_of(body: str) -> list[tuple[dict[str, str], str]]:
    """Headers and content of each part, as a server reads them."""
    boundary = body.split("\r\n", 1)[0]
    assert boundary.startswith("--") and body.endswith(boundary + "--\r\n")
    found = []
    for part in body.split(boundary + "\r\n")[1:]:
        head, _, content = part.partition("\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.split("\r\n"))
        found.append((headers, re.sub(rf"\r\n({re.escape(boundary)}--\r\n)?$", "", content)))
    return found


def form(server: FaultServer, *fields: str) -> list[tuple[str, str | None, str]]:
    """Content-Disposition without its beginning, type, and content of each part."""
    request = seen_of(server, *(word for field in fields for word in ("-F", field)))
    assert request["method"] == "POST"
    content_type = header_of(request, "Content-Type")
    assert content_type is not None and content_type.startswith("multipart/form-data; boundary=")
    return [
        (headers["Content-Disposition"].replace("form-data; ", ""), headers.get("Content-Type"), content)
        for headers, content in parts_of(request["body_start"])
    ]


def test_form_sends_texts_and_files(server: FaultServer, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("in the file")
    assert form(server, "one=1", f"two=@{file}", f"three=<{file}", "four=") == [
        ('name="one"', None, "1"),
        ('name="two"; filename="a.txt"', "text/plain", "in the file"),
        ('name="three"', None, "in the file"),
        ('name="four"', None, ""),
    ]


def test_a_field_can_have_a_type_and_a_file_name(server: FaultServer, tmp_path: Path) -> None:
    file = tmp_path / "a;b.txt"
    file.write_text("x")
    assert form(
        server,
        "a=1;type=text/plain;charset=utf-8",
        f'b=@"{file}";filename=c.bin;type=image/png',
        f'c=@"{file}";filename="with;semicolon"',
        "d=2;filename=d.txt",
    ) == [
        ('name="a"', "text/plain;charset=utf-8", "1"),
        ('name="b"; filename="c.bin"', "image/png", "x"),
        ('name="c"; filename="with;semicolon"', None, "x"),  # A server gets what it can guess from.
        ('name="d"; filename="d.txt"', "text/plain", "2"),
    ]


def test_other_semicolons_belong_to_the_text(server: FaultServer) -> None:
    assert form(server, "a=1; 2;types=3", 'b="q"', "c=x=y") == [
        ('name="a"', None, "1; 2;types=3"),
        ('name="b"', None, '"q"'),
        ('name="c"', None, "x=y"),
    ]


def test_a_form_is_sent_again_whole(server: FaultServer, tmp_path: Path) -> None:
    """R3: with files, and with a pipe, which is read beforehand."""
    (tmp_path / "file").write_bytes(pattern(300_000))
    mine = server.new_id()
    fields = ["-F", f"f=@{tmp_path / 'file'}", "-F", "p=@-"]
    answer = fetch_json(*fields, AT_ONCE, server.url("/seq/503,200", id=mine))
    assert attempts_of(answer) == [503, 200]
    first, second = server.seen(mine, requests=2)
    assert first["body_length"] == second["body_length"] > 300_000


# --- What is refused ---


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-F", "a"], "--form: 'a' has no name; write 'NAME=TEXT', 'NAME=@FILE' or 'NAME=<FILE'"),
        (["-F", "=a"], "--form: '=a' has no name"),
        (["-F", "a=@/no/such"], "--form: 'a=@/no/such' cannot be read: No such file or directory"),
        (["-F", "a=</"], "--form: 'a=</' cannot be read: Is a directory"),
        (["-F", 'a=@"x'], "has an unclosed quote"),
        (["-F", "a=@/dev/null;kind=x"], "has something other than ';type=' and ';filename=' after the file name"),
        (["-T", "/no/such"], "--upload-file: '/no/such' cannot be read: No such file or directory"),
        (["-T", "/"], "--upload-file: '/' cannot be read: Is a directory"),
        (["-T", "-", "-d", "x"], "only one of --data, --form and --upload-file can be used"),
        (["-F", "a=b", "-d", ""], "only one of --data, --form and --upload-file can be used"),
    ],
)
def test_a_body_that_cannot_be_is_refused_in_one_line(server: FaultServer, arguments: list[str], message: str) -> None:
    mine = server.new_id()
    run = run_tool("fetch", "--json", *arguments, server.url("/seq/200", id=mine))
    assert (run.exit_code, run.output) == (2, "")
    assert message in run.errors and run.errors.count("\n") == 1
    assert run.errors.endswith("(try 'boxretry fetch --help')\n")
    assert server.seen(mine) == []


@pytest.mark.parametrize("status", [307, 308])
def test_f107_a_redirect_that_wants_stdin_again_is_not_a_success(server: FaultServer, status: int) -> None:
    """F107, R3. Given `echo x | boxretry fetch -T - URL`, then the exit status is not 0, and the redirect is shown."""
    mine = server.new_id()
    run = fetch_with_stdin(b"x\n", "--json", "-T", "-", server.url(f"/seq/{status}", id=mine))
    answer = json_line(run.output)
    assert (run.exit_code, answer["status"]) == (4, status)
    assert [attempt["reason"] for attempt in answer["attempts"]] == ["not_replayable"]
    assert "cannot be sent again" in run.errors
    assert len(server.seen(mine)) == 1
