"""The layout of everything public stays what it was: a program that was compiled earlier keeps working."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fixed import CONSTANTS, FIRST_FIELDS, PADDED
from header import read_header
from install import LAYOUT, ROOT
from layout import layout, measure, measure_fields, measure_sizes

HEADER = read_header()


def test_layout_is_the_one_in_the_repository() -> None:
    assert layout() == LAYOUT.read_text(), (
        "the header's layout is not that of abi/layout.txt; if it was only added to: python Tests/abi/layout.py --write"
    )


def test_the_tests_read_constants_as_the_compiler_does() -> None:
    values = dict(line.split()[1:] for line in measure().splitlines() if line.startswith("constant "))
    assert {name: float(value) for name, value in values.items()} == {
        name: float(value) for name, value in HEADER.constants.items() if not name.startswith("BOXRETRY_VERSION_")
    }


@pytest.mark.parametrize("program", ["layout.py", "python_abi.py"])
def test_nothing_is_written_from_a_header_that_is_not_that_of_the_sources(program: str, tmp_path: Path) -> None:
    old = tmp_path / "include" / "boxretry.h"
    old.parent.mkdir()
    old.write_text(HEADER.text.replace("share_retry_after", "shares_retry_after"))
    written = [LAYOUT, ROOT / "bindings/python/src/boxretry/_c/_abi.py"]
    before = [file.read_bytes() for file in written]

    ran = subprocess.run(
        [sys.executable, Path(__file__).with_name(program), "--write"],
        env={**os.environ, "BOXRETRY_PREFIX": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    after = [file.read_bytes() for file in written]
    for file, text in zip(written, before):
        file.write_bytes(text)
    assert ran.returncode == 1
    assert ran.stderr == f"{old} is not include/boxretry.h of the sources; run scripts/build first\n"
    assert after == before


@pytest.mark.parametrize("struct", FIRST_FIELDS)
def test_first_fields_are_the_fixed_ones(struct: str) -> None:
    expected = FIRST_FIELDS[struct]
    if struct != "boxretry_header":  # it is in arrays
        expected = [("size_t", "struct_size"), *expected]
    actual = [(str(field.type), field.name) for field in HEADER.structs[struct].fields]
    assert actual[: len(expected)] == expected


@pytest.mark.parametrize("name", CONSTANTS)
def test_fixed_constant_has_its_value(name: str) -> None:
    assert HEADER.constants[name] == CONSTANTS[name]


@pytest.mark.parametrize("struct", HEADER.structs)
def test_struct_has_no_padding_but_what_its_first_fields_force(struct: str) -> None:
    padding: list[int] = []
    end = 0
    for offset, size, _, _ in measure_fields(struct):
        padding += range(end, offset)
        end = offset + size
    padding += range(end, measure_sizes()[struct])
    at = PADDED.get(struct)
    assert padding == ([] if at is None else list(range(at, at + 4)))


@pytest.mark.parametrize("struct", HEADER.structs)
def test_struct_size_comes_first_and_is_a_multiple_of_8(struct: str) -> None:
    """Given a struct that stands by itself, its first field is struct_size (convention 3)."""
    stands_in_arrays = struct in ("boxretry_header", "boxretry_delay_header", "boxretry_part")
    assert HEADER.structs[struct].is_sized is not stands_in_arrays
    assert measure_sizes()[struct] % 8 == 0
