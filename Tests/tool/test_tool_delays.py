"""`boxretry delays`: the tables of waits."""

from __future__ import annotations

import resource
import subprocess
from typing import Any

import pytest
from tool_program import TOOL, json_of, text_of


def rows_of(table: dict[str, Any]) -> list[tuple[int, float, float, float]]:
    return [(row["attempt"], row["base"], row["least"], row["most"]) for row in table["waits"]]


def cells_of(text: str) -> list[list[str]]:
    """The rows of the tables for people: the indented lines."""
    return [line.split() for line in text.splitlines() if line.startswith("  ")]


def test_by_default_the_waits_are_the_documented_ones() -> None:
    """B6: the table "Example Delays" of the source."""
    answer = json_of("delays")

    documented = [(1, 2.0, 1.0, 3.0), (2, 4.0, 2.0, 6.0), (3, 8.0, 4.0, 12.0), (4, 16.0, 8.0, 24.0)]
    assert rows_of(answer["after_response"]) == documented
    assert rows_of(answer["after_exception"]) == documented[:2]


def test_people_see_the_same_table() -> None:
    """B6: header, rows and total, for responses and then for network exceptions."""
    assert cells_of(text_of("delays")) == [
        ["attempt", "base", "least", "most"],
        ["1", "2", "1", "3"],
        ["2", "4", "2", "6"],
        ["3", "8", "4", "12"],
        ["4", "16", "8", "24"],
        ["total", "30", "15", "45"],
        ["exception", "base", "least", "most"],
        ["1", "2", "1", "3"],
        ["2", "4", "2", "6"],
        ["total", "6", "3", "9"],
    ]


def test_totals_add_the_waits_up() -> None:
    answer = json_of("delays")
    assert answer["after_response"]["total"] == {"base": 30, "least": 15, "most": 45}
    assert answer["after_exception"]["total"] == {"base": 6, "least": 3, "most": 9}


def test_all_options_matter() -> None:
    """B1, B11: base interval, factor, counts and the backoff's cap."""
    answer = json_of(
        "delays",
        *["--max-attempts", "3", "--max-retries-on-exception=1"],
        *["--retry-base-interval", "0.25", "--retry-randomization-factor=0", "--backoff-cap", "0.75"],
    )
    assert rows_of(answer["after_response"]) == [(1, 0.5, 0.5, 0.5), (2, 0.75, 0.75, 0.75)]
    assert rows_of(answer["after_exception"]) == [(1, 0.5, 0.5, 0.5)]


def test_the_help_states_the_defaults() -> None:
    """B1: the defaults that --help names are what an empty command line uses."""
    defaults = {
        "--max-attempts": "5",
        "--retry-base-interval": "1",
        "--retry-randomization-factor": "0.5",
        "--max-retries-on-exception": "2",
    }
    help_lines = text_of("delays", "--help").splitlines()
    for option, default in defaults.items():
        index = next(i for i, line in enumerate(help_lines) if option in line)
        assert f"(default {default})" in " ".join(help_lines[index : index + 2])
    assert text_of("delays", *[word for pair in defaults.items() for word in pair]) == text_of("delays")


@pytest.mark.parametrize(
    ("max_attempts", "max_retries_on_exception", "after_response", "after_exception"),
    [(5, 2, 4, 2), (3, 0, 2, 0), (3, 3, 2, 3), (3, 4, 2, 3), (3, 1000000, 2, 3), (1, 2, 0, 1), (0, 2, 0, 0)],
)
def test_there_are_as_many_waits_as_retries_can_be(
    max_attempts: int, max_retries_on_exception: int, after_response: int, after_exception: int
) -> None:
    """B3, B5: attempt max_attempts is not retried; all retries together never exceed max_attempts."""
    options = [f"--max-attempts={max_attempts}", f"--max-retries-on-exception={max_retries_on_exception}"]
    answer = json_of("delays", *options)
    assert len(answer["after_response"]["waits"]) == after_response
    assert len(answer["after_exception"]["waits"]) == after_exception

    # `explain` says so too.
    for attempt in range(1, after_response + 2):
        is_retried = json_of("explain", "--status=503", *options, f"--attempt={attempt}")["action"] == "retry"
        assert is_retried == (attempt <= after_response)
    for exception in range(1, after_exception + 1):
        assert json_of("explain", "--exception=connect", *options, f"--attempt={exception}")["action"] == "retry"


def test_people_see_which_attempt_is_the_last() -> None:
    """B5: an exception may follow the last attempt that max_attempts allows after responses."""
    combined = "In one call, both kinds combined: at most "
    assert text_of("delays").endswith(
        f"{combined}5 retries (max_attempts 5)\n"
        "Attempt 5 is the last if it ends with a response. If it ends with a network\n"
        "exception, attempt 6 may follow.\n"
    )
    assert text_of("delays", "--max-retries-on-exception=0").endswith(f"{combined}4 retries (max_attempts 5)\n")
    assert text_of("delays", "--max-attempts=0").endswith(f"{combined}0 retries (max_attempts 0)\n")


def test_many_waits_are_streamed() -> None:
    """Two tables with 300,000 rows each, within 24 MB for all that the process allocates."""

    def limit_memory() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (24 << 20, 24 << 20))

    for further in ([], ["--json"]):
        process = subprocess.Popen(
            [TOOL, "delays", "--max-attempts=300000", "--max-retries-on-exception=300000", *further],
            stdout=subprocess.PIPE,
            preexec_fn=limit_memory,
        )
        assert process.stdout
        counted, tail = 0, b""
        while piece := process.stdout.read(1 << 20):
            counted += piece.count(b"2147483647")
            tail = (tail + piece)[-2000:]
        process.stdout.close()
        assert process.wait() == 0
        # Nearly all waits have saturated, three numbers each (B6).
        assert counted > 3 * 2 * 299_900
        assert b"total" in tail and tail.endswith(b"\n")


def test_extreme_waits_saturate_and_are_json() -> None:
    """B6: never infinite, never NaN."""
    answer = json_of("delays", "--retry-base-interval", "1.7e308", "--max-attempts", "1200")
    assert rows_of(answer["after_response"])[-1] == (1199, 2147483647, 2147483647, 2147483647)
    answer = json_of("delays", "--retry-base-interval", "1e-300", "--max-attempts", "3")
    assert rows_of(answer["after_response"])[0] == (1, 2e-300, 1e-300, 3e-300)
