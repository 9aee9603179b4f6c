"""Runs the benchmarks against the installed library, and writes what they say to bench/RESULTS.md.

    python bench/run.py [NAME…]      decision, startup, size; all of them by default

Machines are shared and noisy: what counts is a ratio of two things measured in turn in one run, and its median.
"""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parent.parent
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX", ROOT / "build/prefix"))
LIBRARY = PREFIX / "lib/libboxretry.so.0"
OUT = ROOT / "build/bench"


def run(command: str) -> str:
    return subprocess.run(shlex.split(command), check=True, text=True, stdout=subprocess.PIPE).stdout


def compile_c(name: str, *, options: str = "") -> Path:
    """Compiles bench/NAME.c against the installed header."""
    OUT.mkdir(parents=True, exist_ok=True)
    program = OUT / name
    run(f"cc -std=gnu11 -O2 -Wall -Wextra -Werror -I{PREFIX}/include {ROOT}/bench/{name}.c -o {program} {options}")
    return program


def decision() -> str:
    """One decision through the library against the same rules in plain C in a shared library."""
    compile_c("plain_rules", options=f"-fPIC -shared -o {OUT}/libplain_rules.so")
    program = compile_c(
        "decision",
        options=f"-L{OUT} -lplain_rules -L{PREFIX}/lib -lboxretry -Wl,-rpath,{OUT}:{PREFIX}/lib",
    )
    return (
        "Processor time for each, in nanoseconds, and the ratio (31 rounds in turn, medians). The goal is 1.5.\n\n"
        + table(run(str(program)))
    )


def startup(rounds: int = 101) -> str:
    """From dlopen to the first decision, each time in a new process; libcurl's start for comparison."""
    program = compile_c("startup", options="-ldl")
    subjects = {"boxretry": str(LIBRARY), "curl": "libcurl.so.4"}
    times: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, library in subjects.items():
            times[name].append(float(run(f"{program} {name} {library}")))
    rows = ["subject,least µs,median µs,most µs"]
    for name, values in times.items():
        rows.append(f"{name},{min(values):.0f},{statistics.median(values):.0f},{max(values):.0f}")
    return f"{rounds} processes of each, in turn.\n\n" + markdown([row.split(",") for row in rows])


def size() -> str:
    """The stripped library."""
    return f"{LIBRARY.resolve().stat().st_size} bytes."


BENCHMARKS: dict[str, Callable[[], str]] = {"decision": decision, "startup": startup, "size": size}


def table(text: str) -> str:
    """A table whose columns stand two spaces or more apart, as Markdown."""
    rows = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]
    return markdown(rows)


def markdown(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)


def main(names: list[str]) -> None:
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        sys.exit(f"bench: there is no {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    sections = []
    for name in names or BENCHMARKS:
        benchmark = BENCHMARKS[name]
        section = f"## {name}\n\n{benchmark.__doc__}\n\n{benchmark()}\n"
        print(section, flush=True)
        sections.append(section)
    if not names:
        introduction = (
            "# Results\n\n"
            f"Made by `scripts/bench` on {datetime.date.today()}: {platform.machine()}, {os.cpu_count()} processors, "
            f"{platform.system()} {platform.release().split('-')[0]}, shared with other work; "
            f"{run('cc --version').splitlines()[0]}. "
            "Only ratios mean something.\n\n"
        )
        (ROOT / "bench/RESULTS.md").write_text(introduction + "\n".join(sections))


if __name__ == "__main__":
    main(sys.argv[1:])
