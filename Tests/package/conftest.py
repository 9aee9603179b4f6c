"""Makes the packages under test, and runs the fault server for what is installed from them.

pytest Tests/package          # what is in the packages
pytest Tests/package --long   # installs them in bare Debian roots too, and makes the wheel and the portable archive

BOXRETRY_ARCHITECTURE=arm64 pytest Tests/package/test_packages.py      # for another architecture
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "server"))

from fault_server import FaultServer
from paths import FOR_ARCHITECTURE, PACKAGES, ROOT, run


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--long", action="store_true", help="bare roots of Debian, the wheel, builds from a source archive"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: runs only with --long")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    left_out = [item for item in items if item.get_closest_marker("long")]
    items[:] = [item for item in items if not item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session", autouse=True)
def packages() -> None:
    """The packages are those of the sources as they are."""
    run(ROOT / "scripts/package", *FOR_ARCHITECTURE)


@pytest.fixture(scope="session")
def portable() -> Path:
    """The archive with a libcurl inside the library."""
    run(ROOT / "scripts/package", "--portable", *FOR_ARCHITECTURE)
    (archive,) = PACKAGES.glob("*-portable.tar.gz")
    return archive


@pytest.fixture(scope="session")
def server() -> Iterator[FaultServer]:
    with FaultServer(tls=True) as running:
        yield running
