"""Doxygen's view of the header (its INPUT_FILTER): sections become groups, comments of fields become theirs.

The header is written to be read as it stands, so it has none of Doxygen's marks.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_BANNER = re.compile(r"^/\* =+\n(?P<text>.*?)\n \* =+ \*/$", re.MULTILINE | re.DOTALL)
_BEHIND = re.compile(r"^(?P<code>  [^/*\n].*[;,]|  BOXRETRY_\w+ = \d+) +/\* ", re.MULTILINE)
_ABOVE = re.compile(r"^  /\* (?=(?:(?!\*/).)*\*/\n  \S)", re.MULTILINE | re.DOTALL)
"""A comment above a field."""


def _group(banner: re.Match[str]) -> str:
    title, _, text = re.sub(r"^ \* ?", "", banner["text"], flags=re.MULTILINE).partition("\n")
    if title == "Introduction":
        return f"/** @mainpage libboxretry\n{_escaped(text)}\n*/"
    name, _, subtitle = title.partition(": ")
    key = re.sub(r"\W+", "_", name.lower())
    brief = f"@brief {subtitle[0].upper()}{subtitle[1:]}." if subtitle else ""
    return f"/** @}} */\n/** @defgroup {key} {name}\n{_escaped(f'{brief}{chr(10) * 2}{text}')}\n@{{ */"


def _escaped(text: str) -> str:
    """Without what Doxygen would take for HTML or a link."""
    return re.sub(r"([<>#])", r"\\\1", text)


def filtered(header: str) -> str:
    """The header as Doxygen gets it; near enough in its lines for the places of warnings."""
    text = _BANNER.sub(_group, header)
    text = text.replace("/** @} */\n", "", 1)  # Before the first group there is none to end.
    text = _BEHIND.sub(r"\g<code> /**< ", text)
    text = _ABOVE.sub("  /** ", text)
    text = re.sub(
        r"^/\*\*.*?\*/", lambda comment: comment[0].replace("#if", "\\#if"), text, flags=re.MULTILINE | re.DOTALL
    )
    last = "#ifdef __cplusplus\n}"
    head, _, tail = text.rpartition(last)
    return f"/** @file\n@brief The whole interface. */\n{head}/** @}} */\n\n{last}{tail}"


if __name__ == "__main__":
    print(filtered(Path(sys.argv[1]).read_text()), end="")
