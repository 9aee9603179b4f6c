"""What docs/porting.md says is checked, is checked."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from paths import ROOT, run

SHIMS = ROOT / "Sources/CShims"
CHECKS = (SHIMS / "portability.c").read_text()
COMPILER = ("gcc", "-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
INCLUDE = (f"-I{ROOT / 'include'}", f"-I{SHIMS / 'include'}")

ELSEWHERE = {
    "another system": ("ifndef __linux__", "ifndef not_this_system"),
    "another C library": ("defined(__GLIBC__)", "defined(not_this_library)"),
    "another processor": ("!defined(__x86_64__) && !defined(__aarch64__)", "!defined(not_this_processor)"),
    "libcurl 9": ("CURL_AT_LEAST_VERSION(9, 0, 0)", "CURL_AT_LEAST_VERSION(7, 0, 0)"),
    "32 bits": ("sizeof(long) == 8", "sizeof(int) == 8"),
}


def compile(source: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [*COMPILER, *INCLUDE, *options, "-x", "c", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=False)


def test_this_machine_passes_all_checks() -> None:
    assert compile(CHECKS).returncode == 0


@pytest.mark.parametrize("place", ELSEWHERE)
def test_elsewhere_the_build_stops(place: str) -> None:
    before, after = ELSEWHERE[place]
    assert CHECKS.count(before) == 1
    there = CHECKS.replace(before, after)
    assert compile(there).returncode != 0
    may_be_tried = "!defined(BOXRETRY_UNTRIED)" in next(line for line in there.splitlines() if after in line)
    assert (compile(there, "-DBOXRETRY_UNTRIED").returncode == 0) is may_be_tried


@pytest.mark.parametrize(
    "source", sorted([*SHIMS.glob("*.c"), *(ROOT / "bindings/c").rglob("*.c")]), ids=lambda s: s.name
)
def test_c_compiles_where_char_has_no_sign(source: Path) -> None:
    run(*COMPILER, *INCLUDE, "-funsigned-char", source)


def test_swift_never_takes_a_char_for_a_signed_one() -> None:
    """Given arm64, where CChar is UInt8, then no source that says Int8 for it would compile."""
    sources = list((ROOT / "Sources").rglob("*.swift"))
    assert sources
    assert [str(source) for source in sources if re.search(r"\bInt8\b", source.read_text())] == []
