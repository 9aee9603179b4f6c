"""The runs of `boxretry simulate` in docs/outages.md, and the pictures that they draw.

A block of that page which begins with `$ boxretry simulate` shows what the command prints; with `--svg FILE` it also
draws docs/FILE. Runs of more than `_MOST_CLIENTS` clients are left as they are: they take a minute.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
from pathlib import Path

_MOST_CLIENTS = 100_000
_BLOCK = re.compile(r"^```text\n\$ boxretry (simulate(?: .*?)?)\n\n.*?^```$", re.MULTILINE | re.DOTALL)


def made(program: Path, page: str) -> tuple[str, dict[str, str]]:
    """The page with each block as the tool prints it now, and the pictures by name."""
    pictures: dict[str, str] = {}

    def block(match: re.Match[str]) -> str:
        arguments = shlex.split(match[1].replace("\\\n", " "))
        clients = int(arguments[arguments.index("--clients") + 1])
        if clients > _MOST_CLIENTS:
            return match[0]
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run([program, *arguments], cwd=folder, check=True, capture_output=True, text=True)
            pictures.update({path.name: path.read_text() for path in Path(folder).iterdir()})
        return f"```text\n$ boxretry {match[1]}\n\n{ran.stdout}```"

    return _BLOCK.sub(block, page), pictures
