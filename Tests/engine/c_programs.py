"""C programs of this folder, which the tests build against the installed library."""

from __future__ import annotations

import subprocess
from pathlib import Path

from programs import PREFIX


def build(name: str, folder: Path, *libraries: str) -> Path:
    """The program of `name`.c, linked with further libraries (`-lcrypto`)."""
    source, program = Path(__file__).with_name(f"{name}.c"), folder / name
    options = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{PREFIX}/include", "-o", str(program)]
    needed = [f"-L{PREFIX}/lib", "-lboxretry", f"-Wl,-rpath,{PREFIX}/lib", "-lpthread"]
    subprocess.run(["gcc", *options, str(source), *needed, *libraries], check=True)
    return program
