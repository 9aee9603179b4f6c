"""What is built from an archive of the sources, without a network: always the same. (This needs Swift.)"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from paths import ROOT, VERSION, run

pytestmark = pytest.mark.long


def build(folder: Path) -> Path:
    """Unpacks the last commit and builds it where there is no network; where the result is installed."""
    folder.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "x"], cwd=folder, input=archive, check=True)
    script = "cmake -B build -DBUILD_TESTING=OFF && cmake --build build && cmake --install build --prefix prefix"
    run("unshare", "--net", "sh", "-ec", script, cwd=folder)
    return folder / "prefix"


@pytest.fixture(scope="module")
def prefixes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The same sources, built in folders whose names have not even the same length."""
    return [build(tmp_path_factory.mktemp("a") / "b"), build(tmp_path_factory.mktemp("another") / "folder with a name")]


@pytest.mark.parametrize("file", [f"lib/libboxretry.so.{VERSION}", "bin/boxretry", "lib/pkgconfig/boxretry.pc"])
def test_two_builds_of_one_commit_are_the_same_byte_for_byte(prefixes: list[Path], file: str) -> None:
    first, second = ((prefix / file).read_bytes() for prefix in prefixes)
    assert first == second


def test_the_tool_that_was_built_so_works(prefixes: list[Path]) -> None:
    assert run(prefixes[1] / "bin/boxretry", "--version").startswith(
        f"boxretry: library {VERSION}, header {VERSION}, libcurl "
    )
