"""Which Swift file uses which: references to types and functions that stand at the top level of another file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "Sources"

FLOORS = ("Threads", "Clock", "Auth", "Message", "Transfer", "Client", "Loop", "Endpoint")
"""The folders of CurlEngine, from the lowest to the highest. An arrow points down, or stays on its floor."""

DECLARATION = re.compile(
    r"^(?:@\w+(?:\([^)]*\))?\s+)*(?:public |internal |private |fileprivate |final |indirect )*"
    r"(?:class|struct|enum|protocol|actor|typealias|func|let|var)\s+(\w+)",
    re.MULTILINE,
)

Arrows = Mapping[str, set[str]]


def code(text: str) -> str:
    """Without comments and string literals, of which only the interpolations are code."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def arrows(module: str = "CurlEngine") -> Arrows:
    """By file: the other files of the module that it refers to. Paths are relative to the module's folder."""
    texts = {
        str(path.relative_to(SOURCES / module)): code(path.read_text()) for path in (SOURCES / module).rglob("*.swift")
    }
    owners: dict[str, str] = {}
    for file, text in texts.items():
        for name in DECLARATION.findall(text):
            owners[name] = file
    found: dict[str, set[str]] = {}
    for file, text in texts.items():
        words = set(re.findall(r"\b\w+\b", text))
        found[file] = {owners[word] for word in words if owners.get(word, file) != file}
    return found


def upward(found: Arrows) -> set[str]:
    """Arrows from a floor to a higher one, as `file -> file`."""
    return {f"{file} -> {other}" for file, others in found.items() for other in others if floor(other) > floor(file)}


def floor(file: str) -> int:
    return FLOORS.index(file.split("/")[0])


def cycles(found: Arrows) -> set[str]:
    """The files that can be reached from themselves (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    inside: set[str] = set()

    def visit(file: str) -> None:
        index[file] = low[file] = len(index)
        stack.append(file)
        for other in sorted(found[file]):
            if other not in index:
                visit(other)
                low[file] = min(low[file], low[other])
            elif other in stack:
                low[file] = min(low[file], index[other])
        if low[file] == index[file]:
            component = stack[stack.index(file) :]
            del stack[stack.index(file) :]
            if len(component) > 1:
                inside.update(component)

    for file in sorted(found):
        if file not in index:
            visit(file)
    return inside
