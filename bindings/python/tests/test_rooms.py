"""The folders are rooms, each above those that it imports. Imports never form a cycle, not even for type checkers."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import boxretry
from boxretry import _moved

PACKAGE = Path(boxretry.__file__).parent
NAME = boxretry.__name__

#: From the bottom up. A room may import those before it. A name without a folder is a module next to the rooms.
ROOMS = [
    "_c",
    "outcome",
    "clock",
    "timeout",
    "_connection",
    "_hints",
    "calls",
    "_bodies",
    "decisions",
    "tokens",
    "_sending",
    "options",
    "stream",
    "client",
    "_moved",
    "",
    "aio",
    "integrations",
    "testing",
    "conformance",
]

#: The header's numbers and errors in Python, and what an error has. They are next to `_c` because programs import from
#: them.
OF_C = {"enums", "errors", "attempt", "response_headers"}

Edge = tuple[str, str]


def module_name(path: Path) -> str:
    """The module's name within the package; "" is the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in PACKAGE.rglob("*.py")}


def imported(module: str) -> Iterator[str]:
    """The package's modules that a module imports: at its start, in a function, or for type checkers."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert not any(alias.name.partition(".")[0] == NAME for alias in node.names), f"{path}: import relatively"
        elif isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").partition(".")[0] == NAME):
            assert node.level, f"{path}: import relatively"
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if package else []
            source = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                name = f"{source}.{alias.name}".lstrip(".")
                yield name if name in MODULES else source


def edges() -> set[Edge]:
    return {(module, other) for module in MODULES for other in imported(module)}


def room(module: str) -> str:
    top = module.partition(".")[0]
    return "_c" if top in OF_C else top


def cycle(graph_edges: set[Edge]) -> list[str]:
    """The nodes of a cycle; empty if there is none."""
    graph: dict[str, set[str]] = {}
    for module, other in graph_edges:
        graph.setdefault(module, set()).add(other)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert cycle(edges()) == []


def test_a_cycle_is_found() -> None:
    assert set(cycle({("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")})) == {"a", "b", "c"}


def test_a_room_imports_only_rooms_below_it() -> None:
    between = {(room(module), room(other)) for module, other in edges()}
    upward = {(one, other) for one, other in between if ROOMS.index(one) < ROOMS.index(other)}
    assert upward == set()


def test_every_module_has_a_room_and_every_room_a_module() -> None:
    assert {room(module) for module in MODULES} == set(ROOMS)


def test_an_import_does_not_load_what_only_some_need() -> None:
    program = f"import sys, {NAME}; print(*sorted(name for name in sys.modules if name.startswith('{NAME}')))"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    rooms = {room(name.partition(".")[2]) for name in loaded if name.partition(".")[2] not in _moved.OLD_NAMES}
    assert rooms == set(ROOMS) - {"aio", "integrations", "testing", "conformance"}


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("call", "CancelSwitch"),
        ("custom", "CustomRetryStrategy"),
        ("decision", "Decision"),
        ("delays", "TokenRetryPolicy"),
        ("errors", "ConnectError"),
        ("event", "Event"),
        ("loop", "RetryLoop"),
        ("response", "Response"),
        ("strategy", "RetryStrategy"),
        ("token", "TokenSource"),
        ("token_endpoint", "OAuth2Token"),
    ],
)
def test_pickles_of_version_0_1_load(module: str, name: str) -> None:
    by_name = f"c{NAME}.{module}\n{name}\n.".encode()
    assert pickle.loads(by_name) is getattr(boxretry, name)
    assert getattr(getattr(boxretry, module), name) is getattr(boxretry, name)
