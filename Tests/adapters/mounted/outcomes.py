"""A plugin of pytest: writes how each test has ended to the file that OUTCOMES names."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

_outcomes: dict[str, str] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    known = _outcomes.get(report.nodeid)
    if report.when == "call" or known is None or report.outcome == "failed":
        _outcomes[report.nodeid] = report.outcome


def pytest_sessionfinish() -> None:
    Path(os.environ["OUTCOMES"]).write_text(json.dumps(_outcomes))
