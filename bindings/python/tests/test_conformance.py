"""python -m boxretry.conformance: its output and its exit status."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from paths import C_CONFORMANCE, HEADER, PACKAGE, VECTORS

from boxretry import conformance


def test_given_the_vectors_it_counts_what_passed(capsys: pytest.CaptureFixture[str]) -> None:
    assert conformance.main(["decisions", str(VECTORS / "decisions.tsv")]) == 0
    assert capsys.readouterr().out == "87 passed, 0 failed\n"


# One file for each mode: its text, and everything that is printed about it.
FILES = {
    "decisions": (
        "# a comment\n"
        "\n"
        "right\t5\t2\t0\t503 200\tretry:b1 success\n"
        "wrong\t5\t2\t0\t503 503 200\tretry:b1 retry:b1 success\n"
        "delay\t5\t2\t0\t503+ra=7\tretry:ra8.0\n"
        "refused\t-1\t2\t0\t503\tstop\n"
        "status\t5\t2\t0\t99\tstop\n"
        "ended\t5\t2\t0\t404 503\tstop retry:b1\n"
        "uneven\t5\t2\t0\t503 503\tretry:b1\n"
        "none\t5\t2\t0\t\t\n"
        "word\t5\t2\t0\t503\tmaybe\n"
        "short\t5\t2\t0\t503\n",
        "{file}:4: outcome 2: expected retry:b1, got retry backoff 4\n"
        "{file}:5: outcome 1: expected retry:ra8.0, got retry retry_after 7\n"
        "{file}:6: outcome 1: expected stop, got error invalid_argument\n"
        "{file}:7: outcome 1: expected stop, got error invalid_argument\n"
        "{file}:8: outcome 2: expected retry:b1, got error ended\n"
        "{file}:9: malformed line\n"
        "{file}:10: malformed line\n"
        "{file}:11: malformed line\n"
        "{file}:12: malformed line\n"
        "1 passed, 9 failed\n",
    ),
    "retry_after": (
        "7\t7.0\n\t-\n7\\t\t7\n5\t6\nsoon\t1\n5\t-\n5\tx\nno tab\n\xff\t3",
        "{file}:4: expected 6, got 5\n"
        "{file}:5: expected 1, got -\n"
        "{file}:6: expected -, got 5\n"
        "{file}:7: malformed line\n"
        "{file}:8: malformed line\n"
        "{file}:9: expected 3, got -\n"
        "3 passed, 6 failed\n",
    ),
    "backoff": (
        "1\t1\t0.5\t0.5\t2\n1\t1\t0.5\t0.5\t2.00000000001\n1\t1\t1.5\t0.5\t2\n1\t1\t0x1\t0.5\t2\n4294967297\t1\t0\t0\t2\n",
        "{file}:2: expected 2.00000000001, got 2\n"
        "{file}:3: expected 2, got error invalid_argument\n"
        "{file}:4: malformed line\n"
        "{file}:5: malformed line\n"
        "1 passed, 4 failed\n",
    ),
    "retry_after_jitter": (
        "1\t1\t0\t1\t1.5\t1.9\n8\t0.5\t9\t8\t9\t9\n1\t2\t0\t1\t2\t3\n1\t1\t0\t1\t1.5\n",
        "{file}:1: expected 1 1.5 1.9, got 1.000344418410722 1.5030914858565716 1.9994743608873082\n"
        "{file}:3: expected 1, got error invalid_argument\n"
        "{file}:4: malformed line\n"
        "1 passed, 3 failed\n",
    ),
    "token_delays": (
        "1\t1\t2\t8\t0.2\t0.5\t1\n0\t1\t2\t8\t0.2\t0.5\t1\n1\t1\t2\t8\t0.2\t0.1\t0.8\n",
        "{file}:2: expected 1, got error invalid_argument\n"
        "{file}:3: expected 0.8, got 0.84000000000000008\n"
        "1 passed, 2 failed\n",
    ),
}


@pytest.mark.parametrize("mode", FILES)
def test_given_a_file_with_faults_it_says_what_differs(
    mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, printed = FILES[mode]
    file = tmp_path / "cases.tsv"
    file.write_text(text, encoding="latin-1")

    assert conformance.main([mode, str(file)]) == 1

    assert capsys.readouterr().out == printed.format(file=file)


def test_given_a_file_without_cases_or_none_at_all_it_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").write_text("# nothing\n")

    assert conformance.main(["backoff", str(tmp_path / "empty"), str(tmp_path / "missing")]) == 1

    assert capsys.readouterr().out == (
        f"{tmp_path}/empty: no cases\n"
        f"{tmp_path}/missing: cannot be read: No such file or directory\n"
        "0 passed, 2 failed\n"
    )


@pytest.mark.parametrize("arguments", [[], ["decisions"], ["nothing", "file"], ["--help", "file"]])
def test_given_a_wrong_command_line_it_says_how_it_is_used(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert conformance.main(arguments) == 2
    assert capsys.readouterr() == ("", conformance.USAGE)


def test_help_goes_to_the_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert conformance.main(["--help"]) == 0
    assert capsys.readouterr() == (conformance.USAGE, "")


def run_python_program(arguments: list[str]) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "boxretry.conformance", *arguments]
    return subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONPATH": str(PACKAGE / "src")})


def test_it_is_a_program() -> None:
    ran = run_python_program(["retry_after", str(VECTORS / "retry_after.tsv")])
    assert (ran.stdout, ran.stderr, ran.returncode) == (b"51 passed, 0 failed\n", b"", 0)


@pytest.fixture(scope="module")
def c_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not C_CONFORMANCE.exists():
        pytest.skip("the C program is not in this checkout")
    library = Path(os.environ["BOXRETRY_LIBRARY"]).resolve()
    program = tmp_path_factory.mktemp("c") / "conformance"
    subprocess.run(
        ["gcc", "-I", HEADER.parent, C_CONFORMANCE, "-o", program, library, f"-Wl,-rpath,{library.parent}"], check=True
    )
    return program


@pytest.mark.parametrize("mode", FILES)
def test_it_prints_and_exits_as_the_c_program_does(mode: str, c_program: Path, tmp_path: Path) -> None:
    file = tmp_path / "cases.tsv"
    file.write_text(FILES[mode][0], encoding="latin-1")
    arguments = [mode, str(VECTORS / f"{mode}.tsv"), str(file), str(tmp_path / "missing"), str(tmp_path)]

    in_python = run_python_program(arguments)
    in_c = subprocess.run([c_program, *arguments], capture_output=True)

    assert in_python.stdout == in_c.stdout
    assert (in_python.returncode, in_python.stderr) == (in_c.returncode, in_c.stderr)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["decisions"]])
def test_its_usage_is_that_of_the_c_program_but_for_its_name(arguments: list[str], c_program: Path) -> None:
    in_python = run_python_program(arguments)
    in_c = subprocess.run([c_program, *arguments], capture_output=True)

    assert [in_python.stdout, in_python.stderr] == [
        text.replace(b"usage: conformance ", b"usage: python -m boxretry.conformance ")
        for text in (in_c.stdout, in_c.stderr)
    ]
    assert in_python.returncode == in_c.returncode
