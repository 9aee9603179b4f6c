"""Where things are, and how a C program is made with them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX", ROOT / "build" / "prefix")).resolve()

INCLUDE = PREFIX / "include"
HEADER = INCLUDE / "boxretry.h"
LIBRARY = PREFIX / "lib" / "libboxretry.so.0"
MAP = ROOT / "abi" / "boxretry.map"
LAYOUT = ROOT / "abi" / "layout.txt"
SOURCES = ROOT / "Sources"


def needs_header_of_sources() -> None:
    """Ends the program if the installed header is not that of the sources: what it would write would be out of date."""
    if HEADER.read_bytes() != (ROOT / "include" / "boxretry.h").read_bytes():
        sys.exit(f"{HEADER} is not include/boxretry.h of the sources; run scripts/build first")


def preprocess(source: str, *options: str) -> str:
    """What the C preprocessor makes of a source text."""
    command = ["gcc", "-E", "-std=c99", "-I", str(INCLUDE), *options, "-x", "c", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def run_c(source: str) -> str:
    """What a C program prints that sees the header and nothing else of the library."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "program")
        flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-I", str(INCLUDE)]
        subprocess.run(["gcc", *flags, "-x", "c", "-", "-o", str(program)], input=source, text=True, check=True)
        return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
