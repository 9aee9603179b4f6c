"""docs/fault-matrix.md, made from the results of a run."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from boxretry import libcurl_version
from fault_table import FAULTS
from kinds import Kind, Times, Version

#: The property in which a test reports its cell: version, fault, kind, times and text.
PROPERTY = "cell"

HEAD = """# The fault matrix

This page shows how a call ends when something goes wrong, for each fault and each kind of request. A run of
`Tests/matrix` makes the page. A server produces each fault, and each cell is checked against
[the semantics](semantics.md). The run also checks that the server saw exactly the requests in the record, with the
same body each time.

A cell reads: how attempt 1 ended, the wait, how attempt 2 ended, … → what the caller gets (the reason of the last
decision). An attempt ends with a status, or with the cause of a network exception. *each* means that the fault occurs
every time, *once* that the next request succeeds. All options have their defaults, except the waits: they are 1000
times shorter and have no jitter, and a Retry-After is capped at 50 ms. If a cell has more than one ending, timing
decides which one occurs."""


MADE_WITH = "Made with libcurl {}."


class Report:
    """Gathers what the tests say, in the process that controls them."""

    def __init__(self, path: Path, config: pytest.Config) -> None:
        self._path = path
        self._is_written = config.getoption("--write-report")
        self._cells: dict[tuple[str, str, str, str], str] = {}
        self._message = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == PROPERTY and report.when == "call":
                version, fault, kind, times, text = str(value).split("\n")
                self._cells[version, fault, kind, times] = text

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Writes the page, or compares; not if only some of the cells were run."""
        if self._cells.keys() != _all_cells():
            self._message = "some cells were not run: docs/fault-matrix.md is not compared"
            return
        text = render(self._cells)
        there = self._path.read_text() if self._path.exists() else ""
        if self._is_written:
            self._path.write_text(text)
        elif MADE_WITH.format(libcurl_version()) not in there:
            self._message = "docs/fault-matrix.md was made with another version of libcurl: it is not compared"
        elif text != there:
            lines = difflib.unified_diff(there.split("\n"), text.split("\n"), "docs/fault-matrix.md", "this run", n=0)
            self._message = "\n".join([*lines, "docs/fault-matrix.md differs from this run: use --write-report"])
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._message:
            terminalreporter.write_line(self._message)


def _all_cells() -> set[tuple[str, str, str, str]]:
    return {
        (version.value, fault.name, kind.value, times.value)
        for version, faults in FAULTS.items()
        for fault in faults
        for kind in Kind
        for times in Times
        if fault.cell(times) is not None
    }


def render(cells: dict[tuple[str, str, str, str], str]) -> str:
    """The page; `cells` is by version, fault, kind and times."""
    parts = [HEAD, MADE_WITH.format(libcurl_version())]
    for version, faults in FAULTS.items():
        parts.append(f"## {version.value}")
        head = [_line("", *(kind.value for kind in Kind)), _line(*["---"] * (1 + len(Kind)))]
        rows = [_line(fault.name, *(_cell(cells, version, fault.name, kind) for kind in Kind)) for fault in faults]
        parts.append("\n".join(head + rows))
        if deviations := [f"- {fault.name}: {fault.deviation}." for fault in faults if fault.deviation]:
            parts.append("Deviations from the semantics:")
            parts.append("\n".join(deviations))
    return "\n\n".join(parts) + "\n"


def _cell(cells: dict[tuple[str, str, str, str], str], version: Version, fault: str, kind: Kind) -> str:
    texts = {times: cells.get((version.value, fault, kind.value, times.value)) for times in Times}
    labels = {Times.EACH: "each", Times.ONCE: "once"}
    return "<br>".join(f"*{labels[times]}*: {text}" for times, text in texts.items() if text is not None)


def _line(*columns: str) -> str:
    return f"| {' | '.join(columns)} |"
