"""The pages that lead to tests are up to date, and what no test shows is found. This needs no build."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest
import test_pages
from known_tests import tags_in
from test_pages import Case, Index

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def index() -> Index:
    return test_pages.read()


def test_each_statement_clause_and_case_has_its_tests(index: Index) -> None:
    assert list(test_pages.problems(index)) == []


@pytest.mark.parametrize("name", test_pages.NAMES)
def test_a_page_is_up_to_date(index: Index, name: str) -> None:
    made = test_pages.made(index)[Path("docs", name)]
    assert (ROOT / "docs" / name).read_text() == made, "run python docs/generate/test_pages.py"


def test_the_contents_of_the_semantics_list_each_clause(index: Index) -> None:
    text = (ROOT / "docs/semantics.md").read_text()
    contents = re.findall(r"^- \[([^\]]+)\]\(#[^)]*\):((?:[^\n]*\n  )*[^\n]*)", text, re.MULTILINE)
    listed = {section: " ".join(clauses.split()) for section, clauses in contents}
    assert listed == {
        section: ", ".join(f"{name} {title}" for name, title in clauses.items())
        for section, clauses in index.clauses.items()
    }


def test_both_sources_are_there_whole(index: Index) -> None:
    """The number of statements in the sources; check by hand if it changes."""
    assert {source: len(statements) for source, statements in index.statements.items()} == {"Box": 51, "January": 30}


@pytest.mark.parametrize(
    ("reference", "tag"),
    [
        ("Tests/RetryCoreTests/BackoffTests.swift::firstDelay", "F25"),
        ("Tests/engine/test_retries.py::test_f4_f5_f8_values_of_retry_after", "F5"),
        ("Tests/engine/test_settings.py::test_retry_safety", "B12"),
        ("Tests/model/test_cases.py::test_case_from_the_field", "F35"),
        ("Tests/races/race_calls.c::free_against_callback", "F98"),
        ("Tests/c/token_memory.c", "F80"),
        ("Tests/matrix/expectations.py::redirect_to_a_retried_status", "F12"),
        ("bindings/python/tests/test_token.py::test_f128b_serve_stale_does_not_wait_for_retries", "F128b"),
    ],
)
def test_what_a_test_names_is_found(index: Index, reference: str, tag: str) -> None:
    """In its title, its name, its docstring, the names of its parameters, the comment above it, that of its file."""
    assert reference in [test.reference for test in index.tests_of[tag]]


def test_the_readme_of_the_tests_has_each_folder_and_suite_and_its_links_lead_somewhere() -> None:
    text = (ROOT / "Tests/README.md").read_text()
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert [link for link in links if not (ROOT / "Tests" / link).exists()] == []
    folders = {path.parts[1] for path in tracked("Tests") if len(path.parts) > 2}
    assert folders - set(links) == set()
    suites = re.findall(r"^suites='(.*)'$", (ROOT / "scripts/test").read_text(), re.MULTILINE)[0].split()
    assert [suite for suite in suites if f"`{suite}`" not in text] == []


def tracked(folder: str) -> list[Path]:
    """What the repository has there."""
    listed = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [Path(name) for name in listed.splitlines()]


def test_a_range_of_cases_and_an_escape_name_nothing() -> None:
    assert tags_in("F30 to F36, K1") == {"K1"}
    assert tags_in("%C3%A9 \\xC5 HTTP2 ABI1") == set()


def add_a_tag(index: Index) -> None:
    index.tests_of["B99"] = [index.tests[0]]


def take_a_test_away(index: Index) -> None:
    del index.tests_of["F40"]


def take_a_clause_s_tests_away(index: Index) -> None:
    del index.tests_of["K3"]


def note_what_has_a_test(index: Index) -> None:
    index.cases["Backoff and options"].append(Case("F25", "B6", "The first delay.", "No test yet."))


def name_a_test_that_does_not_exist(index: Index) -> None:
    index.statements["Box"][3]["tests"].append("Tests/engine/test_retries.py::test_nothing")


def name_no_test(index: Index) -> None:
    index.statements["January"][29]["tests"] = []


def do_not_describe_what_it_does(index: Index) -> None:
    index.statements["Box"][50]["does"] = "Yes."


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (add_a_tag, ": B99 is neither a clause"),
        (take_a_test_away, "no test names F40"),
        (take_a_clause_s_tests_away, "no test names K3"),
        (note_what_has_a_test, "F25 has a test now"),
        (
            name_a_test_that_does_not_exist,
            "Box 4 names Tests/engine/test_retries.py::test_nothing, which does not",
        ),
        (name_no_test, "January 30 has no test"),
        (do_not_describe_what_it_does, "Box 51: does must begin with"),
    ],
)
def test_what_is_wrong_is_found(index: Index, change: Callable[[Index], None], says: str) -> None:
    wrong = deepcopy(index)
    change(wrong)
    assert [problem for problem in test_pages.problems(wrong) if says in problem]
