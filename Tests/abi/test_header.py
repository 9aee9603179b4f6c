"""The header by itself: it compiles everywhere, needs nothing, and its versions agree."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from header import read_header
from install import HEADER, INCLUDE, PREFIX, run_c
from isolated import isolated
from library import Library

STANDARD_HEADERS = {"stdbool.h", "stddef.h", "stdint.h"}

COMPILERS = {
    "gcc": ["c99", "c11", "c17"],
    "clang": ["c99", "c11", "c17"],
    "g++": ["c++11", "c++20"],
    "clang++": ["c++11", "c++20"],
}

USE_ALL = """
#include <boxretry.h>
#include <boxretry.h>
{structs}
int use(void);
int use(void) {{ return 0{uses}; }}
"""


@pytest.mark.parametrize(
    "compiler, standard", [(compiler, standard) for compiler, standards in COMPILERS.items() for standard in standards]
)
def test_header_compiles_without_a_warning(compiler: str, standard: str, tmp_path: Path) -> None:
    """Given a program that includes it twice, first and alone, and uses every initialiser, it compiles."""
    if shutil.which(compiler) is None:
        assert compiler.startswith("clang"), f"{compiler} is not installed"
        pytest.skip(f"{compiler} is not installed")
    header = read_header()
    macros = {name: header.struct_of(name) for name in header.initialisers}
    structs = "\n".join(f"static const {struct} value_of_{name} = {name};" for name, struct in macros.items())
    uses = "".join(f" + (value_of_{name}.struct_size == 0)" for name in macros)
    language = "c++" if "+" in standard else "c"
    command = [compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", str(INCLUDE)]
    result = subprocess.run(
        [*command, "-x", language, "-c", "-", "-o", str(tmp_path / "object.o")],
        input=USE_ALL.format(structs=structs, uses=uses),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr


def test_header_includes_standard_headers_only() -> None:
    included = set(re.findall(r"^\s*#\s*include\s+(\S+)", HEADER.read_text(), re.MULTILINE))
    assert included <= {f"<{name}>" for name in STANDARD_HEADERS}


def test_names_are_all_the_projects_own() -> None:
    header = read_header()
    names = [*header.structs, *header.handles, *header.functions]
    assert all(name.startswith("boxretry_") for name in names)
    assert all(name.startswith("BOXRETRY_") for name in [*header.constants, *header.initialisers])


def version() -> tuple[int, int, int]:
    constants = read_header().constants
    major, minor, patch = (int(constants[f"BOXRETRY_VERSION_{part}"]) for part in ("MAJOR", "MINOR", "PATCH"))
    return major, minor, patch


def version_text() -> str:
    return ".".join(map(str, version()))


def test_version_macros_agree() -> None:
    major, minor, patch = version()
    assert read_header().texts["BOXRETRY_VERSION"] == version_text()
    assert read_header().constants["BOXRETRY_VERSION_NUMBER"] == major * 10000 + minor * 100 + patch
    assert minor < 100 and patch < 100


def test_version_at_least_compares_versions() -> None:
    """Given versions below, at and above this one, when the preprocessor compares, then it is right."""
    major, minor, patch = version()
    expected = {
        (0, 0, 0): "yes",
        (major, minor, patch): "yes",
        (major, minor - 1, 99): "yes",
        (major - 1, 99, 99): "yes",
        (major, minor, patch + 1): "no",
        (major, minor + 1, 0): "no",
        (major + 1, 0, 0): "no",
    }
    question = '#if BOXRETRY_VERSION_AT_LEAST({}, {}, {})\nputs("yes");\n#else\nputs("no");\n#endif\n'
    questions = "".join(question.format(*version) for version in expected)
    program = f'#include "boxretry.h"\n#include <stdio.h>\nint main(void) {{\n{questions}return 0;\n}}\n'
    assert dict(zip(expected, run_c(program).split())) == expected


@isolated
def test_library_has_the_version_of_its_header() -> None:
    library = Library()
    assert library.call("boxretry_version").decode() == version_text()
    assert library.call("boxretry_version_number") == read_header().constants["BOXRETRY_VERSION_NUMBER"]


@isolated
def test_library_says_which_libcurl_it_has() -> None:
    """Given the libcurl that the loader finds, when the library is asked, then it says that one's version."""
    libcurl = ctypes.CDLL("libcurl.so.4")
    libcurl.curl_version.restype = ctypes.c_char_p
    name, version = libcurl.curl_version().split()[0].split(b"/")
    assert (name, Library().call("boxretry_libcurl_version")) == (b"libcurl", version)


def test_library_file_has_the_version_of_the_header() -> None:
    link = PREFIX / "lib" / "libboxretry.so"
    assert link.resolve().name == f"libboxretry.so.{version_text()}"


@pytest.mark.parametrize(
    "pattern, line",
    [
        ("lib*/**/pkgconfig/boxretry.pc", r"^Version: *(\S+)$"),
        ("lib*/**/cmake/boxretry/*[vV]ersion.cmake", r'^ *set\(PACKAGE_VERSION "([\d.]+)"\)$'),
    ],
    ids=["pkg-config", "CMake"],
)
def test_package_has_the_version_of_the_header(pattern: str, line: str) -> None:
    files = list(PREFIX.glob(pattern))
    if not files:
        pytest.skip(f"there is no {pattern} in the installed files")
    assert [re.findall(line, file.read_text(), re.MULTILINE) for file in files] == [[version_text()]]
