"""`boxretry simulate` (C4): what it computes, against what can be computed by hand; and how it says so."""

from __future__ import annotations

import contextlib
import math
import os
import pty
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from tool_program import TOOL, json_of, run_tool, text_of

#: 2,000 requests a second, to a server that can serve any number: what happens depends on the clients alone.
BUSY = ["--clients", "2000", "--rate", "1"]
AMPLE = [*BUSY, "--capacity", "1e6"]


def policy_of(*arguments: str) -> Any:
    """The result of the only policy."""
    (result,) = json_of("simulate", *arguments)["policies"]
    return result


def load_between(result: Any, begin: float, end: float) -> float:
    """The mean load of the buckets that lie between these moments."""
    load = result["load"]
    buckets = [
        value
        for index, value in enumerate(load["values"])
        if begin <= load["start"] + index * load["step"] and load["start"] + (index + 1) * load["step"] <= end
    ]
    assert buckets
    return float(sum(buckets) / len(buckets))


# What can be computed by hand


def test_c4_without_an_outage_goodput_is_what_clients_ask_for() -> None:
    """C4. Given no outage and capacity to spare, no request is wasted, and policies do not differ."""
    answer = json_of("simulate", *AMPLE, "--outage", "10,0", "--duration", "60")
    assert answer["world"]["normal_load"] == 2000
    for result in answer["policies"]:
        assert (result["failed"], result["wasted"] < 500, result["recovery"]) == (0, True, 0)
        assert result["goodput_after"] == pytest.approx(1, rel=0.02)
        assert result["requests"] == answer["policies"][0]["requests"]
        assert result["calls"] == pytest.approx(120_000, rel=0.02)


@pytest.mark.parametrize(
    ("kind", "policy", "attempts"),
    [
        ("503", "none", 1),
        ("503", "fixed", 5),
        ("503", "box", 5),
        ("503", "box:max-attempts=3", 3),
        ("refused", "fixed", 5),
        ("refused", "box", 3),
        ("refused", "box:max-retries-on-exception=0", 1),
        ("429", "box:retry-after-cap=0.5", 5),
    ],
)
def test_c4_in_a_long_outage_each_call_costs_all_its_attempts(kind: str, policy: str, attempts: int) -> None:
    """C4. Once the first calls have used up their attempts (after 45 s at most), load is normal times max_attempts."""
    result = policy_of(*AMPLE, "--outage", f"10,60,{kind}", "--duration", "72", "--policy", policy)
    assert load_between(result, 2, 10) == pytest.approx(1, rel=0.03)
    assert load_between(result, 57, 70) == pytest.approx(attempts, rel=0.03)
    assert result["goodput_during"] < 0.01


def test_c4_without_retries_an_outage_wastes_a_request_for_each_call() -> None:
    """C4. Given the policy none, what fails is what is asked in the outage, and nothing after it."""
    result = policy_of(*AMPLE, "--outage", "10,30,503", "--duration", "60", "--policy", "none")
    assert result["failed"] == pytest.approx(60_000, rel=0.02)
    assert result["wasted"] - result["failed"] < 500  # attempts that are still under way at the end
    assert (result["median_time"], result["worst_time"]) == (None, None)
    assert result["recovery"] == pytest.approx(0.1, abs=0.051)
    assert max(result["peak_during"], result["peak_after"]) < 1.15


def test_c4_calls_that_are_retried_after_the_outage_say_how_long_they_took() -> None:
    """C4. Given the policy fixed, a call of the outage succeeds only if it began in the last 4 seconds of it."""
    result = policy_of(*AMPLE, "--outage", "10,30,503", "--duration", "60", "--policy", "fixed")
    # It waits 1, 2, 3 or 4 seconds, each as often as the others, and 50 ms for each answer.
    assert result["worst_time"] == pytest.approx(4.25, abs=0.01)
    assert result["median_time"] == pytest.approx(2.15, abs=0.01) or result["median_time"] == pytest.approx(
        3.2, abs=0.01
    )
    assert result["failed"] == pytest.approx(2000 * (30 - 4 - 4 * 0.05), rel=0.02)


@pytest.mark.parametrize("load", [0.5, 0.8, 1.25, 4])
def test_c4_a_server_without_a_queue_refuses_what_erlang_says(load: float) -> None:
    """C4. M/D/1/1: the part of requests that find the server busy is load / (1 + load)."""
    arguments = ["--queue", "0", "--latency", "0", "--outage", "0,0", "--duration", "60", "--policy", "none"]
    result = policy_of(*BUSY, "--capacity", str(2000 / load), *arguments)
    assert result["failed"] / result["calls"] == pytest.approx(load / (1 + load), rel=0.02)


def waiting_time_at_most(time: float, load: float) -> float:
    """M/D/1: the part of requests that wait at most a number of service times (Erlang's formula)."""
    terms = ((-load * (time - k)) ** k / math.factorial(k) * math.exp(load * (time - k)) for k in range(int(time) + 1))
    return (1 - load) * sum(terms)


@pytest.mark.parametrize("waits", [0.01, 0.5, 1.5, 3.5])
def test_c4_requests_wait_as_long_as_in_a_queue_of_type_m_d_1(waits: float) -> None:
    """C4. Given clients that give up after some service times of waiting, as many succeed as the formula says."""
    load, capacity, latency = 0.7, 2000 / 0.7, 0.01
    timeout = latency + (1 + waits) / capacity
    arguments = ["--queue", "1000000", "--latency", str(latency), "--timeout", f"{timeout:.9f}", "--outage", "0,0"]
    result = policy_of(*BUSY, "--capacity", str(capacity), *arguments, "--duration", "100", "--policy", "none")
    assert result["succeeded"] / result["calls"] == pytest.approx(waiting_time_at_most(waits, load), rel=0.02)


def test_c4_a_closed_client_waits_for_its_answer() -> None:
    """C4. Given a silent server and a timeout of 10 s, a client that thinks for 10 s asks half as often."""
    arguments = ["--clients", "5000", "--rate", "0.1", "--closed", "--timeout", "10", "--capacity", "1e6"]
    answer = json_of("simulate", *arguments, "--outage", "20,100,silent", "--duration", "125", "--policy", "none")
    assert answer["world"]["normal_load"] == pytest.approx(5000 / 10.05, rel=1e-3)
    (result,) = answer["policies"]
    assert load_between(result, 2, 20) == pytest.approx(1, rel=0.05)
    assert load_between(result, 60, 120) == pytest.approx(10.05 / 20, rel=0.05)


def test_c1_a_budget_that_all_share_allows_half_of_itself() -> None:
    """C1, C4. Given one budget of 10 for all clients, an outage adds 5 retries to the whole of them."""
    arguments = ["--clients-per-budget", "2000", "--outage", "10,30,503", "--duration", "45", "--policy", "box-budget"]
    result = policy_of(*AMPLE, *arguments)
    assert result["requests"] - result["calls"] == 5


def test_c1_a_budget_for_each_client_allows_each_its_half() -> None:
    """C1, C4. Given a budget of 4 for each of 100 clients that ask all the time, an outage adds 2 retries for each."""
    arguments = ["--clients", "100", "--rate", "10", "--outage", "10,60,503", "--duration", "72", "--capacity", "1e6"]
    result = policy_of(*arguments, "--policy", "small:budget-capacity=4")
    assert 190 <= result["requests"] - result["calls"] <= 200  # the last of them may still wait


def test_c2_a_server_that_says_when_it_is_back_is_met_by_everybody_then_unless_they_jitter() -> None:
    """C2, C4. Given a countdown in Retry-After: 60 times normal at once; with jitter, ln(60) + 1 times."""
    arguments = [*AMPLE, "--outage", "10,60,503-retry-after", "--retry-after", "end", "--duration", "80"]
    results = json_of("simulate", *arguments, "--policy", "box", "--policy", "box-jitter")["policies"]
    box, jittered = (load_between(result, 70, 71) for result in results)
    assert box == pytest.approx(1 + 60, rel=0.03)
    assert jittered == pytest.approx(1 + math.log(60) + 1, rel=0.05)
    assert all(result["peak_during"] < 1.15 for result in results)


def test_c3_in_an_outage_a_client_with_a_gate_sends_one_request_at_a_time() -> None:
    """C3, C4. Given 100 clients and Retry-After: 5, each sends one request every 5.05 s in the outage."""
    arguments = ["--clients", "100", "--rate", "2", "--capacity", "1e6", "--outage", "10,60,503-retry-after"]
    result = policy_of(*arguments, "--retry-after", "5", "--duration", "100", "--policy", "box-gate")
    assert load_between(result, 16, 70) == pytest.approx(1 / 5.05 / 2, rel=0.1)
    assert result["worst_time"] <= 60 + 5.1 and result["goodput_after"] > 2
    assert result["failed"] < 0.05 * result["calls"]  # those that went five times, each time first


def test_c3_clients_that_share_a_budget_share_a_gate() -> None:
    """C3, C4. Given 100 clients behind one gate: as one of them."""
    arguments = ["--clients", "100", "--rate", "2", "--capacity", "1e6", "--clients-per-budget", "100"]
    outage = ["--outage", "10,60,503-retry-after", "--retry-after", "5", "--duration", "100", "--policy", "box-gate"]
    result = policy_of(*arguments, *outage)
    assert load_between(result, 16, 70) < 0.01
    assert result["failed"] <= 10


def test_c2_the_jitter_of_a_retry_after_spreads_the_gates_too() -> None:
    """C2, C3. Given a countdown in Retry-After and clients that hold calls: without jitter they meet in one second."""
    arguments = [*AMPLE, "--outage", "10,60,503-retry-after", "--retry-after", "end", "--duration", "200"]
    options = "j:share-retry-after=1,retry-after-jitter=1"
    gated, jittered = json_of("simulate", *arguments, "--policy", "box-gate", "--policy", options)["policies"]
    assert gated["peak_after"] > 50
    assert jittered["peak_after"] < gated["peak_after"] / 5


def test_c3_a_gate_keeps_to_the_rate_of_a_server_that_limits_it() -> None:
    """C3, C4. Given one process and a server that serves 40 of 50 requests a second, none fails, few are refused."""
    arguments = ["--clients", "1", "--rate", "50", "--capacity", "40", "--overflow", "429", "--retry-after", "1"]
    policies = ["--policy", "box", "--policy", "box-gate"]
    box, gated = json_of("simulate", *arguments, "--outage", "0,0", "--duration", "60", *policies)["policies"]
    assert box["failed"] > 0.05 * box["calls"] and box["wasted"] > 1000
    assert gated["failed"] == 0 and gated["wasted"] < box["wasted"] / 5


def test_c4_the_same_seed_gives_the_same_run_and_another_one_does_not() -> None:
    """C4. Runs can be repeated."""
    arguments = ["--clients", "500", "--outage", "10,20,429", "--duration", "40"]
    first, again = (text_of("simulate", *arguments, "--json") for _ in range(2))
    assert first == again
    assert text_of("simulate", *arguments, "--json", "--seed", "2") != first.replace('"seed": 1', '"seed": 2')


def test_c4_a_deadline_ends_calls_in_virtual_time() -> None:
    """B11, C4. Given a deadline of 5 s, only the retry after 1 to 3 seconds, and few after it, are made."""
    arguments = [*AMPLE, "--outage", "10,60,503", "--duration", "72"]
    result = policy_of(*arguments, "--policy", "box:deadline=5,retry-randomization-factor=0")
    assert load_between(result, 57, 70) == pytest.approx(2, rel=0.03)  # 2 s, and then not the 4 s


def test_c4_a_large_run_takes_little_memory() -> None:
    """C4. Given 100,000 clients, of which most have a call under way in the outage, less than 100 MB are taken."""
    program = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    command = [sys.executable, "-c", program, str(TOOL), "simulate", "--clients", "100000", "--policy", "box"]
    kilobytes = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert 0 < kilobytes < 100_000


# How it says so

RESULT_KEYS = {
    "name",
    "options",
    "calls",
    "succeeded",
    "failed",
    "requests",
    "wasted",
    "peak_during",
    "peak_after",
    "goodput_during",
    "goodput_after",
    "recovery",
    "median_time",
    "worst_time",
    "load",
}
SMALL = ["--clients", "60", "--outage", "5,10,503", "--duration", "30"]


def test_json_is_as_help_says() -> None:
    """C4. Every key is there, help names it, and numbers are numbers."""
    answer = json_of("simulate", *SMALL)
    details = " ".join(text_of("simulate", "--help").split())
    assert set(answer) == {"world", "policies"}
    assert answer["world"]["outage"] == {"start": 5, "length": 10, "kind": "503"}
    assert [result["name"] for result in answer["policies"]] == [
        "none",
        "fixed",
        "box",
        "box-budget",
        "box-jitter",
        "box-gate",
        "all",
    ]
    for result in answer["policies"]:
        assert set(result) == RESULT_KEYS
        for key in RESULT_KEYS - {"name", "options", "load"}:
            assert result[key] is None or isinstance(result[key], (int, float))
        assert set(result["load"]) == {"start", "step", "values"}
        assert result["calls"] >= result["succeeded"] + result["failed"]
        assert result["requests"] - result["succeeded"] == result["wasted"]
    for key in RESULT_KEYS:
        assert re.search(rf"\b{key}\b", details), key
    assert answer["policies"][6]["options"] == {
        "max_attempts": 5,
        "max_retries_on_exception": 2,
        "retry_base_interval": 1,
        "retry_randomization_factor": 0.5,
        "backoff_cap": 0,
        "retry_after_cap": 0,
        "retry_after_jitter": 1,
        "budget_capacity": 10,
        "budget_ratio": 0,
        "share_retry_after": True,
        "deadline": None,
    }


def test_the_table_has_a_row_for_each_policy_and_fits_a_terminal() -> None:
    """C4. For people: what was simulated, and a row for each policy."""
    text = text_of("simulate", *SMALL, "--policy", "none", "--policy", "mine:max-attempts=2")
    lines = text.splitlines()
    assert lines[0] == "60 clients, 1 requests per second in total; the server can handle 1.5."
    assert lines[1] == "Outage at 5 s, for 10 s: 503."
    assert [line.split()[0] for line in lines[5:]] == ["none", "mine"]
    assert max(map(len, [*lines, *text_of("simulate", "--help").splitlines()])) <= 80


def test_one_client_is_one_client(tmp_path: Path) -> None:
    file = tmp_path / "load.svg"
    options = ("--clients=1", "--rate=2", "--outage=5,10,503", "--duration=20", "--policy=none", f"--svg={file}")
    assert text_of("simulate", *options).startswith("1 client, 2 requests per second in total;")
    assert "(503), 1 client</title>" in file.read_text()
    assert "normal: 1 client, 2 requests per second;" in file.read_text()


def test_the_picture_is_svg_with_a_line_for_each_policy(tmp_path: Path) -> None:
    """C4. It is well-formed, without scripts, with the outage shaded, for light and dark themes and for print."""
    file = tmp_path / "load.svg"
    text_of("simulate", *SMALL, "--policy", "none", "--policy", "box", "--svg", str(file))
    text = file.read_text()
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{space}svg"
    assert {child.tag.removeprefix(space) for child in root.iter()} <= {
        "svg", "title", "style", "rect", "line", "path", "polyline", "text",
    }  # fmt: skip
    lines = root.findall(f"{space}polyline")
    assert [line.get("class") for line in lines] == ["load p0", "load p1"]
    points = [tuple(map(float, point.split(","))) for point in (lines[1].get("points") or "").split()]
    assert len(points) > 10
    assert points == sorted(points, key=lambda point: point[0])
    assert all(56 <= x <= 740 and 44 <= y <= 324 for x, y in points)
    (outage,) = (rect for rect in root.findall(f"{space}rect") if rect.get("class") == "outage")
    assert float(outage.get("width") or 0) == pytest.approx((760 - 56 - 20) * 10 / 30, abs=0.1)
    assert "prefers-color-scheme:dark" in text
    assert len(re.findall(r"stroke-dasharray:([^}]+)", text.split("@media")[0])) >= 3
    assert [element.text for element in root.findall(f"{space}text")][-2:] == ["none", "box"]


def test_a_picture_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """C4. The table is still printed."""
    run = run_tool("simulate", *SMALL, "--policy", "none", "--svg", str(tmp_path / "no" / "such.svg"))
    assert run.exit_code == 1
    assert "cannot write" in run.errors
    assert "No such file or directory" in run.errors
    assert "\nnone " in run.output


def shown_on_a_terminal(*arguments: str) -> str:
    """What a run that must succeed writes to stderr if stderr is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([TOOL, *arguments], stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = bytearray()
        with contextlib.suppress(OSError):  # EIO: all that the run wrote is read, and the run has closed the terminal
            while part := os.read(ours, 65536):
                shown += part
    os.close(ours)
    assert process.returncode == 0
    return shown.decode()


def test_a_long_run_shows_how_far_it_is_on_a_terminal_alone() -> None:
    """C4. The bar goes to stderr; the tests' own runs, without a terminal, have none."""
    shown = ""
    clients = 25_000
    while not shown:  # how many clients make a run long depends on the machine
        clients *= 2
        assert clients <= 1_600_000, "no run showed a bar"
        shown = shown_on_a_terminal("simulate", "--clients", str(clients), "--policy", "box", "--json")
    assert re.search(r"\r\[#* *\] +\d+ %  box \(1 of 1\)", shown)
    assert shown.endswith("\r" + " " * 79 + "\r")  # and is gone in the end


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--clients", "0"], "--clients: must be from 1 to 100000000"),
        (["--clients", "1e3"], "--clients: '1e3' is not a whole number"),
        (["--rate", "1/0"], "--rate: must be above 0, and at most 1e9 for all clients together"),
        (["--rate", "nan"], "--rate: 'nan' is not a number or a fraction 'N/M'"),
        (["--rate", "1/"], "--rate: '1/' is not a number or a fraction 'N/M'"),
        (["--rate=-1"], "--rate: must be above 0"),
        (["--capacity", "0"], "--capacity: must be above 0"),
        (["--queue=-1"], "--queue: must be 0 or more"),
        (["--latency=-1"], "--latency: must be from 0 to 1e6 seconds"),
        (["--timeout", "0"], "--timeout: must be above 0"),
        (["--overflow", "418"], "--overflow: '418' is not one of: 503, 503-retry-after, 429, refused, silent"),
        (["--outage", "30"], "--outage: '30' is not START,LENGTH or START,LENGTH,KIND"),
        (["--outage", "30,60,down"], "--outage: 'down' is not a kind of failure"),
        (["--outage", "30,60x"], "--outage: '30,60x' is not START,LENGTH"),
        (["--outage=-1,60"], "--outage: START must be from 0 to 1e6 seconds"),
        (["--outage", "1,1e9"], "--outage: LENGTH must be from 0 to 1e6 seconds"),
        (["--retry-after", "soon"], "--retry-after: 'soon' is not a number of seconds or 'end'"),
        (["--retry-after=-1"], "--retry-after: '-1' is not a number of seconds or 'end'"),
        (["--duration", "10"], "--duration: must be at least 1 second longer than the time until the outage's end"),
        (["--duration", "1e999"], "--duration: must be from 1 to 3e6 seconds"),
        (["--clients-per-budget", "0"], "--clients-per-budget: must be 1 or more"),
        (["--policy", "mine"], "--policy: unknown policy 'mine'; to define one, write NAME:OPTION=VALUE,..."),
        (["--policy", "a b:"], "--policy: 'a b' is not a valid name"),
        (["--policy", "x<y:max-attempts=1"], "--policy: 'x<y' is not a valid name"),
        (["--policy", "box:"], "--policy: '' has no '='"),
        (["--policy", "box:max-attempts"], "--policy: 'max-attempts' has no '='"),
        (["--policy", "box:max-attempts=1.5"], "--policy: max-attempts: '1.5' is not a valid number"),
        (["--policy", "box:speed=1"], "--policy: unknown option 'speed'"),
        (["--policy", "box:max-attempts=-1"], "--policy box: options.max_attempts: must be from 0 to 1000000"),
        (["--policy", "box:budget-capacity=-1"], "--policy box: capacity: must be from 1 to 1000000"),
        (["--policy", "all:budget-ratio=2"], "--policy all: ratio: must be from 0 to 1"),
        (["--policy", "box:retry-after-jitter=2"], "--policy box: options.retry_after_jitter: must be from 0 to 1"),
        (["--policy", "box:share-retry-after=2"], "--policy box: share-retry-after: must be 0 or 1"),
        (["--policy", "box:deadline=0"], "--policy: deadline: must be from 0.001 to 1e9 seconds"),
        (["--policy", "box", "--policy", "box:max-attempts=2"], "--policy: there is already a policy 'box'"),
        ([f"--policy=p{n}:max-attempts=1" for n in range(17)], "--policy: at most 16 policies can be compared"),
    ],
)
def test_what_cannot_be_simulated_is_refused(arguments: list[str], message: str) -> None:
    """C4. In one line that says what was expected, and before anything is printed."""
    run = run_tool("simulate", *arguments)
    assert (run.exit_code, run.output) == (2, "")
    assert run.errors.startswith(f"boxretry simulate: {message}"), run.errors
    assert run.errors.endswith("(try 'boxretry simulate --help')\n")


NOTE = "\nNo failure here has a Retry-After: retry-after-jitter and share-retry-after have\nno effect.\n"


@pytest.mark.parametrize(
    ("arguments", "is_noted"),
    [
        ([], True),
        (["--outage", "5,10,silent", "--policy", "box", "--policy", "box-jitter"], True),
        (["--outage", "5,10,503-retry-after"], False),
        (["--outage", "5,10,429"], False),
        (["--overflow", "429"], False),
        (["--policy", "box", "--policy", "box-budget"], False),
    ],
)
def test_c4_rows_that_are_the_same_are_explained(arguments: list[str], is_noted: bool) -> None:
    """C4. Given policies that differ in what they do with a Retry-After, and no failure that has one."""
    small = ["--clients", "300", "--outage", "5,10", "--duration", "30"]
    text = text_of("simulate", *small, *arguments)
    assert text.endswith(NOTE) is is_noted
    rows = {row.split()[0]: row.split()[1:] for row in text.splitlines() if row.startswith("box")}
    assert "box-jitter" not in rows or (rows["box-jitter"] == rows["box"]) is is_noted
