"""The Python clients."""

from __future__ import annotations

import os
import subprocess
import sys

from measure import LIBRARY, ROOT


def python(rounds: int = 3) -> str:
    """The Python package against other clients: bench/python/compare.py."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]
    subprocess.run([*pip, f"{ROOT}/bench/python/requirements.txt"], check=True, stdout=sys.stderr)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}/bindings/python/src", "BOXRETRY_LIBRARY": str(LIBRARY)}
    command = [sys.executable, f"{ROOT}/bench/python/compare.py", "--rounds", str(rounds)]
    said = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, env=environment).stdout
    return f"{rounds} rounds in turn, medians.\n\n" + said.replace("## ", "### ").strip()
