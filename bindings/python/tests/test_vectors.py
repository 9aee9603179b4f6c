"""The project's test vectors; each line is a case."""

from __future__ import annotations

import pytest
from paths import VECTORS

from boxretry import conformance

COUNTS = {"decisions": 87, "retry_after": 51, "retry_after_jitter": 17, "backoff": 1440, "token_delays": 168}


def cases(mode: str) -> list[str]:
    lines = (VECTORS / f"{mode}.tsv").read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize(("mode", "line"), [(mode, line) for mode in COUNTS for line in cases(mode)])
def test_the_library_says_what_the_line_expects(mode: str, line: str) -> None:
    conformance.MODES[mode](line)


@pytest.mark.parametrize("mode", COUNTS)
def test_no_case_is_missing(mode: str) -> None:
    assert len(cases(mode)) == COUNTS[mode]
