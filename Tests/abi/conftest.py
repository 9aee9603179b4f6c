"""The tests of the installed library as a binary, and of its header: what a program that links it relies on.

All is made from the header: header.py reads it, facts.py adds what it says in words and fixed.py what can never change,
layout.py asks the compiler. library.py loads the library from that, hostile.py says what a call may contain, and
arguments.py makes the call. A new function or field needs a fact at most.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from install import HEADER, LIBRARY

for path in (HEADER, LIBRARY):
    if not path.exists():
        raise pytest.UsageError(f"{path} is not there: build and install first, or set BOXRETRY_PREFIX")

CALLS = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="all pairs of hostile arguments")


@pytest.fixture
def is_long(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--long"))


@pytest.fixture
def count_calls(request: pytest.FixtureRequest) -> Callable[[int], None]:
    """Adds to the number of hostile calls, which the end of the run states."""

    def add(calls: int) -> None:
        request.config.stash[CALLS] = request.config.stash.get(CALLS, 0) + calls

    return add


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    calls = config.stash.get(CALLS, 0)
    if calls:
        terminalreporter.write_line(f"{calls:,} calls with hostile arguments were made")
