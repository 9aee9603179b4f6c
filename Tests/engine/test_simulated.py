"""C4: what `boxretry simulate` says of the calls of one process, against a real server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def test_c4_the_load_of_one_process_is_what_the_simulation_says(request: pytest.FixtureRequest) -> None:
    """C4. The measured peaks are those of the simulation, as far as bench/outage.py lets them differ."""
    if not request.config.getoption("--long"):
        pytest.skip("half a minute, on a machine that is not busy: only with --long")
    bench = Path(__file__).parents[2] / "bench" / "outage.py"
    ran = subprocess.run([sys.executable, bench, "--short"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
