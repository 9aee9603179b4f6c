"""Each function of the header has one body, which the Swift compiler has checked against the header."""

from __future__ import annotations

import functools
import re

import pytest
from header import read_header
from install import ROOT, SOURCES

FUNCTIONS = read_header().functions
BODIES = SOURCES / "BoxRetry"


@functools.cache
def swift_sources() -> dict[str, str]:
    """All Swift sources without their comments, by path."""
    paths = sorted(SOURCES.rglob("*.swift"))
    assert paths
    return {str(path.relative_to(ROOT)): re.sub(r"//.*", "", path.read_text()) for path in paths}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_has_exactly_one_checked_body(name: str) -> None:
    pattern = re.compile(rf'@_cdecl\("{name}"\)\s+@implementation\s+public\s+func\s+{name}\(')
    files = [path for path, text in swift_sources().items() for _ in pattern.finditer(text)]
    assert len(files) == 1, f'@_cdecl("{name}") @implementation public func {name}( stands in {files}'
    assert files[0].startswith(str(BODIES.relative_to(ROOT)))


def test_there_is_no_cdecl_but_these() -> None:
    """Without @implementation a signature that differs from the header compiles."""
    wrong = []
    for path, text in swift_sources().items():
        for match in re.finditer(r"@_cdecl\b|@c\b", text):
            checked = re.match(r'@_cdecl\("(\w+)"\)\s+@implementation\s+public\s+func\s+(\w+)\(', text[match.start() :])
            if not checked or checked.group(1) != checked.group(2) or checked.group(1) not in FUNCTIONS:
                wrong.append(f"{path}: {text[match.start() :].splitlines()[0]}")
    assert not wrong, "\n".join(wrong)
