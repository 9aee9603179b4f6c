"""Nothing that runs out ends the host, hangs, loses a header or a byte, or leaks: scenes.c, with exhaustion.c.

Each request for memory that the C part of the shipped library makes fails once, and then all that follow it, too;
and so is each request for a thread. Under valgrind, nothing is left behind by what has failed.

pytest Tests/exhaustion
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX", REPOSITORY / "build" / "prefix"))
# Of each process of pytest's: what is under way cannot be written anew.
BUILD = REPOSITORY / "build" / "exhaustion" / os.environ.get("PYTEST_XDIST_WORKER", "alone")
HERE, ENGINE = Path(__file__).parent, Path(__file__).parents[1] / "engine_c"
OPTIONS = ["-std=gnu11", "-O1", "-g", "-gdwarf-4", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{PREFIX}/include"]
VALGRIND = [
    "valgrind",
    "--soname-synonyms=somalloc=nouserintercepts",  # what stands before malloc() stays there
    *("--quiet", "--error-exitcode=99", "--leak-check=full", "--show-leak-kinds=all", "--errors-for-leak-kinds=all"),
]


def compile(*arguments: str | Path) -> None:
    subprocess.run(["cc", *OPTIONS, *arguments], check=True)


@pytest.fixture(scope="session", autouse=True)
def programs() -> None:
    """The program, linked to what stands before malloc() and to a copy of the library that valgrind can read."""
    BUILD.mkdir(parents=True, exist_ok=True)
    library, failing = BUILD / "libboxretry.so.0", BUILD / "libfailing.so"
    subprocess.run(["strip", "--strip-debug", "-o", library, PREFIX / "lib" / "libboxretry.so.0"], check=True)
    compile("-fPIC", "-shared", "-Wl,-soname,libfailing.so", HERE / "failing.c", "-o", failing)
    scenes = [HERE / "exhaustion.c", HERE / "scenes.c", ENGINE / "crew.c"]
    compile(*scenes, failing, library, f"-Wl,-rpath,{BUILD}", "-o", BUILD / "exhaustion")
    compile(ENGINE / "with_server.c", ENGINE / "server.c", "-o", BUILD / "with_server")


def play(what: str, folder: Path, under: list[str]) -> dict[str, int]:
    """Plays all scenes. How many requests each of them makes, all of which have failed once."""
    # with_server looks for no program on the PATH.
    command = [str(BUILD / "with_server"), "/usr/bin/env", *under, str(BUILD / "exhaustion"), what, "libboxretry", "@"]
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stderr == ""
    return {name: int(count) for name, count in re.findall(r"^(.*): (\d+) requests,", finished.stdout, re.MULTILINE)}


@pytest.mark.parametrize("under", [[], VALGRIND], ids=["plain", "valgrind"])
def test_memory(tmp_path: Path, under: list[str]) -> None:
    requests = play("memory", tmp_path, under)
    assert len(requests) >= 26
    assert min(requests.values()) >= 1
    assert requests["gets and posts"] >= 50


@pytest.mark.parametrize("under", [[], VALGRIND], ids=["plain", "valgrind"])
def test_threads(tmp_path: Path, under: list[str]) -> None:
    """perform() needs none, and works; where one is needed, there is an error, and nobody waits for ever."""
    wanted = {
        "a custom strategy",
        "submits",
        "a cancel switch",
        "a provider",
        "an endpoint",
        "a provider that is asked again",
        "performs on threads",
    }
    needed: set[str] = set()
    for _ in range(5):  # Performs need a thread where they meet, which on a busy machine they do not each time.
        requests = play("threads", tmp_path, under)
        assert requests["gets and posts"] == 0
        needed |= {name for name, count in requests.items() if count > 0}
        if needed >= wanted:
            return
    assert needed >= wanted
