"""Where the library, the Python package and the fault server are, and what the tests share.

pytest Tests/engine           # --long: the many rounds of what a race might upset, and a large file of 1 GiB
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX", REPOSITORY / "build" / "prefix"))

os.environ.setdefault("BOXRETRY_LIBRARY", str(PREFIX / "lib" / "libboxretry.so.0"))
# A run in the background may ignore it; some tests are about Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
PACKAGES = [
    str(REPOSITORY / "bindings" / "python" / "src"),
    os.environ.get("FAULT_SERVER", str(REPOSITORY / "Tests" / "server")),
]
sys.path[:0] = PACKAGES
# Programs that the tests start find them too; and no proxy of the machine's stands between a test and its server.
os.environ["PYTHONPATH"] = os.pathsep.join([*PACKAGES, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
    os.environ.pop(name, None)
    os.environ.pop(name.upper(), None)

from boxretry import Client  # noqa: E402
from fault_server import FaultServer  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run races a hundred times as often, and a file of 1 GiB")
    parser.addoption("--rounds", type=int, help="of requests at once, in test_own_answers.py: 12, or 100 with --long")


@pytest.fixture
def answer_rounds(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--rounds") or (100 if request.config.getoption("--long") else 12))


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int:
    """How often a race is run."""
    return 100_000 if request.config.getoption("--long") else 1_000


@pytest.fixture(scope="session")
def server() -> Iterator[FaultServer]:
    with FaultServer(tls=True) as server:
        yield server


@pytest.fixture(scope="session")
def scripted_lookups(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A library for LD_PRELOAD that resolves names as the environment variable LOOKUPS says."""
    from programs import preloaded

    return preloaded("scripted_lookups.c", tmp_path_factory.mktemp("lookups"))


@pytest.fixture
def client(server: FaultServer) -> Iterator[Client]:
    """A client with the defaults, but quick: see `quick`."""
    from calls import quick

    with Client(quick(), ca_file=server.ca) as client:
        yield client
