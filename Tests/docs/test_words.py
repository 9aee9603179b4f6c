"""The check of phrases in public texts finds each phrase, and nothing else. This needs no build."""

from __future__ import annotations

from pathlib import Path

import pytest
import words

ROOT = Path(__file__).resolve().parents[2]

each_phrase = pytest.mark.parametrize(
    ("text", "name"),
    [
        ("A redirect is no success.", "is no"),
        ("A redirect\nis no success.", "is no"),
        ("/**\n * A redirect is\n * no success.\n */", "is no"),
        ("a port that is none", "is none"),
        ("Whoever asks first gets it.", "whoever"),
        ("whatever its length", "whatever"),
        ("It waits for ever.", "for ever"),
        ("one token, for good", "for good"),
        ("Only so many run at once.", "so many"),
        ("The waiter is told.", "is told"),
        ("what is said of it", "is said"),
        ("which no retry would mend", "mend"),
        ("The fetch goes on.", "goes on"),
        ("a thread of its own", "of its own"),
        ("a strategy of one's own", "of its own"),
        ("one's own strategy", "one's own"),
        ("no request at all", "at all"),
        ("No token can be had.", "could be had"),
        ("what comes of it", "come of"),
        ("what a call comes to", "come to"),
        ("as it were", "as it were"),
        ("with ctypes and nothing but that", "nothing but"),
        ("headers and the like", "the like"),
        ("It stands in the record.", "stands in"),
        ("The bytes lie in memory.", "lies in"),
        ("nobody is told", "nobody"),
        ("be it a file or a callback", "be it"),
        ("It says nothing of the token.", "nothing of"),
        ("finishes into nothing", "into nothing"),
        ("It begins anew.", "anew"),
        ("It fails all the same.", "all the same"),
        ("It waits — and fails.", "dash"),
        ("The call was cancelled.", "British: cancelled"),
        ("its behaviour", "British: -our"),
        ("Initialise each struct.", "British: -ise"),
        ("the licence", "British: licence"),
        ("lest it fail", "whence"),
    ],
)


@each_phrase
def test_a_phrase_is_found(text: str, name: str) -> None:
    assert name in [found.phrase.name for found in words.find(text)]


def test_each_phrase_has_an_example() -> None:
    assert {name for _, name in each_phrase.args[1]} == {phrase.name for phrase in words.PHRASES}


@pytest.mark.parametrize(
    "text",
    [
        "If there is no response, the call fails.",
        "The token is no longer valid.",
        "The port is no less than 1.",
        "There is none.",
        "The default is none.",
        "`x is None`",
        "The answer is no.",
        "There were so many errors that it stopped.",
        "the rules go on the next page",
        "most of its own memory",
        "at all times",
        "for good reasons",
        "Numbers tell them apart.",
        "It stands in for a server.",
        "They are all the same.",
        'X(BOXRETRY_ERROR_CANCELLED, 11, "cancelled", "the call was canceled")',
        "an em dash in a cell: | — |",
        "A paragraph ends with is\n\nno other begins.",
    ],
)
def test_other_texts_pass(text: str) -> None:
    assert [(found.phrase.name, found.text) for found in words.find(text)] == []


def test_the_line_is_that_of_the_phrase() -> None:
    (found,) = words.find("One.\nTwo.\nIt is\nno success.\n")
    assert (found.line, found.text) == (3, "is no success")


def test_code_spans_of_markdown_and_code_of_python_are_not_checked(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("The state `cancelled`, see [it](cancelled.md).\n")
    assert list(words.find(words.prose(page))) == []
    page.write_text("The `call` was cancelled.\n")
    assert [found.line for found in words.find(words.prose(page))] == [1]
    module = tmp_path / "module.py"
    module.write_text('"""Text."""\n\ncancelled = "whatever"\n\n\ndef f() -> None:\n    """It is\n    cancelled."""\n')
    assert [found.line for found in words.find(words.prose(module))] == [8]


@pytest.mark.parametrize("suffix", [".c", ".swift"])
def test_comments_and_texts_of_code_are_checked(suffix: str, tmp_path: Path) -> None:
    source = tmp_path / f"source{suffix}"
    source.write_text('int cancelled = 4 / 2; // It is\n// no success.\n/* Whoever\n asks. */ f("goes on", "/", 1);\n')
    found = [(each.line, each.phrase.name) for each in words.find(words.prose(source))]
    assert found == [(1, "is no"), (3, "whoever"), (4, "goes on")]


def test_the_clean_files_exist_and_scripts_lint_checks_them() -> None:
    assert [glob for glob in words.CLEAN if not list(ROOT.glob(glob))] == []
    assert "docs/generate/words.py" in (ROOT / "scripts/lint").read_text()
