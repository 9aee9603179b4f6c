"""Which certificates a portable library trusts unless the program names others: Sources/CShims/trust.c."""

from __future__ import annotations

from pathlib import Path

import pytest
from paths import ROOT, run

SHIMS = ROOT / "Sources/CShims"
# Prints the file and the directory. Its arguments are the places.
PROGRAM = r"""
#include "trust.h"
#include <stdio.h>
int main(int count, char **arguments) {
  const char *places[8] = {NULL};
  for (int i = 1; i < count; i++) places[i - 1] = arguments[i];
  const shim_trust trust = shim_trust_find(places);
  printf("%s %s\n", trust.file ? trust.file : "-", trust.path ? trust.path : "-");
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("trust") / "main.c"
    source.write_text(PROGRAM)
    built = source.with_suffix("")
    warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-DBOXRETRY_STATIC_CURL", f"-I{SHIMS}")
    run("cc", "-std=gnu11", *warnings, source, SHIMS / "trust.c", "-o", built)
    return built


def test_the_first_place_that_is_a_file_is_taken(program: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("second", "third"):
        (tmp_path / name).touch()
    places = [tmp_path / name for name in ("nothing", "folder", "second", "third")]
    assert run(program, *places, env={}) == f"{tmp_path / 'second'} -\n"


def test_without_such_a_file_there_is_none(program: Path, tmp_path: Path) -> None:
    assert run(program, tmp_path / "nothing", env={}) == "- -\n"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"SSL_CERT_FILE": "/a"}, "/a -"),
        ({"SSL_CERT_DIR": "/b"}, "- /b"),
        ({"SSL_CERT_FILE": "/a", "SSL_CERT_DIR": "/b"}, "/a /b"),
        ({"CURL_CA_BUNDLE": "/c", "SSL_CERT_FILE": "/a", "SSL_CERT_DIR": "/b"}, "/c -"),
        ({"CURL_CA_BUNDLE": "", "SSL_CERT_FILE": "", "SSL_CERT_DIR": ""}, f"{__file__} -"),
    ],
    ids=["file", "directory", "file and directory", "curl's own variable is first", "empty variables"],
)
def test_the_environment_is_read_as_curl_reads_it(program: Path, variables: dict[str, str], expected: str) -> None:
    """Given a place that has a file, when variables name files that may not exist, then the variables decide."""
    assert run(program, __file__, env=variables) == expected + "\n"
