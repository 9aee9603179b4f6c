"""Finds phrases in public texts that we do not write, and says what to write instead. scripts/lint runs it.

python docs/generate/words.py [FILE…]: checks these files, or all files in CLEAN. Exit status 1 if it finds a phrase.

In Markdown, code spans and the targets of links are not checked. In Python only docstrings and comments are checked, in
Swift and C only comments and string literals.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from made_files import ROOT

_PYTHON = ("abi", "adapters", "docs", "engine", "exhaustion", "fuzz", "matrix", "model", "package", "server", "tool")
_C = ("abi", "c", "engine", "exhaustion", "fuzz", "races", "tool", "valgrind")
_SWIFT = ("BoxRetryTests", "RetryCoreTests", "TestSupport", "fuzz", "model")
"""Folders of tests, by language."""

CLEAN = (
    "*.md",
    "docs/*.md",
    "docs/man/*",
    "docs/programs/*",
    "docs/generate/*.py",
    "docs/site/*",
    "include/boxretry.h",
    "bindings/python/**/*.py",
    "Sources/BoxRetry/*.swift",
    "Sources/CShims/**/*.[ch]",
    "Sources/CurlEngine/**/*.swift",
    "Sources/RetryCore/**/*.swift",
    "bindings/c/*.c",
    "bindings/c/*/*.[ch]",
    "bindings/python/README.md",
    "bench/**/*.[chmp]*",
    "Tests/**/*.md",
    *(f"Tests/{folder}/**/*.py" for folder in _PYTHON),
    *(f"Tests/{folder}/**/*.[ch]" for folder in _C),
    *(f"Tests/{folder}/**/*.swift" for folder in _SWIFT),
    "Tests/**/*.sh",
    "Tests/CurlEngineTests/*.swift",
)
"""Files that must not contain any of the phrases. Add files when they are rewritten."""


@dataclass(frozen=True)
class Phrase:
    """A phrase to avoid. A space in `pattern` also matches the end of a line, and the mark of a comment behind it."""

    name: str
    pattern: str
    instead: str


PHRASES = (
    Phrase(
        "is no",
        r"(?<!\bthere )\b(?:is|are|was|were) no (?!(?:more|less|fewer|different|better|worse|need|longer|shorter|larger"
        r"|smaller|higher|lower|faster|slower|later|earlier)\b)\w+",
        'write "is not a …", or "does not …"',
    ),
    Phrase(
        "is none", r"(?<!\bthere )(?<!\bdefault )\b(?:is|are|was|were) (?-i:none)\b(?! of the\b)", 'write "is not a …"'
    ),
    Phrase("whoever", r"\bwho(?:so)?ever\b", "name them: the caller, a thread, users"),
    Phrase("whatever", r"\bwhatever\b", 'write "any …", "every …", or "… does not matter"'),
    Phrase("whence", r"\b(?:thereof|therein|hereby|whence|thither|wherein|lest)\b", "use a modern word"),
    Phrase("for ever", r"\bfor ever\b", 'write "without limit", or "forever"'),
    Phrase("for good", r"\bfor good\b(?! reasons?\b)", 'write "permanently", or "that never …"'),
    Phrase("so many", r"\bso (?:many|much)\b(?! (?:[\w-]+ ){0,3}that\b)", "state the number, or say how it is limited"),
    Phrase("is told", r"\b(?:is|are|was|were|be|been) told\b", 'write "gets …", or say who reports what'),
    Phrase("is said", r"\b(?:is|are|was|were|be|been) said\b", "say who states it"),
    Phrase("mend", r"\bmend(?:s|ed|ing)?\b", 'write "fix"'),
    Phrase(
        "goes on",
        r"\b(?:go|goes|going|went|gone) on\b(?! (?:the|an?|its|this|that|one|each|every|another|top)\b)",
        'write "continues"',
    ),
    Phrase(
        "of its own",
        r"\bof (?:its|their|his|one's) own"
        r"(?=[.,;:)]| ?(?:\n|$)| (?:in|on|to|at|for|with|and|or|that|which|by|from|while|is|are)\b)",
        'write "its own …", or "a separate …"',
    ),
    Phrase("one's own", r"(?<!\bof )\bone's own\b", 'write "your own"'),
    Phrase("at all", r"\bat all\b(?! (?:times|levels|costs)\b)", "leave it out"),
    Phrase("could be had", r"\b(?:can|could|may|might|to) be had\b", 'write "is available", or "can be obtained"'),
    Phrase("come of", r"\b(?:comes?|came|becomes?|became) of\b", 'write "the result of", or "happens to"'),
    Phrase("come to", r"\bwhat (?:\w+ ){1,4}(?:comes?|came) to\b", 'write "the result of …"'),
    Phrase("as it were", r"\bas it were\b", "leave it out"),
    Phrase("nothing but", r"\b(?:nothing|none|no one) but\b", 'write "only"'),
    Phrase("the like", r"\b(?:and|or) the like\b", 'write "and similar"'),
    Phrase("stands in", r"\bstands? (?:in(?! for\b)|there|here)\b", 'write "is in"'),
    Phrase("lies in", r"\blies? (?:in|on|there|here|beside)\b", 'write "is in"'),
    Phrase("nobody", r"\bnobody\b", 'say who does not: "no thread", "the caller does not"'),
    Phrase("be it", r"\bbe it (?:an?|the|in|on)\b", 'write "whether … or …"'),
    Phrase("nothing of", r"\b(?:say|says|said|know|knows|known|show|shows) nothing of\b", 'write "does not say …"'),
    Phrase("into nothing", r"\binto nothing\b", 'write "its result is discarded"'),
    Phrase("anew", r"\banew\b", 'write "again"'),
    Phrase("all the same", r"(?<!\bare )(?<!\bis )(?<!\bbe )(?<!\bthey )\ball the same(?=[.,;:)])", 'write "still"'),
    Phrase("dash", r"\w — \w", "begin a new sentence, or use a comma or a colon"),
    Phrase("British: cancelled", r'(?<!")\b(?-i:[Cc]ancell(?:ed|ing))\b(?!")', 'write "canceled", "canceling"'),
    Phrase("British: -our", r"\b(?:behavi|col|fav|hon|neighb)our(?:s|ed|ing|ite|able)?\b", 'write "-or"'),
    Phrase(
        "British: -ise",
        r"\b(?:initial|normal|optim|recogn|serial|synchron|summar|organ|minim|maxim|author|custom)is(?:e[ds]?|ing|ation)\b",
        'write "-ize"',
    ),
    Phrase("British: licence", r"\blicences?\b", 'write "license"'),
)

_PATTERNS = [(phrase, re.compile(phrase.pattern, re.IGNORECASE)) for phrase in PHRASES]
_MARK = re.compile(r"^\s*(?:///?|/\*\*?|\*/?|#:?|>)(?=\s|$)")
"""Of a comment, or of a quotation."""


@dataclass(frozen=True)
class Found:
    """A phrase in a text."""

    line: int
    text: str
    phrase: Phrase


def find(text: str) -> Iterator[Found]:
    """The phrases in a text, in their order."""
    stream, lines = _in_one_line(text)
    found = [(match.start(), match[0], phrase) for phrase, pattern in _PATTERNS for match in pattern.finditer(stream)]
    for position, words, phrase in sorted(found, key=lambda each: each[0]):
        yield Found(lines[position], words, phrase)


def _in_one_line(text: str) -> tuple[str, list[int]]:
    """The text with one space between words, also at the end of a line, and the line number of each character."""
    stream, lines = "", []
    for number, line in enumerate(text.split("\n"), 1):
        words = " ".join(_MARK.sub("", line).split())
        piece = f"{words} " if words else "\n"
        stream += piece
        lines += [number] * len(piece)
    return stream, lines


def prose(path: Path) -> str:
    """What is checked of a file. The rest is blank, so that lines keep their numbers."""
    text = path.read_text()
    if path.suffix == ".md":
        return re.sub(r"``[^`\n]+``|`[^`]+`(?!`)|\]\([^)]*\)", _blank, _without_marks_of_code(text))
    if path.suffix == ".py":
        return _python_prose(text)
    if path.suffix in (".c", ".h", ".swift"):
        return _IN_CODE.sub(lambda match: match[1] or _blank(match), text)
    return text


_IN_CODE = re.compile(r'(//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*")|[^\s"/]+|/', re.DOTALL)
"""Comments and string literals, as the first group, and everything else."""


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", "·", match[0])


def _without_marks_of_code(text: str) -> str:
    return re.sub(r"^ *```\w*$", "", text, flags=re.MULTILINE)


def _python_prose(text: str) -> str:
    source = text.split("\n")
    lines = [""] * (len(source) + 1)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            end = node.end_lineno or node.lineno
            lines[node.lineno - 1 : end] = source[node.lineno - 1 : end]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 1] += token.string
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    paths = [Path(name) for name in arguments] or sorted(path for glob in CLEAN for path in ROOT.glob(glob))
    count = 0
    for path in paths:
        for found in find(prose(path)) if path.is_file() else []:
            count += 1
            name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            print(f'{name}:{found.line}: "{found.text}": {found.phrase.instead}')
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
