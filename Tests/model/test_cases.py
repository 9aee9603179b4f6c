"""Faults that users of other clients reported (F1 to F35), and some more, held against the library and the model.

The expected results are here in full and come from neither of the two.
"""

import pytest
from compare import first_difference, run

EXACT = "strategy retry_randomization_factor=0"
WALL = "clock 1790000000"  # Mon, 21 Sep 2026 14:13:20 GMT
END = "decision succeed success 0 none 2 0 absent -1"

CASES = {
    "F1 B7 a name in lower case is Retry-After": (
        [EXACT, "loop", "attempt status=429 header=retry-after:7", "attempt status=200"],
        ["decision retry rate_limited 7 retry_after 1 0 usable 7", END],
    ),
    "F2 B3 202 with Retry-After is retried": (
        [EXACT, "loop", "attempt status=202 header=retry-after:7", "attempt status=200"],
        ["decision retry accepted 7 retry_after 1 0 usable 7", END],
    ),
    "F3 B7 a date long past means at once": (
        [WALL, EXACT, "loop", "attempt status=503 header=Retry-After:Wed%2C%2021%20Oct%202015%2007:28:00%20GMT"],
        ["decision retry server_error 0 retry_after_date 1 0 usable 0"],
    ),
    "F4 B7 the same line twice": (
        [EXACT, "loop", "attempt status=429 header=Retry-After:5 header=Retry-After:5"],
        ["decision retry rate_limited 5 retry_after 1 0 usable 5"],
    ),
    "F4 B7 of a list the largest counts": (
        [EXACT, "loop", "attempt status=429 header=Retry-After:2814%2C%202"],
        ["decision retry rate_limited 2814 retry_after 1 0 usable 2814"],
    ),
    "F6 B7 an empty Retry-After is there, but not usable": (
        [EXACT, "loop", "attempt status=202 header=Retry-After:", "attempt status=200"],
        ["decision retry accepted 2 backoff 1 0 not_usable -1", END],
    ),
    "F7 B7 a wait of 0 counts as an attempt": (
        [f"{EXACT} max_attempts=2", "loop", *["attempt status=503 header=Retry-After:0"] * 2],
        [
            "decision retry server_error 0 retry_after 1 0 usable 0",
            "decision stop attempts_exhausted 0 none 2 0 usable 0",
        ],
    ),
    "F8 B7 parts of a second are kept": (
        ["parse 0 0.503", "parse 0 292.052427053"],
        ["value 0.503", "value 292.05242705299997"],
    ),
    "F9 B11 a wait beyond the deadline is not begun, and its value is told": (
        [WALL, EXACT, "loop deadline_ms=60000", "attempt status=503 header=Retry-After:3600", "attempt status=503"],
        ["decision stop deadline 0 none 1 0 usable 3600", "error ended"],
    ),
    "F10 B3 Retry-After alone makes nothing retryable": (
        [EXACT, "loop", "attempt status=409 header=Retry-After:5"],
        ["decision stop not_retryable 0 none 1 0 usable 5"],
    ),
    "F11 B7 a date counts from the response's own Date": (
        [
            WALL,
            EXACT,
            "loop",
            "attempt status=503 header=Date:Mon%2C%2021%20Sep%202026%2013:13:20%20GMT"
            " header=Retry-After:Mon%2C%2021%20Sep%202026%2013:13:50%20GMT",
        ],
        ["decision retry server_error 30 retry_after_date 1 0 usable 30"],
    ),
    "B7 a wall clock beyond the year 9999 is after every date": (
        [
            "clock 253402300799",
            EXACT,
            "loop",
            "advance 1",
            "attempt status=503 header=Retry-After:Wed%2C%2021%20Oct%202015%2007:28:00%20GMT",
        ],
        ["decision retry server_error 0 retry_after_date 1 0 usable 0"],
    ),
    "F21 B6 a base of 0 stays 0": (["backoff 1025 0.5 retry_base_interval=0"], ["value 0"]),
    "F23 B11 the cap comes after the jitter": (["backoff 1 1 backoff_cap=1"], ["value 1"]),
    "F25 B6 the first delay is 2 s": (["backoff 1 0.5"], ["value 2"]),
    "F35 B11 at 4 s of 5 s no wait of 8 s is begun": (
        [WALL, f"{EXACT} retry_base_interval=4", "loop deadline_ms=5000", "advance 4", "attempt status=503"],
        ["decision stop deadline 0 none 1 0 absent -1"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_case_from_the_field(c_runner: list[str], case: str) -> None:
    commands, expected = ["sequence 0", *CASES[case][0]], CASES[case][1]
    [answers] = run(c_runner, [commands])
    told = [line for line in answers if line.split(" ")[0] in ("decision", "value", "error")]
    assert [line if line.startswith("decision") else " ".join(line.split(" ")[:2]) for line in told] == expected
    assert first_difference(commands, answers) is None


@pytest.mark.parametrize(
    "start",
    [
        ["custom should_retry=1 retry_after=0", "loop"],
        ["strategy max_attempts=1000000", "loop max_total_attempts=1000"],
    ],
)
def test_F13_B14_no_strategy_runs_beyond_the_ceiling(c_runner: list[str], start: list[str]) -> None:
    commands = ["sequence 0", *start, *["attempt status=503 header=Retry-After:0"] * 1001]
    [answers] = run(c_runner, [commands])
    decisions = [line for line in answers if line.startswith("decision")]
    assert len(decisions) == 1000
    assert decisions[-1] == "decision stop attempt_ceiling 0 none 1000 0 usable 0"
    assert first_difference(commands, answers) is None


def test_F117_B14_boxs_strategy_has_no_separate_ceiling(c_runner: list[str]) -> None:
    commands = ["sequence 0", "strategy max_attempts=2000", "loop", *["attempt status=503 header=Retry-After:0"] * 2001]
    [answers] = run(c_runner, [commands])
    decisions = [line for line in answers if line.startswith("decision")]
    assert len(decisions) == 2000
    assert decisions[-1] == "decision stop attempts_exhausted 0 none 2000 0 usable 0"
    assert first_difference(commands, answers) is None


def test_F20_B6_backoff_never_falls_and_saturates(c_runner: list[str]) -> None:
    numbers = [*range(30, 71), 1024, 2**31 - 1]
    commands = ["sequence 0", *(f"backoff {number} 0.5" for number in numbers)]
    [answers] = run(c_runner, [commands])
    delays = [float(line.split(" ")[1]) for line in answers[1:]]
    assert delays == sorted(delays)
    assert delays[:2] == [2.0**30, 2.0**31 - 1] and delays[-1] == 2.0**31 - 1


@pytest.mark.parametrize(
    "field",
    [
        "retry_randomization_factor=1.5",
        "retry_base_interval=nan",
        "retry_base_interval=-1",
        "retry_base_interval=inf",
        "max_attempts=-1",
    ],
)
def test_F22_B1_a_wrong_option_is_refused_by_its_name(c_runner: list[str], field: str) -> None:
    [answers] = run(c_runner, [["sequence 0", f"strategy {field}", "loop"]])
    assert len(answers) == 2 and answers[1].startswith("error invalid_argument ")
    assert field.split("=")[0] in answers[1]
