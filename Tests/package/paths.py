"""Where things are, and how a command is run.

With BOXRETRY_ARCHITECTURE=arm64 in the environment, the packages under test are those for arm64, whose programs run by
qemu.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
NATIVE = "amd64"
ARCHITECTURE = os.environ.get("BOXRETRY_ARCHITECTURE", NATIVE)
MACHINE = {"amd64": "x86_64", "arm64": "aarch64"}[ARCHITECTURE]
#: For scripts.
FOR_ARCHITECTURE = () if ARCHITECTURE == NATIVE else ("--arch", ARCHITECTURE)
PACKAGES = (BUILD if ARCHITECTURE == NATIVE else BUILD / ARCHITECTURE) / "packages"
#: Goes before a command whose program is for that architecture.
RUNNER = () if ARCHITECTURE == NATIVE else (ROOT / f"packaging/run-{ARCHITECTURE}",)
VERSION = re.findall(r'^#define BOXRETRY_VERSION "(.*)"$', (ROOT / "include/boxretry.h").read_text(), re.MULTILINE)[0]
SONAME_VERSION = VERSION.split(".")[0]


def run(*command: str | Path, **options: object) -> str:
    """What a command prints that must succeed; what it says on stderr is shown if it does not."""
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert ran.returncode == 0, f"{' '.join(map(str, command))}: {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    return str(ran.stdout)


def static_curl_version() -> str:
    """The version of the libcurl inside the wheel and the portable archive."""
    versions = (BUILD / "static-curl" / ARCHITECTURE / "versions").read_text()
    return str(re.findall(r"^curl ([0-9.]+)", versions, re.MULTILINE)[0])
