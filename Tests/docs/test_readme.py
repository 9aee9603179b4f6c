"""What the README shows is what there is: its programs are files or run as they stand, and print what it says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX") or ROOT / "build/prefix").resolve()
sys.path.append(str(ROOT / "Tests/server"))

from fault_server import FaultServer  # noqa: E402

SERVER = "http://127.0.0.1:8080"
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def output_of(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def without_random_waits(text: str) -> str:
    """The wait of a backoff differs each time."""
    return re.sub(r"(network exception.*wait) [0-9.]+ s", r"\1 … s", text)


def without_times(text: str) -> str:
    """What an attempt took differs each time."""
    return re.sub(r"[0-9.]+ s  ", "… s  ", text)


def test_the_c_program_is_the_quickstart() -> None:
    assert (ROOT / "bindings/c/quickstart.c").read_text() in blocks("c")


def test_the_lines_of_c_are_those_of_the_first_request() -> None:
    program = (ROOT / "docs/programs/first_request.c").read_text().replace("argv[1]", '"https://example.org/"')
    for line in blocks("c")[0].splitlines():
        assert line in program


def test_the_lines_of_python_are_those_of_the_first_request() -> None:
    program = (ROOT / "docs/programs/first_request.py").read_text().replace("sys.argv[1]", '"https://example.org/"')
    shown = blocks("python")[0].replace('"attempts")', '"attempts:", response.text)')
    assert program == "import sys\n\n" + shown


def test_a_request_on_the_command_line_shows_what_the_readme_says(tmp_path: Path) -> None:
    session = next(text for text in blocks("") if text.startswith("$ boxretry fetch"))
    command, _, printed = session.partition("\n")
    with FaultServer() as server:
        arguments = shlex.split(command.replace(SERVER, server.url("")))[2:]
        ran = subprocess.run(
            [str(PREFIX / "bin/boxretry"), *arguments],
            check=True,
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
    assert without_times(ran.stderr) == without_times(printed)


def test_the_quickstart_compiles_and_prints_what_the_readme_says(tmp_path: Path) -> None:
    session = next(text for text in blocks("") if text.startswith("$ cc quickstart.c"))
    command, _, printed = session.partition("\n")
    environment = {
        **os.environ,
        "PKG_CONFIG_PATH": str(PREFIX / "lib/pkgconfig"),
        "LD_LIBRARY_PATH": str(PREFIX / "lib"),
    }
    (tmp_path / "quickstart.c").write_text(blocks("c")[1])
    ran = subprocess.run(
        ["sh", "-c", command.removeprefix("$ ")],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert without_random_waits(ran.stdout) == without_random_waits(printed)


def test_the_python_program_prints_what_the_readme_says(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(blocks("python")[1])
    assert output_of([sys.executable, str(program)]) in blocks("")


def test_the_tool_prints_what_the_readme_says() -> None:
    session = next(text for text in blocks("") if text.startswith("$ boxretry explain"))
    command, _, printed = session.partition("\n")
    arguments = shlex.split(command)[2:]
    assert output_of([str(PREFIX / "bin/boxretry"), *arguments]) == printed


def test_every_file_that_the_readme_links_to_exists() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
