"""Python environments of the suite, in build/adapters: the packages that adapters are for, in several versions."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/adapters"
PINS = Path(__file__).parent / "environments"
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX", ROOT / "build/prefix"))


def environment(name: str, requirements: str | None = None) -> Path:
    """The Python of an environment with what environments/NAME.txt lists, or these requirements. Made if need be."""
    wanted = (PINS / f"{name}.txt").read_text() if requirements is None else requirements
    folder = FOLDER / name
    python, stamp = folder / "bin/python", folder / "requirements.txt"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / f"{name}.lock").open("w") as lock:  # pytest-xdist runs several processes.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != wanted:
            shutil.rmtree(folder, ignore_errors=True)
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            listed = FOLDER / f"{name}.requirements.txt"
            listed.write_text(wanted)
            _pip(python, "install", "-r", listed)
            stamp.write_text(wanted)
    return python


def source(python: Path, name: str, version: str) -> Path:
    """The unpacked source distribution of a package, which has the package's own tests. Fetched if need be."""
    folder = FOLDER / f"{name}-{version}"
    with (FOLDER / f"{name}-{version}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _pip(python, "download", "--no-deps", "--no-binary", ":all:", "--dest", FOLDER, f"{name}=={version}")
            with tarfile.open(FOLDER / f"{name}-{version}.tar.gz") as archive:
                archive.extractall(FOLDER, filter="data")
    return folder


def variables(*modules: Path) -> dict[str, str]:
    """The environment variables with which this package is found, and modules in these folders."""
    own = {
        "BOXRETRY_LIBRARY": str(PREFIX / "lib/libboxretry.so.0"),
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "bindings/python/src", Path(__file__).parent, *modules))),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {**kept, **own}


def _pip(python: Path, command: str, *arguments: str | Path) -> None:
    subprocess.run([python, "-m", "pip", command, "--quiet", "--disable-pip-version-check", *arguments], check=True)
