"""docs/libcurl-versions.md: the results of a run with several versions of libcurl; is the page up to date?"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

HEAD = """# Versions of libcurl

The library uses the libcurl that the loader finds, 7.87 or newer. A run of `Tests/libcurls/run --write-report` makes
this page; `Tests/libcurls/run --long` fails if the page contradicts it. Each version runs the same tests with the same
build of the library. `scripts/libcurl` builds the versions against one OpenSSL and one nghttp2: from Debian's source
packages, or (upstream) from the source tree of curl's own release. A fault has the same outcome with each version
(W10), except for [these differences](#what-differs), where libcurl does not let the library do better."""

DIFFERENCES = """Some tests are known to fail, for these reasons; "yes" means with this version. The run fails if they
pass."""

YES = "yes"


@dataclass
class Result:
    """Of a suite, with one version."""

    passed: int = 0
    failed: int = 0
    #: Reasons why tests fail as expected.
    differences: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed" if self.passed or self.failed else "not run"


@dataclass
class Run:
    """All suites with one version."""

    package: str
    used_by: str
    suites: dict[str, Result]

    @property
    def differences(self) -> set[str]:
        return {reason for suite in self.suites.values() for reason in suite.differences}


def made(runs: dict[str, Run], missing: list[str]) -> str:
    """The page. `runs`: by version, each with the same suites. `missing`: a sentence for each version without a run."""
    suites = next(iter(runs.values())).suites
    results = [["libcurl", "Debian's package", "for", *suites]]
    results += [[version, run.package, run.used_by, *map(str, run.suites.values())] for version, run in runs.items()]
    reasons = sorted({reason for run in runs.values() for reason in run.differences})
    differences = [["reason", *runs]]
    differences += [
        [reason, *(YES if reason in run.differences else "" for run in runs.values())] for reason in reasons
    ]
    parts = [HEAD, "## What was run", _table(results), *missing, "## What differs", DIFFERENCES, _table(differences)]
    return "\n\n".join(parts) + "\n"


def out_of_date(page: str, runs: dict[str, Run]) -> list[str]:
    """Where the page contradicts the runs.

    The page may have more versions, other numbers of tests that passed, and other revisions of Debian's packages.
    """
    said = _said(page)
    problems = []
    for version, run in runs.items():
        if version not in said:
            problems.append(f"there is nothing about libcurl {version}")
            continue
        true = _facts(run)
        problems += [f"libcurl {version}: is missing: {fact}" for fact in sorted(true - said[version])]
        problems += [f"libcurl {version}: is not true: {fact}" for fact in sorted(said[version] - true)]
    return problems


def _facts(run: Run) -> set[str]:
    return {f"{name}: {suite.failed} failed" for name, suite in run.suites.items()} | run.differences


def _said(page: str) -> dict[str, set[str]]:
    """The facts on a page, by version."""
    tables = [_rows(part) for part in page.split("\n\n")]
    said: dict[str, set[str]] = {}
    for row in (row for table in tables for row in table if "libcurl" in row):
        failures = {suite: re.search(r"\d+ failed$", cell) for suite, cell in row.items()}
        said[row["libcurl"]] = {f"{suite}: {failed[0]}" for suite, failed in failures.items() if failed}
    for row in (row for table in tables for row in table if "reason" in row):
        for version in said.keys() & {version for version, cell in row.items() if cell == YES}:
            said[version].add(row["reason"])
    return said


def _rows(part: str) -> list[dict[str, str]]:
    """The rows of a table, each by the heads of its columns; nothing of other text."""
    lines = [line[2:-2].split(" | ") for line in part.strip().split("\n") if line.startswith("| ")]
    return [dict(zip(lines[0], line)) for line in lines[2:]]


def _table(rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [rows[0], ["---"] * len(rows[0]), *rows[1:]])
