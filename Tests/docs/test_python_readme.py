"""The programs of bindings/python/README.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

README = (Path(__file__).resolve().parents[2] / "bindings/python/README.md").read_text()
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_the_loop_retries_what_the_transport_brings(monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {}
    exec(PROGRAMS[0], names)  # it is the README's own program
    waits: list[float] = []
    monkeypatch.setattr(names["time"], "sleep", waits.append)
    answers = iter(
        [SimpleNamespace(status=503, headers={"Retry-After": "7"}), OSError(), SimpleNamespace(status=200, headers={})]
    )

    def send() -> Any:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    assert names["call"](send).status == 200
    assert waits[0] == 7
    assert 1 <= waits[1] <= 3


def test_the_custom_strategy_decides() -> None:
    from boxretry import Outcome, RetryLoop

    names: dict[str, Any] = {}
    exec(PROGRAMS[1], names)
    with RetryLoop(names["OnlyBadGateways"]()) as loop:
        assert [loop.next(Outcome(502)).delay for _ in range(2)] == [1.0, 1.0]
        assert not loop.next(Outcome(502)).retry
