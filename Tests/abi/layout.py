"""The layout of everything public as text: sizes and fields of structs, values of constants.

abi/layout.txt holds it as of the last release: lines may be added, and never change.
`python Tests/abi/layout.py --write` renews the file, from the installed header: run scripts/build before.
"""

from __future__ import annotations

import argparse
import re
from functools import cache

from header import read_header
from install import LAYOUT, needs_header_of_sources, run_c

EXPLANATION = """\
# The public structs (size; then offset, size, type and name of each field) and the values of all constants but the
# version's, by name, on 64-bit machines. Once released, a line here never changes.
# Made by: python Tests/abi/layout.py --write
"""


@cache
def measure() -> str:
    """The layout as the C compiler sees it."""
    header = read_header()
    lines = []
    for struct in sorted(header.structs.values(), key=lambda struct: struct.name):
        lines.append(f'printf("\\nstruct {struct.name} %zu\\n", sizeof({struct.name}));')
        for field in struct.fields:
            member = f"(({struct.name} *)0)->{field.name}"
            lines.append(f'_Static_assert(_Generic({member}, {field.type}: 1, default: 0), "{field.name}");')
            lines.append(
                f'printf("  %zu %zu {field.type} {field.name}\\n", '
                f"offsetof({struct.name}, {field.name}), sizeof({member}));"
            )
    lines.append('printf("\\n");')
    for name, value in sorted(header.constants.items()):
        if name.startswith("BOXRETRY_VERSION_"):
            continue
        conversion, cast = ("%.17g", "double") if isinstance(value, float) else ("%lld", "long long")
        lines.append(f'printf("constant {name} {conversion}\\n", ({cast}){name});')
    body = "\n  ".join(lines)
    return run_c(f'#include "boxretry.h"\n#include <stdio.h>\nint main(void) {{\n  {body}\n  return 0;\n}}\n')


def measure_sizes() -> dict[str, int]:
    """The size of each struct."""
    return {name: int(size) for name, size in re.findall(r"^struct (\w+) (\d+)$", measure(), re.MULTILINE)}


def measure_fields(struct: str) -> list[tuple[int, int, str, str]]:
    """Offset, size, type and name of each field."""
    section = measure().split(f"struct {struct} ")[1].split("\n\n")[0]
    rows = re.findall(r"^  (\d+) (\d+) (.+) (\w+)$", section, re.MULTILINE)
    return [(int(offset), int(size), type, name) for offset, size, type, name in rows]


def layout() -> str:
    return EXPLANATION + measure()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write abi/layout.txt, instead of printing it")
    if parser.parse_args().write:
        needs_header_of_sources()
        LAYOUT.write_text(layout())
    else:
        print(layout(), end="")
