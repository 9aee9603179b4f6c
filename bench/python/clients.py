"""The Python clients."""

from __future__ import annotations

import os
import subprocess
import sys

from measure import LIBRARY, ROOT


def python(rounds: int = 3) -> str:
    """The Python package, compared with other clients: bench/python/compare.py."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    requirements = f"{ROOT}/bench/python/requirements.txt"
    subprocess.run([*pip, "-r", requirements], check=True, stdout=sys.stderr)
    # Once more with the system's libcurl, which is the one that we use.
    pycurl = f"{ROOT}/build/system-pycurl"
    if not os.path.exists(pycurl):
        options = ["--no-binary", "pycurl", "--no-deps", "--target", pycurl, "--constraint", requirements, "pycurl"]
        subprocess.run([*pip, *options], check=True, stdout=sys.stderr)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}/bindings/python/src", "BOXRETRY_LIBRARY": str(LIBRARY)}
    command = [sys.executable, f"{ROOT}/bench/python/compare.py", "--rounds", str(rounds), "--pycurl", pycurl]
    said = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, env=environment).stdout
    return f"{rounds} rounds in turn, medians.\n\n" + said.replace("## ", "### ").strip()
