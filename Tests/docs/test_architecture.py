"""docs/architecture.md and docs/glossary.md name files and terms that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text()
TERMS = re.findall(r"^\| ([^|]+?) \| .* \|$", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)


def test_the_files_that_the_architecture_names_exist() -> None:
    names = re.findall(r"`((?:Sources|Tests|include|bindings|docs)/[\w./+-]+)`", ARCHITECTURE)
    assert len(names) > 30
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_the_types_and_functions_that_the_architecture_names_exist() -> None:
    python = (ROOT / "bindings/python/src").rglob("*.py")
    sources = "".join(path.read_text() for path in (*(ROOT / "Sources").rglob("*.swift"), *python))
    header = (ROOT / "include/boxretry.h").read_text()
    types = set(re.findall(r"`([A-Z][a-z]+[A-Z]\w+)`", ARCHITECTURE))
    assert {"CallMachine", "TransportEnd"} <= types
    assert [name for name in types if not re.search(rf"\b{name}\b", sources)] == []
    functions = re.findall(r"`(boxretry_\w+)\(\)`", ARCHITECTURE)
    assert functions
    assert [name for name in functions if f"{name}(" not in header] == []


@pytest.fixture(scope="module")
def words() -> str:
    """The header and the sources as one line of lower case, without the marks of comments."""
    files = [ROOT / "include/boxretry.h", *(ROOT / "Sources").rglob("*.[ch]"), *(ROOT / "Sources").rglob("*.swift")]
    text = "\n".join(path.read_text() for path in files)
    return " ".join(re.sub(r"^\s*(?:///?|\*|/\*\*?)", " ", text, flags=re.MULTILINE).split()).lower()


def test_each_term_of_the_glossary_occurs_in_the_header_or_the_sources(words: str) -> None:
    terms = [term for term in TERMS if term not in ("term", "---")]
    assert len(terms) > 40
    assert [term for term in terms if not re.search(rf"\b{re.escape(term)}", words)] == []
