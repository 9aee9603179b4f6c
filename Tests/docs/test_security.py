"""Each guarantee in SECURITY.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
TEXT = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")


def rows() -> list[tuple[str, str]]:
    """The guarantees, and their tests."""
    found = re.findall(r"^\| (.+?) \| (.+?) \|$", TEXT, re.MULTILINE)
    return [row for row in found if row[0] not in ("guarantee", "---")]


def test_each_guarantee_names_tests() -> None:
    assert len(rows()) >= 15
    for guarantee, checked_by in rows():
        assert re.search(r"`(?:bindings/python/)?[Tt]ests/", checked_by), guarantee


def test_the_named_tests_exist() -> None:
    for guarantee, checked_by in rows():
        sources = ""
        for path in re.findall(r"`((?:bindings/python/)?[Tt]ests/[\w/.]+)`", checked_by):
            assert (REPOSITORY / path).exists(), (guarantee, path)
            if path.endswith(".py"):
                sources += (REPOSITORY / path).read_text(encoding="utf-8")
        for name in re.findall(r"`(test_\w+)\.py`", checked_by):
            sources += (REPOSITORY / "Tests" / "engine" / f"{name}.py").read_text(encoding="utf-8")
        for name in re.findall(r"`(test_\w+)(?:_…)?`", checked_by):
            assert f"def {name}" in sources, (guarantee, name)
