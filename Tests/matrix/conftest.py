"""Where the library, the Python package and the fault server are; and the document that a run makes.

pytest Tests/matrix                  # runs each cell, and says whether docs/fault-matrix.md is what the run made
pytest Tests/matrix --write-report   # writes docs/fault-matrix.md
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX", REPOSITORY / "build" / "prefix"))

os.environ.setdefault("BOXRETRY_LIBRARY", str(PREFIX / "lib" / "libboxretry.so.0"))
sys.path[:0] = [str(REPOSITORY / "bindings" / "python" / "src"), str(REPOSITORY / "Tests" / "server")]
# No proxy of the machine's stands between a test and its server.
for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
    os.environ.pop(name, None)
    os.environ.pop(name.upper(), None)

pytest.register_assert_rewrite("cells", "sending")

from fault_server import FaultServer  # noqa: E402
from report import Report  # noqa: E402


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-report", action="store_true", help="write docs/fault-matrix.md")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # It is one process that has all results.
        config.pluginmanager.register(Report(REPOSITORY / "docs" / "fault-matrix.md", config))


@pytest.fixture(scope="session")
def server() -> Iterator[FaultServer]:
    with FaultServer(tls=True) as server:
        yield server


@pytest.fixture(scope="session")
def quiet_server() -> Iterator[FaultServer]:
    """For what has to be answered in time: others do not keep it busy."""
    with FaultServer(tls=True) as server:
        yield server


@pytest.fixture(scope="session")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """In processes that are started from here on, some host names cannot be looked up: see slow_lookups.c."""
    library = tmp_path_factory.mktemp("names") / "names.so"
    source = REPOSITORY / "Tests" / "engine" / "slow_lookups.c"
    command = ["gcc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", str(source), "-o", str(library), "-ldl"]
    subprocess.run(command, check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LD_PRELOAD", str(library))
        yield
