"""The tool under test, and how the tests run it."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX") or REPOSITORY / "build" / "prefix").resolve()
TOOL = Path(os.environ.get("BOXRETRY_TOOL") or PREFIX / "bin" / "boxretry").resolve()


@dataclass(frozen=True)
class Run:
    """What one run of the tool came to."""

    exit_code: int
    output: str
    errors: str


def run_tool(*arguments: str | bytes, **environment: str) -> Run:
    """Runs the tool with further environment variables. Bytes that are not UTF-8 come back escaped."""
    finished = subprocess.run(
        [TOOL, *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Run(
        finished.returncode,
        finished.stdout.decode(errors="backslashreplace"),
        finished.stderr.decode(errors="backslashreplace"),
    )


def text_of(*arguments: str) -> str:
    """The output of a run that must succeed."""
    run = run_tool(*arguments)
    assert (run.exit_code, run.errors) == (0, ""), run
    return run.output


def json_of(*arguments: str) -> Any:
    """The JSON of a run that must succeed: exactly one line."""
    output = text_of(*arguments, "--json")
    assert output.endswith("\n") and output.count("\n") == 1, output
    return json.loads(output, parse_constant=refuse_constant)


def refuse_constant(name: str) -> None:
    """Python reads NaN and Infinity as numbers; JSON has no such thing."""
    raise ValueError(f"{name} is not JSON")


def compile_against_library(sources: list[Path], output: Path, *options: str) -> Path:
    """Compiles C with the compiler's and the installed library's own settings, all warnings being errors."""
    pkg_config_path = ":".join(str(path) for path in PREFIX.glob("**/pkgconfig"))
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "boxretry"],
        env={**os.environ, "PKG_CONFIG_PATH": pkg_config_path},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    run_paths = [f"-Wl,-rpath,{flag[2:]}" for flag in flags if flag.startswith("-L")]
    compiler = [os.environ.get("CC", "cc"), "-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(
        [*compiler, *options, *map(str, sources), "-o", str(output), *flags, *run_paths],
        check=True,
    )
    return output
