"""Makes the pages that lead from statements, clauses and cases to tests, and finds what has no test.

docs/conformance.md comes from statements.toml, docs/cases.md from cases.tsv, docs/clauses.md from docs/semantics.md.

python docs/generate/test_pages.py [--check]: writes the pages, or says whether they are out of date. It needs no build.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import made_files
import tomllib
from known_tests import Test, all_tests
from made_files import ROOT

NAMES = ("cases.md", "clauses.md", "conformance.md")
_HERE = Path(__file__).resolve().parent
_CLAUSE = re.compile(r"^- \*\*([A-Z]\d+)(?: ([^*]+?)\.?)?\*\*[ :]*(.*?)(?:[.:;]| \(|$)", re.MULTILINE)
_SECTION = re.compile(r"^## ", re.MULTILINE)
_ANSWERS = ("As stated", "More:", "Differs:", "As the decision flow has it", "Advice to the caller.")


@dataclass(frozen=True)
class Case:
    """A line of cases.tsv. `note` says why there is no test."""

    name: str
    clauses: str
    text: str
    note: str = ""


@dataclass
class Index:
    """All tests, and what they are to show."""

    tests: list[Test]
    clauses: dict[str, dict[str, str]]
    """By section, by name: the title, or the first words of a clause without one."""
    cases: dict[str, list[Case]]
    """By section."""
    sources: list[dict[str, Any]]
    statements: dict[str, list[dict[str, Any]]]
    """By source."""
    tests_of: dict[str, list[Test]] = field(init=False)
    """By the clause or case that they name."""

    def __post_init__(self) -> None:
        self.tests_of = {}
        for test in self.tests:
            for tag in test.tags:
                self.tests_of.setdefault(tag, []).append(test)


def read() -> Index:
    statements = tomllib.loads((_HERE / "statements.toml").read_text())
    return Index(all_tests(), _read_clauses(), _read_cases(), statements.pop("source"), statements)


def _read_clauses() -> dict[str, dict[str, str]]:
    parts = _SECTION.split((ROOT / "docs/semantics.md").read_text())[1:]
    return {
        part.split("\n")[0]: {name: title or _shortened(start.strip()) for name, title, start in _CLAUSE.findall(part)}
        for part in parts
    }


def _shortened(text: str, length: int = 90) -> str:
    """At a comma, if it is long."""
    return text if len(text) <= length else text[:length].rpartition(",")[0] or text[:length].rpartition(" ")[0]


def _read_cases() -> dict[str, list[Case]]:
    sections: dict[str, list[Case]] = {}
    for line in (_HERE / "cases.tsv").read_text().splitlines():
        if line.startswith("# "):
            cases = sections[line.removeprefix("# ")] = []
        else:
            cases.append(Case(*line.split("\t")))
    return sections


def problems(index: Index) -> Iterator[str]:
    """What must not be: something that no test shows, or a name that nothing has."""
    clauses = {name for section in index.clauses.values() for name in section}
    cases = {case.name: case for section in index.cases.values() for case in section}
    for name in sorted(index.tests_of.keys() - clauses - cases.keys()):
        references = ", ".join(test.reference for test in index.tests_of[name])
        yield f"{references}: {name} is neither a clause of docs/semantics.md nor a case of docs/generate/cases.tsv"
    for name in sorted(clauses - index.tests_of.keys()):
        yield f"docs/semantics.md: no test names {name}"
    for case in cases.values():
        if not case.note and case.name not in index.tests_of:
            yield f"docs/generate/cases.tsv: no test names {case.name}, and the line does not say why"
        if case.note and case.name in index.tests_of:
            yield f'docs/generate/cases.tsv: {case.name} has a test now; remove "{case.note}"'
        yield from (
            f"docs/generate/cases.tsv: {case.name} has the unknown clause {clause}"
            for clause in case.clauses.split()
            if clause not in clauses and clause != "quality"
        )
    known = {test.reference for test in index.tests}
    for source, statements in index.statements.items():
        for number, statement in enumerate(statements, 1):
            name = f"docs/generate/statements.toml: {source} {number}"
            if not statement["tests"]:
                yield f"{name} has no test"
            yield from (
                f"{name} names {test}, which does not exist" for test in statement["tests"] if test not in known
            )
            yield from (
                f"{name} names {clause}, which does not exist"
                for clause in statement["clauses"]
                if clause not in clauses
            )
            if not statement["does"].startswith(_ANSWERS):
                yield f"{name}: does must begin with one of {_ANSWERS}"


def report_problems(index: Index) -> int:
    """Says what must not be, and answers with the exit status."""
    found = list(problems(index))
    print("".join(f"{problem}\n" for problem in found), end="")
    return 1 if found else 0


def made(index: Index) -> dict[Path, str]:
    """The pages, with their content."""
    return {
        Path("docs/conformance.md"): _conformance_page(index),
        Path("docs/cases.md"): _cases_page(index),
        Path("docs/clauses.md"): _clauses_page(index),
    }


_MADE = "<!-- Made by scripts/docs; docs/generate says from what. -->\n"


def _conformance_page(index: Index) -> str:
    lines = [
        "# Conformance",
        "",
        _MADE,
        "Every statement of the two sources, what the library does, the clause of [semantics.md](semantics.md) that",
        "says so, and tests that show it. The statements are in our words and in the order of the sources: the page of",
        "Box's SDK for Swift on configuration, sections on retries and timeouts, and January's page",
        "[Retries and concurrency](https://docs.january.ai/client-sdks/ios-sdk/reference/retries-and-concurrency).",
        "",
        'Where the library differs from a statement, the third column says "Differs"; where it does more by default,',
        '"More".',
    ]
    for source in index.sources:
        lines += ["", f"## {source['title']}"]
        for number, statement in enumerate(index.statements[source["name"]], 1):
            if "section" in statement:
                lines += ["", f"### {statement['section']}", ""]
                lines += ["| no. | statement | the library | clauses | tests |", "| --- | --- | --- | --- | --- |"]
            tests = "<br>".join(_linked(reference) for reference in statement["tests"])
            cells = (
                f"{source['name']} {number}",
                statement["says"],
                statement["does"],
                " ".join(statement["clauses"]),
                tests,
            )
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _cases_page(index: Index) -> str:
    lines = [
        "# Cases",
        "",
        _MADE,
        "Faults that users of other HTTP clients, retry libraries and token caches reported, or that earlier versions",
        "of this library or libcurl had, each with the right behavior and the tests that show it. Behind the number is",
        "the clause of [semantics.md](semantics.md). Delays are without jitter.",
    ]
    for section, cases in index.cases.items():
        lines += ["", f"## {section}"]
        for case in cases:
            lines += ["", f"**{case.name}**{f' ({case.clauses})' if case.clauses else ''} {case.text}", ""]
            lines += _listed(index.tests_of.get(case.name, ())) or [f"- {case.note}"]
    return "\n".join(lines) + "\n"


def _clauses_page(index: Index) -> str:
    lines = [
        "# Clauses and their tests",
        "",
        _MADE,
        "For each clause of [semantics.md](semantics.md) the tests that name it, in their name, title or docstring. A",
        "file without names of tests names the clause as a whole. For cases (F1, F2, …) see [cases.md](cases.md); for",
        "what each folder tests, see [Tests/README.md](../Tests/README.md).",
    ]
    for section, clauses in index.clauses.items():
        lines += ["", f"## {section}"]
        for name, title in clauses.items():
            lines += ["", f"### {name} {title}", "", *_listed(index.tests_of[name])]
    return "\n".join(lines) + "\n"


def _listed(tests: Iterable[Test]) -> list[str]:
    """An item for each file, with the names of its tests."""
    lines = []
    for path, of_file in groupby(tests, lambda test: test.path):
        names = ", ".join(f"`{test.name}`" for test in of_file if test.name)
        lines.append(f"- [{path}](../{path})" + (f": {names}" if names else ""))
    return lines


def _linked(reference: str) -> str:
    path, _, name = reference.partition("::")
    return f"[{name or Path(path).name}](../{path})"


def main() -> int:
    index = read()
    status = report_problems(index)
    return made_files.write(made(index), NAMES, "--check" in sys.argv[1:]) or status


if __name__ == "__main__":
    sys.exit(main())
