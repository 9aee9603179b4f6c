"""A plugin of pytest: the address of requests' suite to which no connection comes about is one of this machine."""

from __future__ import annotations

import contextlib

import pytest
from recording import full_backlog

_open = contextlib.ExitStack()


def pytest_collection_finish(session: pytest.Session) -> None:
    for module in {item.getparent(pytest.Module).module for item in session.items if item.getparent(pytest.Module)}:
        if hasattr(module, "TARPIT"):
            module.TARPIT = f"http://127.0.0.1:{_open.enter_context(full_backlog())}"


def pytest_sessionfinish() -> None:
    _open.close()
