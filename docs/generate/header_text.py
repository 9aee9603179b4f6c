"""Reads the public header as what it is, a manual: sections, and declarations with their comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BANNER = re.compile(r"^/\* =+\n(?P<text>.*?)\n \* =+ \*/$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"^/\*\*.*?\*/\n", re.DOTALL)
_INTERNAL = re.compile(r"^(#if|#endif|#include|extern \"C\"|\}|/\* clang-format)")


@dataclass(frozen=True)
class Declaration:
    """What is declared together, without a blank line between, and the comment above it."""

    code: str
    comment: str

    @property
    def function_names(self) -> list[str]:
        """The functions that are declared here."""
        return re.findall(r"^\w[^#\n]*?\b(boxretry_\w+)\([^;]*\);$", self.code, re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """A section of the header."""

    title: str
    introduction: str
    declarations: list[Declaration]


def read(header: Path) -> list[Section]:
    """The sections of the header, in order."""
    text = header.read_text()
    banners = list(_BANNER.finditer(text))
    sections = []
    for banner, following in zip(banners, [*banners[1:], None]):
        title, _, introduction = _without_stars(banner["text"]).partition("\n")
        body = text[banner.end() : following.start() if following else len(text)]
        sections.append(Section(title, introduction.strip("\n"), list(_declarations(body))))
    return sections


def _declarations(body: str) -> Iterator[Declaration]:
    # A struct may have blank lines in it; the lines after them are indented.
    for block in re.split(r"\n\n+(?! )", body.strip()):
        comment = _COMMENT.match(block)
        code = block[comment.end() :] if comment else block
        code = re.sub(r"^/\* clang-format \w+ \*/\n?", "", code, flags=re.MULTILINE).rstrip()
        if not code or (not comment and _INTERNAL.match(code)):
            continue
        yield Declaration(re.sub(r" +\\$", " \\\\", code, flags=re.MULTILINE), _text_of(comment[0] if comment else ""))


def _without_stars(text: str) -> str:
    return re.sub(r"^ \* ?", "", text, flags=re.MULTILINE)


def _text_of(comment: str) -> str:
    text = comment.strip().removeprefix("/**").removesuffix("*/")
    return _without_stars(text).strip()
