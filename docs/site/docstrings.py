"""Docstrings as reStructuredText. They are plain text: paragraphs, doctests, and arguments in the form `name: text`."""

from __future__ import annotations

import inspect
import re
from itertools import groupby

_ARGUMENT = re.compile(r"^([*\w]+(?:, [*\w]+)*): (?=\S)")


def adapt(app: object, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """For Sphinx's event autodoc-process-docstring: changes the lines in place."""
    if isinstance(value, type) and _is_of_a_public_base(value, "\n".join(lines).strip()):
        lines.clear()
    paragraphs = [list(group) for is_text, group in groupby(lines, lambda line: bool(line.strip())) if is_text]
    lines[:] = [line for paragraph in paragraphs for line in [*_paragraph(paragraph), ""]]


def _is_of_a_public_base(value: type, text: str) -> bool:
    """Whether this is the constructor's docstring, and is shown with a base class already."""
    bases = (base for base in value.__mro__[1:] if not base.__name__.startswith("_"))
    constructor = getattr(value, "__init__")  # noqa: B009  # mypy takes value.__init__ for unsound.
    return text == inspect.getdoc(constructor) and any(getattr(base, "__init__") is constructor for base in bases)  # noqa: B009


def show_public_bases(app: object, name: str, value: object, options: object, bases: list[object]) -> None:
    """For Sphinx's event autodoc-process-bases: shows the nearest public base instead of a private one."""
    bases[:] = [_public(base) if isinstance(base, type) else base for base in bases]


def _public(base: type) -> type:
    return next(each for each in base.__mro__ if not each.__name__.startswith("_"))


def _paragraph(lines: list[str]) -> list[str]:
    """Arguments become a list of definitions. A sentence about all of them may follow."""
    made: list[str] = []
    arguments: list[str] = []
    for position, line in enumerate(lines):
        if line.startswith(" ") and arguments:
            arguments[-1] += f" {line.strip()}"
        elif _ARGUMENT.match(line) or line.endswith(","):
            arguments.append(line)
        else:
            made = lines[position:]
            break
    matches = [_ARGUMENT.match(argument) for argument in arguments]
    if not matches or not all(matches):
        return lines
    definitions = [(match[1], argument[match.end() :]) for match, argument in zip(matches, arguments) if match]
    return [line for names, text in definitions for line in (f"``{names}``", f"    {text}", "")] + made
