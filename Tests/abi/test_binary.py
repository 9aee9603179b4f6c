"""The shared library as a file: what it needs, what it offers, and how it is hardened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from elftools.elf.constants import P_FLAGS
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_DT_FLAGS, ENUM_DT_FLAGS_1
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import SymbolTableSection
from header import read_header
from install import LIBRARY, MAP

#: The last one is the C library's loader, which has the stack guard on arm64.
MAY_NEED = {"libcurl.so.4", "libc.so.6", "ld-linux-aarch64.so.1"}
LARGEST = 400_000
NEWEST_GLIBC = (2, 34)


@pytest.fixture(scope="module")
def elf() -> Iterator[Any]:
    with LIBRARY.open("rb") as file:
        yield ELFFile(file)


@pytest.fixture(scope="module")
def dynamic(elf: Any) -> DynamicSection:
    section = elf.get_section_by_name(".dynamic")
    assert isinstance(section, DynamicSection)
    return section


def tags(dynamic: DynamicSection, name: str) -> list[Any]:
    return list(dynamic.iter_tags(name))


def has_flag(dynamic: DynamicSection, tag: str, flag: int) -> bool:
    return any(entry.entry.d_val & flag for entry in tags(dynamic, tag))


def segment(elf: Any, name: str) -> Any:
    found = [segment for segment in elf.iter_segments() if segment["p_type"] == name]
    assert len(found) == 1, f"there is no {name}"
    return found[0]


def header_functions() -> set[str]:
    return set(read_header().functions)


def map_names() -> set[str]:
    text = re.sub(r"/\*.*?\*/", "", MAP.read_text(), flags=re.DOTALL)
    exported = text.split("global:")[1].split("local:")[0]
    return {name.strip() for name in exported.split(";") if name.strip()}


@pytest.fixture(scope="module")
def exported(elf: Any) -> set[str]:
    symbols = elf.get_section_by_name(".dynsym")
    assert isinstance(symbols, SymbolTableSection)
    return {symbol.name for symbol in symbols.iter_symbols() if symbol["st_shndx"] != "SHN_UNDEF" and symbol.name}


def test_library_is_small() -> None:
    assert LIBRARY.stat().st_size <= LARGEST


def test_library_is_stripped(elf: Any) -> None:
    names = [section.name for section in elf.iter_sections()]
    assert not [name for name in names if name == ".symtab" or name.startswith(".debug")]


def test_library_needs_libcurl_and_libc_at_most(dynamic: DynamicSection) -> None:
    needed = {tag.needed for tag in tags(dynamic, "DT_NEEDED")}
    assert needed <= MAY_NEED, f"it needs {sorted(needed - MAY_NEED)} too"


def test_soname_is_that_of_the_first_abi(dynamic: DynamicSection) -> None:
    assert [tag.soname for tag in tags(dynamic, "DT_SONAME")] == ["libboxretry.so.0"]


@pytest.mark.parametrize("tag", ["DT_RPATH", "DT_RUNPATH"])
def test_library_says_no_path_to_search(dynamic: DynamicSection, tag: str) -> None:
    assert not tags(dynamic, tag), f"{tag} is set"


def test_each_exported_name_is_a_function_of_the_header(exported: set[str]) -> None:
    extra = exported - header_functions()
    assert not extra, f"the library exports what the header does not have: {sorted(extra)}"


def test_each_function_of_the_header_is_exported(exported: set[str]) -> None:
    missing = header_functions() - exported
    assert not missing, f"the header has what the library does not export: {sorted(missing)}"


def test_each_name_of_the_map_is_a_function_of_the_header() -> None:
    extra = map_names() - header_functions()
    assert not extra, f"abi/boxretry.map has what the header does not have: {sorted(extra)}"


def test_each_function_of_the_header_is_in_the_map() -> None:
    missing = header_functions() - map_names()
    assert not missing, f"the header has what abi/boxretry.map does not have: {sorted(missing)}"


def test_library_runs_with_glibc_2_34(elf: Any) -> None:
    section = elf.get_section_by_name(".gnu.version_r")
    assert isinstance(section, GNUVerNeedSection)
    wanted = {version.name for _, versions in section.iter_versions() for version in versions}
    glibc = {name for name in wanted if name.startswith("GLIBC_")}
    assert glibc, "no version of glibc is asked for: this test looks in the wrong place"
    numbers = {name: tuple(map(int, re.findall(r"\d+", name))) or (99,) for name in glibc}  # (99,): GLIBC_PRIVATE
    assert not {name for name, number in numbers.items() if number > NEWEST_GLIBC}


def test_stack_is_not_executable(elf: Any) -> None:
    assert not segment(elf, "PT_GNU_STACK")["p_flags"] & P_FLAGS.PF_X


def test_no_segment_is_writable_and_executable(elf: Any) -> None:
    both = P_FLAGS.PF_W | P_FLAGS.PF_X
    assert not [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD" and s["p_flags"] & both == both]


def test_relocations_are_read_only_once_it_is_loaded(elf: Any, dynamic: DynamicSection) -> None:
    """Full RELRO: the segment is there, and all is bound at once."""
    assert segment(elf, "PT_GNU_RELRO")["p_memsz"] > 0
    now = has_flag(dynamic, "DT_FLAGS", ENUM_DT_FLAGS["DF_BIND_NOW"])
    assert now or has_flag(dynamic, "DT_FLAGS_1", ENUM_DT_FLAGS_1["DF_1_NOW"]) or tags(dynamic, "DT_BIND_NOW")


def test_code_is_not_relocated(dynamic: DynamicSection) -> None:
    assert not tags(dynamic, "DT_TEXTREL")
    assert not has_flag(dynamic, "DT_FLAGS", ENUM_DT_FLAGS["DF_TEXTREL"])


def test_library_stays_loaded_after_dlclose(dynamic: DynamicSection) -> None:
    """Its threads, and what it told pthread_atfork(), may outlive a dlclose()."""
    assert has_flag(dynamic, "DT_FLAGS_1", ENUM_DT_FLAGS_1["DF_1_NODELETE"])
