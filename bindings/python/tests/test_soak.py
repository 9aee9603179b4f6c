"""Nothing is left behind by requests, in any way of sending them: the short form of soak.py."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from paths import PACKAGE
from soak import WAYS

#: What the adapters are for.
NEEDS = {"requests": "requests", "httpx": "httpx", "httpx, async": "httpx", "Box SDK": "box_sdk_gen"}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_left_behind(way: str) -> None:
    if way in NEEDS:
        pytest.importorskip(NEEDS[way])
    environment = {**os.environ, "PYTHONPATH": f"{PACKAGE}/src"}
    command = [sys.executable, f"{PACKAGE}/tests/soak.py", "--requests", "2000", way]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
