from __future__ import annotations

from collections.abc import Iterator

import pytest
from fault_server import FaultServer


@pytest.fixture(scope="session")
def server() -> Iterator[FaultServer]:
    """One server for all tests, which keep apart by their ids and their own ports."""
    with FaultServer(tls=True) as running:
        yield running
