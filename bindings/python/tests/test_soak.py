"""Requests leave nothing behind, in any way of sending them. --long: the long form of soak.py."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from paths import PACKAGE
from soak import WAYS

#: The packages that the adapters need.
NEEDS = {"requests": "requests", "httpx": "httpx", "httpx, async": "httpx", "Box SDK": "box_sdk_gen"}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_left_behind(way: str, request: pytest.FixtureRequest) -> None:
    if way in NEEDS:
        pytest.importorskip(NEEDS[way])
    environment = {**os.environ, "PYTHONPATH": f"{PACKAGE}/src"}
    requests = 100_000 if request.config.getoption("--long") else 800
    command = [sys.executable, f"{PACKAGE}/tests/soak.py", "--requests", str(requests), way]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
