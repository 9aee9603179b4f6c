"""`boxretry fetch` on a terminal: the call as it goes, and Ctrl-C."""

from __future__ import annotations

import os
import re
import select
import signal
from pathlib import Path

import pytest
from fault_server import FaultServer
from fetch_program import AT_ONCE, NO_RETRIES, Running, json_line, on_terminal, rows_of
from tool_program import Run

# --- The table ---


def test_each_attempt_is_a_line_with_its_result_and_what_comes_next_and_why(server: FaultServer) -> None:
    url = server.url("/seq/503,short,429,200", {"429.h": "Retry-After:0"}, id=server.new_id())
    run = on_terminal(AT_ONCE, "--json", url)
    assert rows_of(run.errors) == [
        "      1  T  503           server_error, retry in 0 s (backoff)",
        "      2  T  receive       network_exception, retry in 0 s (backoff)",
        "      3  T  429           rate_limited, retry in 0 s (retry_after)",
        "      4  T  200           success",
    ]
    assert run.exit_code == 0


def test_the_table_ends_with_why_there_is_no_retry_and_then_the_failure(server: FaultServer) -> None:
    run = on_terminal("--timeout-interval-for-resource-ms=20", NO_RETRIES, server.url("/seq/stall"))
    assert rows_of(run.errors) == [
        "      1  T  timeout_resource  exceptions_exhausted",
        "boxretry fetch: timeout_resource: the attempt took longer than the resource timeout",
    ]


def test_an_attempt_that_ends_with_the_call_is_in_the_table(server: FaultServer) -> None:
    """B11, B15: past the deadline, and a body beyond a limit. Nothing was decided, so that nothing comes next."""
    assert rows_of(on_terminal("--deadline-ms=20", AT_ONCE, server.url("/seq/stall")).errors) == [
        "      1  T  deadline",
        "boxretry fetch: deadline: the call's deadline passed",
    ]
    assert rows_of(on_terminal("--body-limit=9", server.url("/seq/200", size=10)).errors) == [
        "      1  T  response_too_large",
        "boxretry fetch: response_too_large: the response exceeds a size limit: body_limit: the body is longer",
    ]


def test_a_reconnect_is_in_the_table(server: FaultServer) -> None:
    """B13: given a server that closes the connection when it is used again, the request is sent again at once."""
    mine = server.new_id()
    run = on_terminal(AT_ONCE, server.url("/seq/503,close,200", id=mine))
    assert rows_of(run.errors) == [
        "      1  T  503           server_error, retry in 0 s (backoff)",
        "      2  dead connection: sent again on a new one",
        "      2  T  200           success",
    ]
    assert [request["answer"] for request in server.seen(mine)] == ["503", "close", "200"]


def test_the_table_grows_during_the_call(server: FaultServer) -> None:
    """The number of an attempt is there when it begins, and its result when it has ended."""
    mine = server.new_id()
    with Running(AT_ONCE, server.url("/seq/503,stall", id=mine)) as running:
        server.seen(mine, requests=2)
        running.read_until("\n      2  ")
        assert "503           server_error, retry in 0 s (backoff)\n" in running.screen
        assert running.screen.endswith("\n      2  ")
        assert running.process.poll() is None


def test_the_table_has_colors_for_those_who_want_them(server: FaultServer) -> None:
    url = server.url("/seq/503,200", id=server.new_id())
    coloured = on_terminal(AT_ONCE, url, TERM="xterm").errors
    assert "\x1b[1;33m503\x1b[0m " in coloured and "\x1b[1;32m200\x1b[0m " in coloured
    coloured = on_terminal(AT_ONCE, server.url("/seq/404"), TERM="xterm").errors
    assert "\x1b[1;31m404\x1b[0m " in coloured
    assert "\x1b" not in on_terminal(server.url("/seq/404"), TERM="xterm", NO_COLOR="1").errors


def test_silent_shows_no_table(server: FaultServer) -> None:
    assert on_terminal("-s", AT_ONCE, server.url("/seq/503")) == Run(4, on_stdout(64), "")


def on_stdout(size: int) -> str:
    return "".join(f"{offset:015d}\n" for offset in range(0, size, 16))


def test_the_time_of_a_line_is_that_of_its_attempt(server: FaultServer) -> None:
    """Given attempts and a wait that take long, each line has the time of its own attempt."""
    url = server.url("/seq/503,200", {"503.h": "Retry-After:0.03", "503.first": 20}, id=server.new_id())
    run = on_terminal("--json", url)
    took = [float(row.split()[1]) * 1000 for row in run.errors.splitlines()[1:]]
    attempts = json_line(run.output)["attempts"]
    assert took == pytest.approx([attempt["ended_ms"] - attempt["started_ms"] for attempt in attempts], abs=0.6)


def test_json_and_table_are_on_different_streams(server: FaultServer) -> None:
    run = on_terminal("--json", server.url("/seq/200"))
    assert (json_line(run.output)["status"], len(rows_of(run.errors))) == (200, 1)


@pytest.mark.parametrize("urls", [1, 2])
def test_no_line_of_the_table_is_longer_than_a_terminal_is_wide(server: FaultServer, urls: int) -> None:
    """Also with the numbers of URLs that are fetched in parallel."""
    arguments = ["-Z", "--timeout-interval-for-request-ms=20", "--retry-randomization-factor=0"]
    each = [server.url("/seq/stall,200", id=server.new_id()) for _ in range(urls)]
    screen = on_terminal(*arguments, "--retry-base-interval=0.0101", *each).errors
    assert screen.count("timeout_idle  network_exception, retry in 0.0202 s (backoff)") == urls
    assert max(map(len, screen.splitlines())) <= 80


def test_nothing_secret_is_shown(server: FaultServer) -> None:
    """Neither what is in headers, in the body, or in the URL."""
    url = server.url("/seq/404?id=s3cret").replace("//", "//user:s3cret@")
    run = on_terminal("-H", "Authorization: s3cret", "-d", "s3cret", "-f", "-v", url)
    assert run.exit_code == 4 and "s3cret" not in run.errors + run.output


# --- The bar ---


def shown_at_last(screen: str) -> str:
    """The lines in the end: what comes after a carriage return is written over what was there."""
    lines = []
    for line in screen.split("\n"):
        shown = ""
        for piece in line.split("\r"):
            shown = piece + shown[len(piece) :]
        lines.append(shown.rstrip())
    return "\n".join(lines)


# The library tells how far it is at most some times a second: these bodies take their time, and are never whole.
SLOW: dict[str, str | int] = {"200.every": 20, "200.drip": 200_000, "200.size": 400_000_000}


def test_a_download_to_a_file_shows_a_bar_in_the_line_of_its_attempt(server: FaultServer, tmp_path: Path) -> None:
    url = server.url("/seq/503,200", dict(SLOW), id=server.new_id())
    with Running(AT_ONCE, "-o", str(tmp_path / "page"), url) as running:
        running.read_until(" MB of 400.0 MB received  ")
        running.read_until(" MB/s")
        running.interrupt()
        screen = running.finish().errors
    assert re.search(r"\r      2  \[#* *\]  +\d+ %  \d+\.\d MB of 400\.0 MB received  \d+\.\d MB/s", screen)
    assert rows_of(shown_at_last(screen)) == [
        "      1  T  503           server_error, retry in 0 s (backoff)",
        "      2  T  cancelled",
        "boxretry fetch: cancelled: the call was canceled; 2 attempts",
    ]
    assert max(len(piece) for piece in re.split("[\r\n]", screen)) <= 80


def test_the_bar_is_full_when_the_body_is_whole(server: FaultServer, tmp_path: Path) -> None:
    screen = on_terminal("-o", str(tmp_path / "page"), server.url("/seq/200", size=1_000_000)).errors
    assert "\r      1  [################] 100 %  1.0 MB of 1.0 MB received" in screen
    assert rows_of(shown_at_last(screen)) == ["      1  T  200           success"]


def test_an_upload_shows_a_bar_too(server: FaultServer, tmp_path: Path) -> None:
    """Given a server that reads a part of the body, and then no more."""
    (tmp_path / "file").write_bytes(bytes(100_000_000))
    mine = server.new_id()
    with Running("-T", str(tmp_path / "file"), server.url("/seq/200", stall="request", id=mine)) as running:
        running.read_until(" of 100.0 MB sent")
        assert re.search(r"\r      1  \[#* *\] +\d+ %  \d+\.\d [kM]B of 100\.0 MB sent", running.screen)
        running.interrupt()
        run = running.finish()
    assert run.exit_code == 130 and "\n      1  T  cancelled" in "\n" + "\n".join(rows_of(shown_at_last(run.errors)))


def test_an_unknown_length_has_no_bar(server: FaultServer, tmp_path: Path) -> None:
    url = server.url("/seq/200", {**SLOW, "chunked": ""}, id=server.new_id())
    with Running("-o", str(tmp_path / "page"), url) as running:
        running.read_until(" MB received  ")
        running.interrupt()
        screen = running.finish().errors
    assert re.search(r"\r      1  \d+\.\d MB received  ", screen) and "%" not in screen


def test_without_a_file_there_is_no_bar(server: FaultServer) -> None:
    run = on_terminal(server.url("/seq/200", size=50_000, chunked=""))
    assert (run.exit_code, "received" in run.errors) == (0, False)
    assert len(rows_of(run.errors)) == 1


def test_a_body_on_the_same_terminal_comes_before_the_line_of_its_attempt(server: FaultServer) -> None:
    """And that line begins at the left, whether the body ended in a line end or not."""

    def print_on_it_too() -> None:
        os.dup2(2, 1)

    for body in ("the body", "the body\n"):
        url = server.url("/seq/503,200", {"200.body": body}, id=server.new_id())
        with Running(AT_ONCE, url, prepare=print_on_it_too) as running:
            shown = shown_at_last(running.finish().errors)
        assert rows_of(shown) == [
            "      1  T  503           server_error, retry in 0 s (backoff)",
            "the body",
            "      2  T  200           success",
        ]


# --- Ctrl-C ---


def test_ctrl_c_cancels_the_call(server: FaultServer) -> None:
    """K1, K2: at once, in an attempt, and with the JSON that was asked for."""
    mine = server.new_id()
    with Running("--json", server.url("/seq/stall", id=mine)) as running:
        server.seen(mine, requests=1)
        running.press_ctrl_c()
        run = running.finish()
    assert run.exit_code == 130
    answer = json_line(run.output)
    assert (answer["status"], answer["error"], answer["body_bytes"]) == (0, "cancelled", 0)
    assert run.errors.endswith("\nboxretry fetch: cancelled: the call was canceled\n")
    (request,) = server.seen(mine, ended=True)
    assert request["connection_ended"] in ("client_closed", "client_reset")


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_wait(server: FaultServer, number: int, exit_code: int) -> None:
    """K1: in an hour's wait for the next attempt."""
    mine = server.new_id()
    with Running("--json", server.url("/seq/503", h="Retry-After:3600", id=mine)) as running:
        running.read_until("retry in 3600 s (retry_after)\n")
        running.interrupt(number)
        run = running.finish()
    answer = json_line(run.output)
    assert (run.exit_code, answer["error"]) == (exit_code, "cancelled")
    assert [attempt["status"] for attempt in answer["attempts"]] == [503]
    assert len(server.seen(mine)) == 1


def test_a_signal_that_is_ignored_stays_ignored(server: FaultServer) -> None:
    """Given SIGINT ignored, as it is in a shell's background jobs, the call ends by what the server does."""
    mine = server.new_id()

    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    with Running(NO_RETRIES, server.url("/seq/stall", id=mine), prepare=ignore) as running:
        server.seen(mine, requests=1)
        assert not running.holds_back(signal.SIGINT), "a signal that is held back is not ignored: it waits"
        running.interrupt()
        server.hang_up(mine)
        run = running.finish()
    assert (run.exit_code, "receive" in run.errors) == (5, True)


@pytest.mark.parametrize(("size", "exit_codes"), [(500_000, [-signal.SIGINT, 130]), (9_000_000, [130])])
def test_ctrl_c_ends_the_writing_into_a_pipe_that_takes_no_more(
    server: FaultServer, tmp_path: Path, size: int, exit_codes: list[int]
) -> None:
    """K1: given more than has come, it cancels the call; given all, it comes after the call, or just before its end."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    mine = server.new_id()
    with Running("-o", str(pipe), server.url("/seq/200", size=size, id=mine)) as running:
        assert select.select([reader], [], [], 60)[0] == [reader], "the writing has begun"
        if len(exit_codes) > 1:
            running.read_until("success\n")
        running.press_ctrl_c()
        run = running.finish()
    os.close(reader)
    assert run.exit_code in exit_codes
