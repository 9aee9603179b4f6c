"""The fault server, for the tests of `boxretry fetch`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "server"))

from fault_server import FaultServer


@pytest.fixture(scope="session")
def server() -> Iterator[FaultServer]:
    """One for all tests, which keep apart by their ids and their own ports."""
    with FaultServer(tls=True) as running:
        yield running
