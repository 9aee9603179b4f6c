"""Programs and libraries of different releases, together (docs/abi.md)."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from compatibility import incompatibilities, kept_headers, version_of
from install import HEADER, LIBRARY, ROOT

KEPT = kept_headers()
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def compile(source: str | Path, program: Path, *options: str | Path) -> Path:
    """Compiles a C file, or text; the library is found in the given folders."""
    command: list[str | Path] = ["gcc", *WARNINGS, "-o", program, "-x", "c"]
    text = None if isinstance(source, Path) else source
    subprocess.run(
        [*command, source if text is None else "-", "-x", "none", *options], input=text, text=True, check=True
    )
    return program


def start(program: Path, library: Path) -> subprocess.CompletedProcess[str]:
    """Runs a program with the library in that folder."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library)}
    return subprocess.run([program], env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.name)
def test_a_program_of_an_older_release_runs_with_this_library(kept: Path, tmp_path: Path) -> None:
    """Given a program compiled with the header of its time, when it meets this library, then it works as it did."""
    (tmp_path / "boxretry.h").write_text(kept.read_text())
    program = compile(Path(__file__).with_name("old_program.c"), tmp_path / "program", "-I", tmp_path, LIBRARY)
    ran = start(program, LIBRARY.parent)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == f"compiled with {'.'.join(map(str, version_of(kept)))}, and works\n"


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.name)
def test_this_header_keeps_what_an_older_one_promised(kept: Path) -> None:
    assert incompatibilities(kept, HEADER) == []


def test_the_header_of_each_release_is_kept() -> None:
    released = re.findall(
        r"^## ([0-9.]+)(?: \((?!not released).*\))?$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert [v for v in released if not (ROOT / f"abi/boxretry-{v}.h").exists()] == [], "cp include/boxretry.h abi/…"


ADDED_FUNCTION = "int32_t boxretry_from_the_future(void);\n\n"
CHANGES = {
    "a field moved": ("  int32_t max_attempts;\n", "  int32_t new_field;\n  int32_t max_attempts;\n"),
    "a constant changed": ("BOXRETRY_PROXY_NONE = 1", "BOXRETRY_PROXY_NONE = 3"),
    "an error changed": ("X(BOXRETRY_ERROR_CLOSED, 7,", "X(BOXRETRY_ERROR_CLOSED, 70,"),
    "a field's type changed": (
        "  int32_t status;           /* of the attempt",
        "  int64_t status;           /* of the attempt",
    ),
    "a parameter changed": (
        "boxretry_call_wait(boxretry_call *call, int64_t",
        "boxretry_call_wait(boxretry_call *call, int32_t",
    ),
    "a result changed": ("void boxretry_call_cancel(", "boxretry_error boxretry_call_cancel("),
    "a function is gone": ("int32_t boxretry_version_number(void);", ""),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_breaks_programs_is_noticed(change: str, tmp_path: Path) -> None:
    before, after = CHANGES[change]
    text = HEADER.read_text()
    assert text.count(before) == 1
    newer = tmp_path / "boxretry.h"
    newer.write_text(text.replace(before, after))
    assert incompatibilities(HEADER, newer)


def test_what_is_added_at_the_end_breaks_nothing(tmp_path: Path) -> None:
    newer = tmp_path / "boxretry.h"
    text = HEADER.read_text().replace(
        "int32_t boxretry_version_number(void);", ADDED_FUNCTION + "int32_t boxretry_version_number(void);"
    )
    newer.write_text(text.replace("\n} boxretry_timeouts;", "\n  int64_t a_new_timeout_ms;\n} boxretry_timeouts;"))
    assert newer.read_text().count("a_new_timeout_ms") == 1
    assert incompatibilities(HEADER, newer) == []


def test_a_program_of_a_newer_release_says_what_this_library_lacks(tmp_path: Path) -> None:
    """Given a program that calls what this library does not have, when it starts, then the loader names it."""
    newer = tmp_path / "libboxretry.so.0"
    stub = "int boxretry_from_the_future(void);\nint boxretry_from_the_future(void) { return 0; }\n"
    compile(stub, newer, "-shared", "-fPIC", "-Wl,-soname,libboxretry.so.0")
    source = "int boxretry_from_the_future(void);\nint main(void) { return boxretry_from_the_future(); }\n"
    program = compile(source, tmp_path / "program", newer)
    assert start(program, tmp_path).returncode == 0
    ran = start(program, LIBRARY.parent)
    assert ran.returncode == 127
    assert "undefined symbol: boxretry_from_the_future" in ran.stderr


def test_a_program_of_a_newer_release_can_ask_first(tmp_path: Path) -> None:
    """Given a header newer than the library, when a program compares the two versions, then it knows."""
    newer = re.sub(r"(#define BOXRETRY_VERSION_MINOR) \d+", r"\1 99", HEADER.read_text())
    (tmp_path / "boxretry.h").write_text(newer)
    source = """
#include <boxretry.h>
#include <stdio.h>
#if !BOXRETRY_VERSION_AT_LEAST(0, 99, 0)
#error "the macro is wrong"
#endif
int main(void) {
  if (boxretry_version_number() >= BOXRETRY_VERSION_NUMBER) return 0;
  printf("libboxretry %s is too old\\n", boxretry_version());
  return 1;
}
"""
    ran = start(compile(source, tmp_path / "program", "-I", tmp_path, LIBRARY), LIBRARY.parent)
    assert ran.returncode == 1
    assert ran.stdout.endswith(" is too old\n")


def test_what_a_newer_program_asks_for_is_not_silently_left_out(tmp_path: Path) -> None:
    """Given a longer struct, when this library gets it, then it refuses what it does not know, unless that is 0."""
    newer = HEADER.read_text().replace("\n} boxretry_timeouts;", "\n  int64_t a_new_timeout_ms;\n} boxretry_timeouts;")
    newer = newer.replace(
        "{ sizeof(boxretry_timeouts), 60000, 21600000 }", "{ sizeof(boxretry_timeouts), 60000, 21600000, 0 }"
    )
    (tmp_path / "boxretry.h").write_text(newer)
    source = """
#include <boxretry.h>
#include <stdio.h>
int main(void) {
  boxretry_timeouts timeouts = BOXRETRY_TIMEOUTS_INIT;
  boxretry_client_options options = BOXRETRY_CLIENT_OPTIONS_INIT;
  boxretry_client *client = NULL;
  boxretry_error error;
  options.timeouts = &timeouts;
  error = boxretry_client_new(&options, &client);
  boxretry_client_free(client);
  printf("%s\\n", boxretry_error_name(error));
  timeouts.a_new_timeout_ms = 1;
  error = boxretry_client_new(&options, &client);
  printf("%s: %s\\n", boxretry_error_name(error), boxretry_last_error_detail());
  return 0;
}
"""
    ran = start(compile(source, tmp_path / "program", "-I", tmp_path, LIBRARY), LIBRARY.parent)
    works, refused = ran.stdout.splitlines()
    assert works == "ok"
    assert refused.startswith("invalid_argument: ")
    assert "struct_size" in refused
