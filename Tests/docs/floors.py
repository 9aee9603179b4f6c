"""Which Swift file uses which: references to types and functions that stand at the top level of another file.

python Tests/docs/floors.py     writes Tests/docs/floors.txt: what test_floors.py allows
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "Sources"
ALLOWED = Path(__file__).with_name("floors.txt")

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


def allowed() -> tuple[set[str], set[str]]:
    """The upward arrows, and the files in a cycle, that floors.txt names."""
    lines = [line for line in ALLOWED.read_text().splitlines() if line and not line.startswith("#")]
    return {line for line in lines if " -> " in line}, {line for line in lines if " -> " not in line}


def write(up: Iterable[str], inside: Iterable[str]) -> None:
    ALLOWED.write_text(
        "# What is left of CurlEngine's cycles; see floors.py. This list only shrinks.\n"
        "\n# Arrows from a floor to a higher one:\n"
        + "".join(f"{line}\n" for line in sorted(up))
        + "\n# Files in a cycle:\n"
        + "".join(f"{line}\n" for line in sorted(inside))
    )


if __name__ == "__main__":
    write(upward(arrows()), cycles(arrows()))
