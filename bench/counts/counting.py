"""Counts what a program does, where seconds would not repeat: instructions, calls, system calls; and bytes of code."""

from __future__ import annotations

import collections
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from measure import OUT, ROOT, run

FOLDER = OUT / "profile"
"""Where the library is whose programs are counted."""

ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": str(FOLDER)}
COUNTED = {
    **dict.fromkeys(("malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"), "allocations"),
    "pthread_mutex_lock@@GLIBC_2.2.5": "locks taken",
    "clock_gettime@@GLIBC_2.17": "readings of a clock",
    "curl_easy_getinfo": "calls of curl_easy_getinfo",
    "curl_easy_setopt": "calls of curl_easy_setopt",
}
"""Functions of others, and as what calls of them are counted."""
MODULES = {"8BoxRetry": "BoxRetry", "10CurlEngine": "CurlEngine", "9RetryCore": "RetryCore"}

Numbers = Mapping[str, float]


class Counts(NamedTuple):
    #: By what was counted.
    total: Numbers
    #: Instructions by function, without those of what it calls.
    own: Numbers


def build_library() -> None:
    """Builds the library once more, from the same sources and with the same options, but with its functions' names."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    build = ROOT / "build/profile"
    run(f"cmake -S {ROOT} -B {build} -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_TESTING=OFF")
    run(f"cmake --build {build} --target boxretry_library")
    # Without what valgrind cannot read.
    run(f"strip --strip-debug -o {FOLDER}/libboxretry.so.0 {build}/libboxretry.so.0")


def of_each(command: str, fewer: int, more: int) -> Counts:
    """What each takes of those that the command does COUNT times: the difference of two runs."""
    less, much = (callgrind(command.replace("COUNT", str(count))) for count in (fewer, more))
    return Counts(_each(less.total, much.total, more - fewer), _each(less.own, much.own, more - fewer))


def system_calls_of_each(command: str, fewer: int, more: int) -> Numbers:
    less, much = (strace(command.replace("COUNT", str(count))) for count in (fewer, more))
    return _each(less, much, more - fewer)


def _each(less: Numbers, much: Numbers, by: int) -> Numbers:
    return {name: (count - less.get(name, 0)) / by for name, count in much.items()}


def callgrind(command: str) -> Counts:
    output = FOLDER / "callgrind.out"
    options = ["--tool=callgrind", "--collect-bus=yes", f"--callgrind-out-file={output}"]
    subprocess.run(["valgrind", *options, *command.split()], env=ENVIRONMENT, check=True, capture_output=True)
    return read(output)


def read(output: Path) -> Counts:
    """Reads callgrind's format: a cost belongs to the function named last, one after `calls=` to what it calls."""
    names: dict[tuple[str, str], str] = {}
    total, own = collections.Counter[str](), collections.Counter[str]()
    file = function = callee = ""
    is_of_callee = False

    def name_in(line: str) -> str:
        """A name is written with its number once, and then is the number alone."""
        kind, _, value = line.partition("=")
        number, _, name = value.partition(" ")
        return names.setdefault((kind[-2:], number), name)

    for line in output.read_text().splitlines():
        if line.startswith("ob="):
            file = Path(name_in(line)).name.partition(".so")[0].replace("???", "no file that is known")
        elif line.startswith("cob="):
            name_in(line)
        elif line.startswith("fn="):
            function = name_in(line)
            if function.startswith("0x"):
                function = f"(without a name, in {file})"
        elif line.startswith("cfn="):
            callee = name_in(line)
        elif line.startswith("calls="):
            calls = int(line.removeprefix("calls=").split()[0])
            if callee in COUNTED:
                total[COUNTED[callee]] += calls
            elif re.fullmatch(r"swift_(retain|release)(_n)?", callee):
                total[f"calls of {callee.removesuffix('_n')}"] += calls
            is_of_callee = True
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            costs = [int(cost) for cost in line.split()[1:]]
            if not is_of_callee:
                own[function] += costs[0]
                total["instructions"] += costs[0]
                total[f"of them in {file}"] += costs[0]
                total["of them atomic"] += costs[1] if len(costs) > 1 else 0
            is_of_callee = False
    return Counts(total, own)


def strace(command: str) -> Numbers:
    """How often each system call was made, in all threads."""
    output = FOLDER / "strace.out"
    options = ["-f", "-c", "-o", str(output)]
    subprocess.run(["strace", *options, *command.split()], env=ENVIRONMENT, check=True, capture_output=True)
    counts = collections.Counter[str]()
    for line in output.read_text().splitlines():
        row = re.fullmatch(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?([a-z_0-9]+)", line)
        if row and row[2] != "total":
            counts[row[2]] += int(row[1])
    return counts


def sizes() -> Numbers:
    """The bytes of each function of the library."""
    counts = collections.Counter[str]()
    for line in run(f"nm --print-size --defined-only {FOLDER}/libboxretry.so.0").splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW":
            counts[words[3]] += int(words[1], 16)
    return counts


def module_of(function: str) -> str:
    for mangled, module in MODULES.items():
        if re.match(rf"\$[es]{mangled}", function):
            return module
    if function.startswith("shim_"):
        return "CShims"
    if function.startswith("boxretry_"):
        return "BoxRetry"
    return "Swift's own" if function.startswith(("$", "swift_", "_swift")) else "the rest of C"


def readable(names: list[str]) -> list[str]:
    """Swift's names as they are written."""
    command = ["swift", "demangle", "--compact", "--simplified"]
    return subprocess.run(
        command, input="\n".join(names), text=True, check=True, stdout=subprocess.PIPE
    ).stdout.splitlines()
