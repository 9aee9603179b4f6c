"""SECURITY.md: each of its promises names what shows it, and that is there."""

from __future__ import annotations

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
TEXT = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")


def rows() -> list[tuple[str, str]]:
    """The promises, and what shows them."""
    found = re.findall(r"^\| (.+?) \| (.+?) \|$", TEXT, re.MULTILINE)
    return [row for row in found if row[0] not in ("promise", "---")]


def test_each_promise_names_what_shows_it() -> None:
    assert len(rows()) >= 15
    for promise, shown_by in rows():
        assert re.search(r"`(?:bindings/python/)?[Tt]ests/", shown_by), promise


def test_what_is_named_is_there() -> None:
    for promise, shown_by in rows():
        sources = ""
        for path in re.findall(r"`((?:bindings/python/)?[Tt]ests/[\w/.]+)`", shown_by):
            assert (REPOSITORY / path).exists(), (promise, path)
            if path.endswith(".py"):
                sources += (REPOSITORY / path).read_text(encoding="utf-8")
        for name in re.findall(r"`(test_\w+)\.py`", shown_by):
            sources += (REPOSITORY / "Tests" / "engine" / f"{name}.py").read_text(encoding="utf-8")
        for name in re.findall(r"`(test_\w+)(?:_…)?`", shown_by):
            assert f"def {name}" in sources, (promise, name)
