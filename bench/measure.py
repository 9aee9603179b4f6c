"""What the benchmarks share: programs in C, their costs, and tables."""

from __future__ import annotations

import os
import resource
import shlex
import statistics
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX", ROOT / "build/prefix"))
LIBRARY = PREFIX / "lib/libboxretry.so.0"
OUT = ROOT / "build/bench"

median = statistics.median


def run(command: str) -> str:
    return subprocess.run(shlex.split(command), check=True, text=True, stdout=subprocess.PIPE).stdout


def commit() -> str:
    """The one that is measured, and whether files have changed since; those that are written here do not count."""
    others = ["--", ".", ":!bench/*.md", ":!bench/*.svg", ":!bench/counts/profile.json"]
    changes = run(shlex.join(["git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no", *others]))
    return run(f"git -C {ROOT} describe --always --tags").strip() + (" and changes" if changes.strip() else "")


def compile_c(name: str, *, options: str = "", output: str = "") -> Path:
    """Compiles bench/NAME.c (decisions/token) against the installed header."""
    OUT.mkdir(parents=True, exist_ok=True)
    program = OUT / (output or Path(name).name)
    folders = f"-I{PREFIX}/include -I{ROOT}/bench"
    run(f"cc -std=gnu11 -O2 -Wall -Wextra -Werror {folders} {ROOT}/bench/{name}.c -o {program} {options}")
    return program


def compile_client(name: str, *, more: str = "") -> Path:
    """Compiles bench/NAME.c against the library and libcurl."""
    return compile_c(name, options=f"{more} -L{PREFIX}/lib -lboxretry -lcurl -Wl,-rpath,{PREFIX}/lib")


class Cost(NamedTuple):
    """What a program with bench/costs.h has taken."""

    seconds: float
    processor_seconds: float
    peak_kib: float


def cost(command: str) -> Cost:
    seconds, processor_seconds, peak_kib = run(command).split()
    return Cost(float(seconds), float(processor_seconds), float(peak_kib))


def best(costs: Iterable[Cost]) -> Cost:
    """The least of each."""
    return Cost(*map(min, zip(*costs)))


def with_spread(values: Iterable[float]) -> str:
    """The median, and the least and the most."""
    values = list(values)
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def raise_descriptor_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def rows_of(text: str) -> list[list[str]]:
    """A table whose columns stand two spaces or more apart."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]


def markdown(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)
