"""Makes the package load the library in the install prefix."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX", REPOSITORY / "build" / "prefix"))

os.environ.setdefault("BOXRETRY_LIBRARY", str(PREFIX / "lib" / "libboxretry.so.0"))
# If the tests run in the background, the shell may have set this to be ignored; some tests are about Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
# No proxy of the machine may be between a test and its server.
for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
    os.environ.pop(name, None)
    os.environ.pop(name.upper(), None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="the soak's long form: 100,000 requests in each way")


sys.path.append(os.environ.get("FAULT_SERVER", str(REPOSITORY / "Tests" / "server")))


@pytest.fixture(scope="session")
def server() -> Iterator[Any]:
    """A server whose answers the URL determines; the tests of the engine have its manual."""
    from fault_server import FaultServer

    with FaultServer() as server:
        yield server


@pytest.fixture(scope="session")
def tls_server() -> Iterator[Any]:
    """The same with the TLS ports too."""
    from fault_server import FaultServer

    with FaultServer(tls=True) as server:
        yield server


@pytest.fixture(autouse=True)
def _names_in_doctests(doctest_namespace: dict[str, Any]) -> None:
    """Examples in docstrings can use everything that `from boxretry import *` provides."""
    import boxretry

    doctest_namespace.update({name: getattr(boxretry, name) for name in boxretry.__all__})
