"""Nothing that runs out ends the host, hangs, loses a header or a byte, or leaks: scenes.c, with exhaustion.c.

Each request for memory that the C part of the shipped library makes fails once, and then all that follow it, too;
and so is each request for a thread. Under valgrind, nothing is left behind by what has failed. That each of them is
reached is seen in the library's code: a place that asks for memory, and that no scene makes fail, is a failure.

pytest Tests/exhaustion
"""

from __future__ import annotations

import os
import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX", REPOSITORY / "build" / "prefix"))
# Of each process of pytest's: a running one cannot be rebuilt.
BUILD = REPOSITORY / "build" / "exhaustion" / os.environ.get("PYTEST_XDIST_WORKER", "alone")
HERE, ENGINE = Path(__file__).parent, Path(__file__).parents[1] / "races"
OPTIONS = ["-std=gnu11", "-O1", "-g", "-gdwarf-4", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{PREFIX}/include"]
VALGRIND = [
    "valgrind",
    "--soname-synonyms=somalloc=nouserintercepts",  # what stands before malloc() stays there
    *("--quiet", "--error-exitcode=99", "--leak-check=full", "--show-leak-kinds=all", "--errors-for-leak-kinds=all"),
]


# What failing.c stands before; and what else of the C library hands out memory, which it would miss.
ALLOCATORS = {"malloc", "calloc", "realloc", "strdup", "strndup", "realpath"}
OTHERS = {
    *("aligned_alloc", "memalign", "valloc", "pvalloc", "reallocarray", "asprintf", "vasprintf", "getline", "getdelim"),
    *("getcwd", "scandir", "open_memstream", "wcsdup", "__strdup", "__strndup", "__asprintf_chk", "__vasprintf_chk"),
    "__realpath_chk",
}
REQUEST = re.compile(rf"(call|jmp) +[0-9a-f]+ <({'|'.join(ALLOCATORS)})@plt>")


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


def place_of(address: int, code: dict[int, str], following: dict[int, int]) -> int | None:
    """The place that a call at this address leads to. None: it is libcurl's.

    It is the call itself; or, where the function that it calls ends in a request, that: the compiler makes a jump of
    it, which returns to who called the function.
    """
    if REQUEST.match(code[address]):
        return address
    called = re.match(r"call +([0-9a-f]+) <(?:.*(@plt)>)?", code[address])
    assert called, f"{code[address]} asks for memory"
    if called[2]:
        return None
    last = int(called[1], 16)
    while not REQUEST.match(code[last]):
        assert not re.match(r"ret|jmp|call", code[last]), f"it is not clear what is asked for at {address:x}"
        last = following[last]
    return last


def check_places(output: str) -> None:
    """Each place of the library that asks for memory has had none at least once."""
    command = ["objdump", "-d", "--no-show-raw-insn", str(BUILD / "libboxretry.so.0")]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    code = {int(at, 16): text for at, text in re.findall(r"^ +([0-9a-f]+):\t(.*)$", listing, re.MULTILINE)}
    following = dict(pairwise(code))
    preceding = {after: before for before, after in following.items()}
    returns = [int(address, 16) for address in re.findall(r"^failed before ([0-9a-f]+)$", output, re.MULTILINE)]
    reached = {place_of(preceding[address], code, following) for address in returns}
    places = {address for address, text in code.items() if REQUEST.match(text)}
    assert len(places) >= 20
    assert {f"{code[place]} at {place:x}" for place in places - reached} == set()


def play(what: str, folder: Path, under: list[str]) -> dict[str, int]:
    """Plays all scenes. How many requests each of them makes, all of which have failed once."""
    # with_server looks for no program on the PATH.
    command = [str(BUILD / "with_server"), "/usr/bin/env", *under, str(BUILD / "exhaustion"), what, "libboxretry", "@"]
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stderr == ""
    if what == "memory":
        check_places(finished.stdout)
    return {name: int(count) for name, count in re.findall(r"^(.*): (\d+) requests,", finished.stdout, re.MULTILINE)}


def test_all_that_asks_for_memory_is_stood_before() -> None:
    command = ["nm", "-D", "--undefined-only", str(BUILD / "libboxretry.so.0")]
    symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    used = set(re.findall(r" U ([^@\s]+)", symbols))
    assert ALLOCATORS & used and not OTHERS & used
    stood_before = re.findall(r"^STAND_BEFORE\(\w+ \*, (\w+),", (HERE / "failing.c").read_text(), re.MULTILINE)
    assert set(stood_before) == ALLOCATORS


@pytest.mark.parametrize("under", [[], VALGRIND], ids=["plain", "valgrind"])
def test_memory(tmp_path: Path, under: list[str]) -> None:
    requests = play("memory", tmp_path, under)
    assert len(requests) >= 30
    assert min(requests.values()) >= 1
    assert requests["gets and posts"] >= 50


@pytest.mark.parametrize("under", [[], VALGRIND], ids=["plain", "valgrind"])
def test_threads(tmp_path: Path, under: list[str]) -> None:
    """perform() needs none, and works; where one is needed, there is an error, and no call hangs."""
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
