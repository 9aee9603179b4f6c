"""Finds the tests of the repository, and the clauses (B4) and cases (F12) that they name. It only reads them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from made_files import ROOT

PYTHON = ("Tests/*/test_*.py", "bindings/python/tests/test_*.py", "Tests/matrix/expectations.py")
SWIFT = ("Tests/*Tests/*.swift",)
C = ("Tests/c/*.c", "Tests/races/*.c", "Tests/fuzz/*.c", "Tests/valgrind/*.c")
SCRIPTS = ("Tests/*/run",)

# Not in an escape like %C3 or \xC5.
_TAG = re.compile(r"(?<![\w%\\])(?:[BTMRKWC][1-9][0-9]?|F[1-9][0-9]*b?)(?![\w])")
_NAME = re.compile(r"test_((?:[btmrkwcfBTMRKWCF][0-9]+b?_)*).*")
_RANGE = re.compile(r"\bF[0-9]+b? (?:to|through) F[0-9]+b?\b")
_SWIFT_TEST = re.compile(r'@Test\s*(?:\(\s*"((?:[^"\\]|\\.)*)")?.*?\bfunc\s+`?(\w+)', re.DOTALL)
_SWIFT_SUITE = re.compile(r'@Suite\s*\(\s*"((?:[^"\\]|\\.)*)"')
_C_FUNCTION = re.compile(
    r"/\*((?:[^*]|\*(?!/))*)\*/\n(?:static |void |bool |int |struct |const )+\*?(\w+)\(", re.DOTALL
)
_C_REQUIRED = re.compile(r'REQUIRE\([^;]*?"([BTMRKWC][0-9]+[:,][^"]*)"', re.DOTALL)


@dataclass(frozen=True)
class Test:
    """A test, or with an empty name a whole file, and what it names."""

    path: str
    name: str
    title: str = ""
    tags: frozenset[str] = field(default_factory=frozenset)

    @property
    def reference(self) -> str:
        return f"{self.path}::{self.name}" if self.name else self.path


def tags_in(text: str) -> frozenset[str]:
    """The clauses and cases that a text names. "F30 to F36" names none: it says nothing about any one test."""
    return frozenset(_TAG.findall(_RANGE.sub("", text)))


def all_tests() -> list[Test]:
    """In the order of paths, and within a file in its order."""
    readers = {**dict.fromkeys(PYTHON, _in_python), **dict.fromkeys(SWIFT, _in_swift), **dict.fromkeys(C, _in_c)}
    readers |= dict.fromkeys(SCRIPTS, _in_script)
    found = [(path, readers[pattern]) for pattern in readers for path in ROOT.glob(pattern)]
    return [test for path, read in sorted(found) for test in read(str(path.relative_to(ROOT)), path.read_text())]


def _in_python(path: str, text: str) -> Iterator[Test]:
    module = ast.parse(text)
    yield Test(path, "", tags=tags_in(ast.get_docstring(module) or ""))
    tables = {
        target.id: statement.value
        for statement in module.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    prefix = "" if path.endswith("expectations.py") else "test_"
    owners: list[ast.Module | ast.ClassDef] = [
        module,
        *(node for node in module.body if isinstance(node, ast.ClassDef)),
    ]
    for owner in owners:
        for function in owner.body:
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and function.name.startswith(prefix):
                yield Test(path, function.name, tags=_python_tags(function, tables))


def _tags_of_name(name: str) -> frozenset[str]:
    """Those that it begins with: test_f4_f5_values names F4 and F5."""
    leading = _NAME.match(name)
    return frozenset(tag[0].upper() + tag[1:] for tag in leading[1].split("_") if tag) if leading else frozenset()


def _python_tags(function: ast.FunctionDef | ast.AsyncFunctionDef, tables: dict[str, ast.expr]) -> frozenset[str]:
    """Of the docstring, the name, and the names of the parameters' rows, which begin with their tags."""
    tags = tags_in(ast.get_docstring(function) or "") | _tags_of_name(function.name)
    for decorator in function.decorator_list:
        nodes = list(ast.walk(decorator))
        for name in [node.id for node in nodes if isinstance(node, ast.Name)]:
            nodes += ast.walk(tables[name]) if name in tables else ()
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _TAG.match(node.value):
                tags |= tags_in(node.value)
    return tags


def _in_swift(path: str, text: str) -> Iterator[Test]:
    yield Test(path, "", tags=tags_in(" ".join(_SWIFT_SUITE.findall(text))))
    for title, name in _SWIFT_TEST.findall(text):
        yield Test(path, name, title, tags_in(title))


def _in_c(path: str, text: str) -> Iterator[Test]:
    head = re.match(r"/\*.*?\*/", text, re.DOTALL)
    yield Test(path, "", tags=tags_in(" ".join([head[0] if head else "", *_C_REQUIRED.findall(text)])))
    for comment, name in _C_FUNCTION.findall(text):
        yield Test(path, name, tags=tags_in(comment))


def _in_script(path: str, text: str) -> Iterator[Test]:
    head = re.match(r"(?:#.*\n)+", text)
    yield Test(path, "", tags=tags_in(head[0] if head else ""))
