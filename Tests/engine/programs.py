"""Python programs that tests run in a separate process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from calls import PATIENCE

#: Where the library is installed.
PREFIX = Path(os.environ["BOXRETRY_LIBRARY"]).parents[1]

#: Far more than any of them needs, and less than a request without an answer takes.
LIMIT_SECONDS = 55 / 40 * PATIENCE

HEAD = """
import os, resource, signal, sys, threading, time
from boxretry import *

once = RetryStrategy(max_attempts=0, max_retries_on_exception=0)
"""


def preloaded(source: str, folder: Path) -> str:
    """Compiles a C file of this folder into a library for LD_PRELOAD; its path."""
    library = folder / source.replace(".c", ".so")
    path = Path(__file__).with_name(source)
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", path, "-o", library, "-ldl"], check=True)
    return str(library)


def start(program: str, *arguments: object, **environment: str) -> subprocess.Popen[str]:
    """Starts a program; `sys.argv[1:]` are the arguments."""
    return subprocess.Popen(
        [sys.executable, "-c", HEAD + textwrap.dedent(program), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def run(program: str, *arguments: object, limit: float = LIMIT_SECONDS, **environment: str) -> str:
    """Runs a program, which has to end well, say nothing on stderr, and not hang; what it printed.

    It hangs after `limit` seconds.
    """
    process = start(program, *arguments, **environment)
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"it hangs; so far: {process.communicate()}") from None
    assert (process.returncode, errors) == (0, ""), (process.returncode, errors, output)
    return output
