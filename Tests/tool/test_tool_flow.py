"""The questions that `boxretry explain` shows and the library's decision never part."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tool_program import REPOSITORY, compile_against_library, run_tool

HERE = Path(__file__).parent
TOOL_SOURCES = REPOSITORY / "bindings" / "c" / "tool"


def test_walk_and_library_agree_on_everything(tmp_path: Path) -> None:
    """B3, B10, B11, B12, R3: all statuses x attempts x auth x headers x options, in one process."""
    program = compile_against_library(
        [HERE / "walks_agree.c", TOOL_SOURCES / "flow.c"], tmp_path / "walks_agree", f"-I{TOOL_SOURCES}"
    )
    run = subprocess.run([program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout

    compared, *met = run.stdout.split()
    assert int(compared) > 5_000_000
    # Every end that one outcome by itself can have was met.
    assert met == [
        *["stop", "retry", "refresh_token_and_retry", "succeed"],
        *["success", "network_exception", "accepted", "server_error", "rate_limited", "unauthorized"],
        *["not_retryable", "attempts_exhausted", "exceptions_exhausted"],
        *["retry_after_over_cap", "unsafe_request", "not_replayable"],
    ]


@pytest.mark.parametrize(
    ("action", "reason", "delay", "message"),
    [
        ("STOP", "SERVER_ERROR", "0", "the flow ends in retry (server_error), but the library decides stop"),
        ("RETRY", "RATE_LIMITED", "2", "but the library decides retry (rate_limited)"),
        ("RETRY", "SERVER_ERROR", "3.01", "the library's delay 3.0099999999999998 is not between 1 and 3"),
        ("RETRY", "SERVER_ERROR", "0.99", "is not between 1 and 3"),
    ],
)
def test_a_contradiction_is_an_internal_error(
    tmp_path: Path, action: str, reason: str, delay: str, message: str
) -> None:
    """Given a library that decides otherwise than documented, the tool says so, and prints nothing else."""
    wrong_library = compile_against_library(
        [HERE / "wrong_library.c"],
        tmp_path / "wrong_library.so",
        *["-shared", "-fPIC", f"-DWRONG_ACTION=BOXRETRY_ACTION_{action}"],
        *[f"-DWRONG_REASON=BOXRETRY_REASON_{reason}", f"-DWRONG_DELAY={delay}"],
    )
    for further in ([], ["--json"]):
        run = run_tool("explain", "--status", "503", *further, LD_PRELOAD=str(wrong_library))
        assert (run.exit_code, run.output) == (3, "")
        assert message in run.errors
        assert run.errors.count("\n") == 1


def test_json_escapes_what_it_must(tmp_path: Path) -> None:
    """Given a text with quotes, backslashes and control characters, JSON carries it as it is."""
    odd_texts = compile_against_library([HERE / "odd_texts.c"], tmp_path / "odd_texts.so", "-shared", "-fPIC")
    run = run_tool("explain", "--status", "503", "--json", LD_PRELOAD=str(odd_texts))
    assert run.exit_code == 0
    assert run.output.count("\n") == 1
    assert json.loads(run.output)["reason_text"] == '"quoted", a \\, a tab\t, a line\n, \x01 and é'
