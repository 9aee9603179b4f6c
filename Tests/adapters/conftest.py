"""The long form of this suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="whole suites, all versions, and the API clients")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: only with --long")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    skipped = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=skipped)
    items[:] = [item for item in items if item not in skipped]
