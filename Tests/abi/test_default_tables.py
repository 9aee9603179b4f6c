"""The comments of the option structs list their defaults: they are those of the _INIT macros."""

from __future__ import annotations

import re
from functools import cache

import pytest
from header import read_header
from install import HEADER, run_c

TEXT = HEADER.read_text()
STRUCT = re.compile(r"^/\*\*\n(?:(?!\*/).)*?\*/\n(?:typedef )?struct (\w+) \{", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^ \*     (\w+) +(\S+)(?: \(.*\))?$", re.MULTILINE)


def _tables() -> dict[str, dict[str, str]]:
    """The rows "field default" in the comment above each struct that has such a table."""
    tables = {}
    for match in re.finditer(
        r"^/\*\*\n(?:(?!\*/).)*?\*/\n(?:typedef )?struct (\w+) \{", TEXT, re.MULTILINE | re.DOTALL
    ):
        if "The defaults are those of" in match[0]:
            tables[match[1]] = dict(ROW.findall(match[0].replace("everything else", "")))
    return tables


TABLES = _tables()


@cache
def _defaults(struct: str) -> dict[str, float]:
    """What the macro sets; a pointer is 0 or 1."""
    fields = read_header().structs[struct].fields
    prints = "".join(
        f'printf("{field.name} %.17g\\n", (double)(x.{field.name}{" != NULL" if field.type.pointers else ""}));'
        for field in fields
        if field.type.parameters is None
    )
    source = f"{struct} x = {struct.upper()}_INIT; {prints} return 0;"
    output = run_c(f'#include "boxretry.h"\n#include <stdio.h>\nint main(void) {{ {source} }}\n')
    return {name: float(value) for name, value in (line.split() for line in output.splitlines())}


def test_there_are_such_tables() -> None:
    assert len(TABLES) >= 5


@pytest.mark.parametrize("struct", TABLES)
def test_a_table_lists_what_the_macro_sets(struct: str) -> None:
    constants = {**read_header().constants, "NULL": 0, "on": 0}
    listed = {name: float(constants.get(value, value)) for name, value in TABLES[struct].items()}
    defaults = _defaults(struct)
    assert listed == {name: defaults[name] for name in listed}
    left_out = {name for name, value in defaults.items() if value and name not in listed}
    assert left_out <= {"struct_size"}


@pytest.mark.parametrize("struct", TABLES)
def test_a_complete_table_lists_all_fields(struct: str) -> None:
    comment = TEXT[: TEXT.index(f"struct {struct} {{")].rpartition("/**")[2]
    if "everything else" in comment:
        return
    yours = {"struct_size", "context", "provider", "context_free", "reserved"}
    assert set(TABLES[struct]) == {field.name for field in read_header().structs[struct].fields} - yours
