"""The programs and commands in README.md and docs/install.md run as shown, and print what the page says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX") or ROOT / "build/prefix").resolve()
sys.path.append(str(ROOT / "Tests/server"))

from fault_server import FaultServer  # noqa: E402

SERVER = "http://127.0.0.1:8080"
PUBLIC = "https://example.org/"
README = (ROOT / "README.md").read_text()
INSTALL = (ROOT / "docs/install.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def session(start: str, page: str = README) -> tuple[str, str]:
    """A command that a page shows, and what it prints."""
    found = re.search(rf"^\$ ({re.escape(start)}.*)\n((?:(?!```).*\n)*)```$", page, re.MULTILINE)
    assert found, start
    return found[1], found[2]


def run(command: str | list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PATH": f"{PREFIX / 'bin'}:{os.environ['PATH']}",
        "PKG_CONFIG_PATH": str(PREFIX / "lib/pkgconfig"),
        "LD_LIBRARY_PATH": str(PREFIX / "lib"),
        "no_proxy": "*",
    }
    return subprocess.run(
        command,
        shell=isinstance(command, str),
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


def without_times(text: str) -> str:
    """The duration of an attempt differs from run to run."""
    return re.sub(r"[0-9.]+ s  ", "… s  ", text)


def test_the_lines_of_c_are_those_of_the_first_request() -> None:
    program = (ROOT / "docs/programs/first_request.c").read_text().replace("argv[1]", f'"{PUBLIC}"')
    lines = [line.strip() for line in program.splitlines()]
    (shown,) = blocks("c")
    positions = [lines.index(line.strip()) for line in shown.splitlines()]
    assert positions == sorted(positions)


def test_the_first_request_compiles_and_prints_what_the_readme_says(server: FaultServer, tmp_path: Path) -> None:
    command, printed = session("cc first_request.c")
    (tmp_path / "first_request.c").write_text((ROOT / "docs/programs/first_request.c").read_text())
    assert PUBLIC in command
    assert run(command.replace(PUBLIC, shlex.quote(server.url("/seq/200", id="readme-c"))), tmp_path).stdout == printed


def test_the_lines_of_python_are_those_of_the_first_request() -> None:
    program = (ROOT / "docs/programs/first_request.py").read_text().replace("sys.argv[1]", f'"{PUBLIC}"')
    shown = blocks("python")[0].replace("attempts))", 'attempts), "body:", response.text)')
    assert program == "import sys\n\n" + shown


def test_the_tool_fetches_as_the_readme_says(server: FaultServer, tmp_path: Path) -> None:
    command, printed = session("boxretry fetch")
    assert (PUBLIC in command, printed) == (True, "")
    run(command.replace(PUBLIC, shlex.quote(server.url("/seq/200", id="readme-tool", body="page"))), tmp_path)
    assert (tmp_path / "page.html").read_text() == "page"


def test_the_decision_prints_what_the_readme_says(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(blocks("python")[1])
    assert run([sys.executable, "program.py"], tmp_path).stdout in blocks("")


def test_the_attempts_are_shown_as_the_page_says(server: FaultServer, tmp_path: Path) -> None:
    command, printed = session("boxretry fetch", INSTALL)
    assert SERVER in command
    ran = run(shlex.split(command.replace(SERVER, server.url(""))), tmp_path)
    assert without_times(ran.stderr) == without_times(printed)


def test_the_variables_of_the_page_extend_those_that_are_set(tmp_path: Path) -> None:
    """A variable that was empty gets no empty entry: that would be the current folder."""
    lines = "".join(line for line in INSTALL.splitlines(keepends=True) if line.startswith("export "))
    names = re.findall(r"^export (\w+)=", lines, re.MULTILINE)
    assert names
    for name in names:
        show = f'HOME=/home/me\n{lines}printf %s "${name}"'
        given = run(f"{name}=/before\n{show}", tmp_path).stdout if name != "PATH" else ""
        assert given.endswith(":/before") or name == "PATH"
        if name not in ("PATH", "MANPATH"):
            assert ":" not in run(f"unset {name}\n{show}", tmp_path).stdout


def test_the_manual_pages_of_the_page_are_installed() -> None:
    pages = re.findall(r"`man ([\w-]+)`", INSTALL + README)
    assert pages
    for page in pages:
        assert list((PREFIX / "share/man").glob(f"man?/{page}.?")), page


@pytest.mark.parametrize(("page", "text"), [("README.md", README), ("docs/install.md", INSTALL)])
def test_every_file_that_a_page_links_to_exists(page: str, text: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []
