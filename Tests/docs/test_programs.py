"""The programs in docs/*.md are the files in docs/programs, and print what the page says that they print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX") or ROOT / "build/prefix").resolve()
PROGRAMS = ROOT / "docs/programs"
sys.path.append(str(ROOT / "Tests/server"))

from fault_server import FaultServer  # noqa: E402

PAGES = sorted((ROOT / "docs").glob("*.md"))
SERVER = "http://127.0.0.1:8080"
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
_PROGRAM = re.compile(
    r"\[programs/([\w.]+)\]\(programs/\1\)[^\n]*\n\n```(?:c|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE
)
_SESSION = re.compile(r"^```\n\$ ((?:\./|python )[^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SHELL_SESSION = re.compile(r"^```\n(\$ (?!\./|python )[^\n]*\n.*?)^```$", re.DOTALL | re.MULTILINE)
"""Sessions with the tool, and with the shell commands that they need."""
_CODE = re.compile(r"^```(?:c|python)$", re.MULTILINE)


@dataclass(frozen=True)
class Session:
    """A command as a page shows it, and what it prints."""

    page: str
    command: str
    output: str

    @property
    def program(self) -> str:
        words = shlex.split(self.command)
        return words[1] if words[0] == "python" else words[0].removeprefix("./") + ".c"


SESSIONS = [Session(page.stem, *found) for page in PAGES for found in _SESSION.findall(page.read_text())]

SHELL_SESSIONS = [text for page in PAGES for text in _SHELL_SESSION.findall(page.read_text())]


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


def test_every_program_of_a_page_is_a_file() -> None:
    shown = [(page.name, *found) for page in PAGES for found in _PROGRAM.findall(page.read_text())]
    assert shown
    assert [name for page, name, text in shown if (PROGRAMS / name).read_text() != text] == []
    programs = sum(len(_CODE.findall(page.read_text())) for page in PAGES)
    assert programs == len(shown), "a page shows code that is not a file in docs/programs"


def test_every_file_is_shown_and_run() -> None:
    files = {path.name for path in PROGRAMS.iterdir()}
    assert {session.program for session in SESSIONS} == files
    assert {name for page in PAGES for name, _ in _PROGRAM.findall(page.read_text())} == files


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: f"{session.page}-{session.program}")
def test_a_program_prints_what_the_page_says(session: Session, server: FaultServer, tmp_path: Path) -> None:
    words = shlex.split(session.command.replace(SERVER, server.url("")))
    if words[0] == "python":
        command = [sys.executable, str(PROGRAMS / words[1]), *words[2:]]
    else:
        command = [str(compiled(PROGRAMS / session.program, tmp_path / "program")), *words[1:]]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path)
    assert ran.stderr == ""
    assert ran.stdout.replace(server.url(""), SERVER) == session.output


def test_the_tool_is_shown() -> None:
    assert SHELL_SESSIONS


@pytest.mark.parametrize("session", SHELL_SESSIONS)
def test_the_tool_prints_what_the_page_says(session: str, server: FaultServer, tmp_path: Path) -> None:
    """Indented lines continue a command; all other lines are its output."""
    script = "".join(re.findall(r"^(?:\$|   ) (.*\n)", session, re.MULTILINE))
    environment = {**os.environ, "PATH": f"{PREFIX / 'bin'}:{os.environ['PATH']}", "no_proxy": "*"}
    ran = subprocess.run(
        ["sh", "-e", "-c", script.replace(SERVER, server.url(""))],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=tmp_path,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "".join(
        line for line in session.splitlines(keepends=True) if not line.startswith(("$ ", "    "))
    )


def test_the_quickstart_prints_what_the_guide_says(tmp_path: Path) -> None:
    session = re.search(r"^\$ cc quickstart\.c [^\n]*\n(.*?)^```$", (ROOT / "docs/guide.md").read_text(), re.S | re.M)
    assert session
    program = compiled(ROOT / "bindings/c/quickstart.c", tmp_path / "quickstart")
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert without_random_waits(printed) == without_random_waits(session[1])


def without_random_waits(text: str) -> str:
    """The wait of a backoff differs from run to run."""
    return re.sub(r"(network exception.*wait) [0-9.]+ s", r"\1 … s", text)


def compiled(source: Path, program: Path) -> Path:
    script = 'cc "$@" $(pkg-config --cflags --libs boxretry)'
    environment = {**os.environ, "PKG_CONFIG_PATH": str(PREFIX / "lib/pkgconfig")}
    arguments = [*WARNINGS, f"-Wl,-rpath,{PREFIX / 'lib'}", str(source), "-o", str(program)]
    subprocess.run(["sh", "-ec", script, "sh", *arguments], env=environment, check=True)
    return program


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_links_to_exists(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


LINKING = [*PAGES, *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"))]


@pytest.mark.parametrize("page", LINKING, ids=lambda page: page.name)
def test_every_section_that_a_page_links_to_exists(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text())
    broken = [
        f"{file}#{anchor}" for file, anchor in links if anchor not in anchors(page.parent / file if file else page)
    ]
    assert broken == []


def anchors(page: Path) -> set[str]:
    """The names of a page's sections, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
