"""Where things are, and how a command is run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
PACKAGES = BUILD / "packages"
VERSION = re.findall(r'^#define BOXRETRY_VERSION "(.*)"$', (ROOT / "include/boxretry.h").read_text(), re.MULTILINE)[0]
SONAME_VERSION = VERSION.split(".")[0]


def run(*command: str | Path, **options: object) -> str:
    """What a command prints that must succeed; what it says on stderr is shown if it does not."""
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert ran.returncode == 0, f"{' '.join(map(str, command))}: {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    return str(ran.stdout)
