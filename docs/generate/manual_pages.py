"""Manual pages: one for the tool, one for each command, and one for the library."""

from __future__ import annotations

import re
from itertools import groupby

from header_text import Declaration, Section
from tool_help import Command, Option, Tool

_TITLE = re.compile(r"^([A-Z][\w ]*?)(?:, [^:\n]*)?:(?= |\n)")
"""How a paragraph begins that becomes a section: "Examples:", "JSON, an object with:"."""


def quoted(text: str) -> str:
    """Text as it stands, for troff."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def _title(page: str, section: int, version: str, manual: str) -> str:
    title = f'.TH {quoted(page.upper())} {section} "" "libboxretry {version}" "{manual}"'
    return f'.\\" Made by scripts/docs; not to be edited.\n{title}\n'


def _as_it_stands(text: str) -> str:
    return f".nf\n{quoted(text)}\n.fi\n"


def _option(option: Option) -> str:
    forms = [f"\\fB\\-{option.letter}\\fR"] if option.letter else []
    forms.append(f"\\fB{quoted('--' + option.name)}\\fR")
    value = f" \\fI{quoted(option.value)}\\fR" if option.value else ""
    return f".TP\n{', '.join(forms)}{value}\n{quoted(option.help)}.\n"


def _details(command: Command) -> str:
    text = ""
    before = "OPTIONS"
    for paragraph in command.details:
        title = _TITLE.match(paragraph)
        if not title:
            text += ".PP\n" if before == "NOTES" else ".SH NOTES\n"
            text += _as_it_stands(paragraph)
            before = "NOTES"
            continue
        before = title[1]
        is_bare = paragraph[title.end(1)] == ":"
        rest = paragraph[title.end() :].lstrip(" ").removeprefix("\n") if is_bare else paragraph
        text += f'.SH "{title[1].upper()}"\n{_as_it_stands(rest)}'
    return text


def _see_also(pages: list[str], own: str) -> str:
    others = [f".BR {quoted(page)} ({3 if page == 'libboxretry' else 1})" for page in pages if page != own]
    return ".SH SEE ALSO\n" + ",\n".join(others) + "\n"


def _command_page(tool: Tool, command: Command, pages: list[str]) -> str:
    page = f"boxretry-{command.name}" if command.name else "boxretry"
    program, _, arguments = command.usage.partition(" [OPTION]")
    text = _title(page, 1, tool.version, "User commands")
    text += f".SH NAME\n{quoted(page)} \\- {quoted(command.summary[0].lower() + command.summary[1:].rstrip('.'))}\n"
    text += f".SH SYNOPSIS\n\\fB{quoted(program)}\\fR [\\fIOPTION\\fR]{quoted(arguments)}\n"
    if not command.name:
        text += ".SH COMMANDS\n"
        for each in tool.commands:
            text += f".TP\n.BR {quoted('boxretry-' + each.name)} (1)\n{quoted(each.summary)}\n"
    text += ".SH OPTIONS\n"
    for group, options in groupby(command.options, lambda option: option.group):
        text += f'.SS "{quoted(group[0].upper() + group[1:])}"\n' if group else ""
        text += "".join(map(_option, options))
    return text + _details(command) + _see_also(pages, page)


def tool_pages(tool: Tool) -> dict[str, str]:
    """The pages of the tool, by file name."""
    pages = ["boxretry", *(f"boxretry-{command.name}" for command in tool.commands), "libboxretry"]
    commands = [tool.main, *tool.commands]
    return {f"{page}.1": _command_page(tool, command, pages) for page, command in zip(pages, commands)}


def _paragraphs(text: str) -> str:
    """Text in paragraphs. What is indented stays as it is."""
    made = []
    for paragraph in text.split("\n\n"):
        is_code = paragraph.startswith("    ") or re.search(r"^(\d\.| {3})", paragraph, re.MULTILINE)
        made.append(_as_it_stands(paragraph) if is_code else quoted(paragraph) + "\n")
    return ".PP\n".join(made)


def _declaration(declaration: Declaration) -> str:
    text = f".PP\n.nf\n\\fB{quoted(declaration.code)}\\fR\n.fi\n"
    return text + (f".RS 4\n{_paragraphs(declaration.comment)}.RE\n" if declaration.comment else "")


def library_page(sections: list[Section], version: str) -> str:
    """The manual of the library: all of the header."""
    introduction, *others = sections
    text = _title("libboxretry", 3, version, "Library functions")
    text += ".SH NAME\nlibboxretry \\- the right retries, timeouts and access tokens for HTTP APIs\n"
    text += ".SH SYNOPSIS\n.nf\n\\fB#include <boxretry.h>\\fR\n\n"
    text += "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs boxretry)\n.fi\n"
    text += f".SH DESCRIPTION\n{_paragraphs(introduction.introduction)}"
    text += "".join(map(_declaration, introduction.declarations))
    for section in others:
        title, _, subtitle = section.title.partition(": ")
        text += f'.SH "{quoted(title.upper())}"\n'
        if subtitle:
            text += quoted(subtitle[0].upper() + subtitle[1:]) + ".\n"
        if section.introduction:
            text += ".PP\n" + _paragraphs(section.introduction)
        text += "".join(map(_declaration, section.declarations))
    return text + ".SH SEE ALSO\n.BR boxretry (1),\n.BR libcurl (3)\n"
