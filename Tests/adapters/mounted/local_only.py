"""A plugin of pytest: the address of requests' suite to which no connection comes about is one of this machine."""

from __future__ import annotations

import contextlib

import pytest
from recording import full_backlog

_open = contextlib.ExitStack()


def pytest_collection_finish(session: pytest.Session) -> None:
    files = [item.getparent(pytest.Module) for item in session.items]
    for module in {file.module for file in files if file}:
        if hasattr(module, "TARPIT"):
            module.TARPIT = f"http://127.0.0.1:{_open.enter_context(full_backlog())}"


def pytest_sessionfinish() -> None:
    _open.close()
