"""The reference of the C interface: a page for each section of the header, in the header's words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from header_text import Declaration, Section

_FUNCTION = re.compile(r"^\w[^#\n;{]*?\bboxretry_\w+\([^;{]*\);$", re.MULTILINE)
_STRUCT = re.compile(r"^(?:typedef )?struct (\w+) \{\n(.*)^\}", re.MULTILINE | re.DOTALL)
_ENUM = re.compile(r"^enum \{\s(.*)\};$", re.MULTILINE | re.DOTALL)
_HANDLE = re.compile(r"(?:/\*\*(?P<text>.*?)\*/\n)?typedef struct (?P<name>\w+) (?P=name);", re.DOTALL)
_TYPE = re.compile(r"^typedef \w+ (\w+);$", re.MULTILINE)
_MACRO = re.compile(r"^#define (\w+(?:\([^)]*\))?)((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
_ROW = re.compile(r"^ +(?:X|ROW)\((?:X, )?(.*?)\)(?: *\\)?$", re.MULTILINE | re.DOTALL)
"""A row of a table that makes constants: constant and value, perhaps another constant and its value, name, text."""

_MEMBER = re.compile(
    r"(?P<above>/\*.*?\*/(?:\n *(?=\S)|\n+))?"
    r"\s*(?P<code>(?:[^;,(/]|\([^)]*\))+)[;,]?"
    r"(?:[ ]*/\*(?P<behind>.*?)\*/)?\s*",
    re.DOTALL,
)


@dataclass(frozen=True)
class Member:
    """A field of a struct, or a constant, with its comment; or a comment that stands alone, without code."""

    code: str
    text: str


def made(sections: list[Section]) -> dict[str, str]:
    """The pages by their names, with the page that lists them."""
    introduction, *others = sections
    pages = _Pages(sections)
    rows = "".join(f"{_key(section)}\n" for section in others)
    contents = f"```{{toctree}}\n:maxdepth: 1\n\n{rows}```\n"
    start = [f"# The C interface\n\nThe header `boxretry.h`, section by section.\n\n{contents}\n## Introduction\n"]
    texts = {f"reference/c/{_key(section)}.md": pages.page(section) for section in others}
    return texts | {"reference/c/index.md": "\n".join([*start, *pages.body(introduction)])}


def _key(section: Section) -> str:
    return re.sub(r"\W+", "-", section.title.partition(":")[0].lower())


class _Pages:
    """Knows what can be linked to."""

    def __init__(self, sections: list[Section]) -> None:
        declarations = [each for section in sections for each in section.declarations]
        self._functions = {name for each in declarations for name in each.function_names}
        self._structs = {match[1] for each in declarations for match in _STRUCT.finditer(each.code)}

    def page(self, section: Section) -> str:
        title, _, subtitle = section.title.partition(": ")
        start = f"# {title}\n" + (f"\n{subtitle[0].upper()}{subtitle[1:]}.\n" if subtitle else "")
        return "\n".join([start, *self.body(section)])

    def body(self, section: Section) -> Iterator[str]:
        if section.introduction:
            yield self._markdown(section.introduction) + "\n"
        for declaration in section.declarations:
            yield from self._described(declaration)

    def _described(self, declaration: Declaration) -> Iterator[str]:
        code, text = declaration.code, self._markdown(declaration.comment)
        functions = [" ".join(match[0].rstrip(";").split()) for match in _FUNCTION.finditer(code)]
        if functions:
            yield from _directives("c:function", functions, text)
        elif struct := _STRUCT.search(code):
            members = self._members("c:member", _members(struct[2]))
            yield _directive("c:struct", struct[1], f"{text}\n\n{members}")
        elif enum := _ENUM.search(code):
            if "_MAP(" not in enum[1]:  # Those are with their table.
                yield f"{text}\n\n{self._members('c:enumerator', _members(enum[1]))}"
        elif _HANDLE.search(code):
            for handle in _HANDLE.finditer(f"/**{declaration.comment}*/\n{code}"):
                if handle["name"] not in self._structs:
                    yield _directive("c:struct", handle["name"], self._markdown(_plain(handle["text"])))
        elif name := _TYPE.search(code):
            yield _directive("c:type", name[1], text)
        else:
            yield from self._macros(code, text)

    def _macros(self, code: str, text: str) -> Iterator[str]:
        for macro in _MACRO.finditer(code):
            name, value = macro[1], re.sub(r"\s*\\\n\s*", " ", macro[2]).strip()
            rows = [constant for row in _ROW.findall(macro[2]) for constant in _constants(row)]
            if initial := re.search(r"\bsizeof\((\w+)\)", value):
                yield _directive("c:macro", name, text or f"The initial value of a {{c:struct}}`{initial[1]}`.")
            elif rows:
                yield _directive("c:macro", name, text)
                yield self._members("c:enumerator", rows)
                return  # The other macros of a table read its rows.
            elif len(value) > 60:
                yield _directive("c:macro", name, text)
            else:
                yield _directive("c:macro", name, f"{text}\n\n```c\n#define {name} {value}\n```")
            text = ""

    def _members(self, directive: str, members: list[Member]) -> str:
        return "\n".join(
            _directive(directive, member.code, self._markdown(member.text), fence="`" * 4)
            if member.code
            else f"{self._markdown(member.text)}\n"
            for member in members
        )

    def _markdown(self, text: str) -> str:
        """A comment's text as Markdown. What is indented by four spaces is code, or a table."""
        return "\n\n".join(map(self._paragraph, re.split(r"\n\n+", text)))

    def _paragraph(self, text: str) -> str:
        if text.startswith("    "):
            language = "c" if ";" in text.split("\n")[0] else "text"
            code = re.sub(r"^    ", "", text, flags=re.MULTILINE)
            return f"```{language}\n{code}\n```"
        pieces = re.split(r"(`[^`]+`)", text)
        pieces[::2] = [self._linked(re.sub(r"([<>#*\[\]])", r"\\\1", piece)) for piece in pieces[::2]]
        return "".join(pieces)

    def _linked(self, text: str) -> str:
        text = re.sub(r"\bdocs/\w+\.md\b", r"[\g<0>](../../\g<0>)", text)
        return re.sub(
            r"\b(boxretry_\w+)\(\)",
            lambda match: f"{{c:func}}`{match[1]}`" if match[1] in self._functions else match[0],
            text,
        )


def _directive(name: str, signature: str, body: str, fence: str = "`" * 5) -> str:
    return f"{fence}{{{name}}} {signature}\n\n{body}\n{fence}\n"


def _directives(name: str, signatures: list[str], body: str) -> Iterator[str]:
    """What is declared together has its text once, at its end."""
    *others, last = signatures
    for signature in others:
        yield _directive(name, signature, "")
    yield _directive(name, last, body)


def _constants(row: str) -> list[Member]:
    """The constants that a row of a table makes, with its name and its text."""
    constants = re.findall(r"(BOXRETRY_\w+), (-?\d+)", row)
    texts = re.findall(r'"((?:[^"\\]|\\.)*)"', row)
    return [Member(f"{name} = {value}", f'"{texts[-2]}": {texts[-1]}.') for name, value in constants if len(texts) > 1]


def _members(body: str) -> list[Member]:
    """The members of a struct or an enum, in order."""
    members = []
    for match in _MEMBER.finditer(body):
        above, code = match["above"] or "", " ".join(match["code"].split())
        if re.search(r"\n\n", above):
            members.append(Member("", _plain(above)))
            above = ""
        if code:
            members.append(Member(code, "\n\n".join(filter(None, (_plain(above), _plain(match["behind"] or ""))))))
    return members


def _plain(comment: str) -> str:
    """The text of a comment in one line."""
    return " ".join(re.sub(r"^\s*/\*\*?|\*/\s*$", "", comment).split())
