"""What a newer header may not do to programs that were compiled with an older one (docs/abi.md)."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from install import HEADER, ROOT


def kept_headers() -> list[Path]:
    """The headers of the releases, the oldest first; before the first release, the present header."""
    kept = sorted((ROOT / "abi").glob("boxretry-*.h"), key=version_of)
    return kept or [HEADER]


def version_of(header: Path) -> tuple[int, ...]:
    """The version that a header says it is of."""
    text = re.findall(r'^#define BOXRETRY_VERSION "(.*)"$', header.read_text(), re.MULTILINE)[0]
    return tuple(map(int, text.split(".")))


def incompatibilities(older: Path, newer: Path) -> list[str]:
    """What a program that was compiled with the older header would trip over; empty if there is nothing."""
    had, has = _layout(older.read_text()), _layout(newer.read_text())
    return [f"{line} is not there any more, or is another" for line in had if line not in has] + _signatures(
        older, newer
    )


@functools.cache
def _layout(header: str) -> list[str]:
    """Of the text of a header, each field with its struct, its place, size and type, and each constant with its value.

    A struct may grow.
    """
    with tempfile.TemporaryDirectory() as prefix:
        include = Path(prefix, "include")
        include.mkdir()
        (include / "boxretry.h").write_text(header)
        command = [sys.executable, str(Path(__file__).with_name("layout.py"))]
        environment = {**os.environ, "BOXRETRY_PREFIX": prefix}
        text = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    found, struct = [], ""
    for line in text.splitlines():
        if line.startswith("struct "):
            struct = line.split()[1]
        elif line.startswith("  "):
            found.append(f"{struct}: {line.strip()}")
        elif line.startswith("constant "):
            found.append(line)
    return found


def _signatures(older: Path, newer: Path) -> list[str]:
    """The compiler's complaints about the older header's functions behind all of the newer one."""
    prototypes = re.findall(
        r"^(?!typedef|#|\s|/|\*)[^\n]*?\bboxretry_\w+\([^;{]*?\);$", older.read_text(), re.MULTILINE
    )
    names = [re.findall(r"(boxretry_\w+)\(", prototype)[0] for prototype in prototypes]
    uses = "".join(f"  used = (void (*)(void)){name};\n" for name in names)
    known = newer.read_text()
    found = [f"{name} is gone" for name in names if not re.search(rf"\b{name}\(", known)]
    source = (
        f'#include "{newer}"\n'
        + "\n".join(prototypes)
        + f"\nvoid (*used)(void);\nvoid use(void);\nvoid use(void) {{\n{uses}}}\n"
    )
    compiled = subprocess.run(
        ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-cast-function-type", "-fsyntax-only", "-x", "c", "-"],
        input=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert names, "no function was found: the pattern does not fit this header"
    return found + re.findall(r"error: (.*)", compiled.stderr)
