"""docs/api-clients.md: how many requests API clients send with their own retries. With --long: installs them."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "api-clients.md"
PROGRAM = Path(__file__).with_name("api_client_program.py")
ENVIRONMENT = ROOT / "build" / "api-clients"
COLUMNS = ("plain", "both", "off")
ROWS = {
    name: (version, dict(zip(COLUMNS, numbers)))
    for name, version, *numbers in re.findall(
        r"^\| ([\w-]+) (\d[\d.]+) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|", PAGE.read_text(), re.MULTILINE
    )
}


@pytest.fixture(scope="module")
def interpreter(request: pytest.FixtureRequest) -> Path:
    """A Python that has the clients, in the versions that the page names."""
    if not request.config.getoption("--long"):
        pytest.skip("installs the clients; --long")
    packages = [f"{name}=={version}" for name, (version, _) in ROWS.items()]
    python, stamp = ENVIRONMENT / "bin" / "python", ENVIRONMENT / "installed.txt"
    if not stamp.exists() or stamp.read_text().split() != packages:
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages, "requests"], check=True)
        stamp.write_text("\n".join(packages))
    return python


def test_the_page_has_six_clients() -> None:
    assert len(ROWS) == 6
    assert {number for _, numbers in ROWS.values() for number in numbers.values()} <= {
        *(str(number) for number in range(1, 20)),
        "until its deadline",
    }


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("name", ROWS)
def test_a_client_sends_as_many_requests_as_the_page_says(interpreter: Path, name: str, column: str) -> None:
    uses_httpx2 = name in ("openai", "anthropic", "huggingface_hub")
    if uses_httpx2 and importlib.util.find_spec("boxretry.integrations.httpx2") is None:
        pytest.skip("there is no adapter for httpx2")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "bindings/python/src")])}
    done = subprocess.run(
        [interpreter, PROGRAM, name, column], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    sent = json.loads(done.stdout.splitlines()[-1])
    said = ROWS[name][1][column]
    assert sent > 9 if said == "until its deadline" else sent == int(said)
