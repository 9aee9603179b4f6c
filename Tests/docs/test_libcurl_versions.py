"""docs/libcurl-versions.md is what Tests/libcurls/run would write, and a page that is out of date is noticed (W10)."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from versions_page import Result, Run, made, out_of_date

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/libcurl-versions.md"


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    """Tests/libcurls/run, whose name has no ending."""
    loader = importlib.machinery.SourceFileLoader("libcurls_run", str(ROOT / "Tests/libcurls/run"))
    spec = importlib.util.spec_from_loader("libcurls_run", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def a_run(**results: Result) -> Run:
    return Run("1-1", "somebody", results)


OLD = a_run(engine=Result(10, 0, {"no reset"}), tool=Result(2, 0))
NEW = a_run(engine=Result(11, 0), tool=Result(2, 0, {"no text"}))
BOTH = {"8.5.0": OLD, "8.22.0": NEW}


def test_a_page_says_what_its_runs_were() -> None:
    assert out_of_date(made(BOTH, ["Could not be had: 8.14.1."]), BOTH) == []


def test_a_page_may_have_versions_that_were_not_run() -> None:
    assert out_of_date(made(BOTH, []), {"8.22.0": NEW}) == []


def test_a_page_may_have_other_numbers_of_tests_that_passed() -> None:
    assert out_of_date(made(BOTH, []), {"8.22.0": a_run(engine=Result(99, 0), tool=Result(3, 0, {"no text"}))}) == []


@pytest.mark.parametrize(
    ("run", "problem"),
    [
        (a_run(engine=Result(11, 1), tool=Result(2, 0, {"no text"})), "is missing: engine: 1 failed"),
        (a_run(engine=Result(11, 0, {"late"}), tool=Result(2, 0, {"no text"})), "is missing: late"),
        (a_run(engine=Result(11, 0), tool=Result(2, 0)), "is not true: no text"),
        (a_run(**NEW.suites, matrix=Result(5, 0)), "is missing: matrix: 0 failed"),
        (a_run(engine=Result(11, 0, {"no text"})), "is not true: tool: 0 failed"),
    ],
    ids=["a failure", "a new difference", "a difference that is gone", "a new suite", "a suite that is gone"],
)
def test_a_page_that_contradicts_a_run_is_out_of_date(run: Run, problem: str) -> None:
    assert f"libcurl 8.22.0: {problem}" in out_of_date(made(BOTH, []), {"8.22.0": run})


@pytest.mark.parametrize("page", ["", made({"8.5.0": OLD}, [])], ids=["no page", "without that version"])
def test_a_page_that_lacks_a_version_is_out_of_date(page: str) -> None:
    assert out_of_date(page, {"8.22.0": NEW}) == ["there is nothing about libcurl 8.22.0"]


def test_the_page_has_every_version_and_every_suite(runner: ModuleType) -> None:
    text = PAGE.read_text()
    (head,) = (line for line in text.split("\n") if line.startswith("| libcurl |"))
    assert head.strip("| ").split(" | ")[3:] == list(runner.SUITES)
    for wanted, used_by in runner.VERSIONS.items():
        assert f"| {used_by} |" in text or f"Could not be had: {wanted}" in text


def test_nothing_on_the_page_has_failed() -> None:
    lines = [line for line in PAGE.read_text().split("\n") if " failed |" in line]
    assert len(lines) > 1
    for line in lines:
        assert line.count(" passed, 0 failed |") == line.count(" failed |"), line
