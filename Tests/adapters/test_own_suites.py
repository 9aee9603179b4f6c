"""The test suites of requests and HTTPX, from their source distributions, with our adapter in each session and client.

known/PACKAGE.txt lists the tests that cannot pass, each with its reason. A listed test that passes is an error, too. If
its reason begins with "with libcurl VERSION or newer", it may pass there, and it must pass with older versions.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from boxretry import libcurl_version
from environments import environment, source, variables

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Suite:
    """The suite of a package."""

    package: str
    version: str
    #: Arguments of pytest.
    arguments: tuple[str, ...]
    #: The files of the short form.
    slice: tuple[str, ...]


SUITES = [
    Suite(
        "requests",
        "2.34.2",
        ("-W", "ignore"),
        ("tests/test_lowlevel.py", "tests/test_requests.py::TestRequests"),
    ),
    # asyncio only: AsyncRetryTransport does not work with trio. Some tests need the Internet.
    Suite(
        "httpx",
        "0.28.1",
        ("-o", "filterwarnings=error", "-m", "not network", "-k", "not trio"),
        ("tests/client/test_client.py", "tests/client/test_async_client.py", "tests/test_timeouts.py"),
    ),
]


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def depends_on_libcurl(reason: str) -> bool:
    return reason.startswith("with libcurl ")


def known(package: str) -> dict[str, str]:
    """The tests that cannot pass, and why: a line that begins with "# " is the reason of those that follow it."""
    reason, tests = "", {}
    for line in (HERE / "known" / f"{package}.txt").read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            assert reason, f"{line} has no reason"
            condition = re.match(r"with libcurl ([0-9.]+) or newer", reason)
            if not condition or numbers(libcurl_version()) >= numbers(condition[1]):
                tests[line] = reason
    return tests


def run(suite: Suite, tests: tuple[str, ...], folder: Path, *, is_mounted: bool) -> dict[str, str]:
    """How each test has ended: passed, failed, skipped."""
    python = environment(suite.package)
    outcomes = folder / f"{suite.package}.json"
    plugins = ["outcomes", "local_only", *([f"mounted_{suite.package}"] if is_mounted else [])]
    subprocess.run(
        [
            *(python, "-m", "pytest", "-q", "-rf", "-p", "no:cacheprovider"),
            *(f"-p{plugin}" for plugin in plugins),
            *suite.arguments,
            *tests,
        ],
        cwd=source(python, suite.package, suite.version),
        env={**variables(HERE / "mounted"), "OUTCOMES": str(outcomes)},
        check=False,  # Some fail.
        timeout=600,
    )
    ended: dict[str, str] = json.loads(outcomes.read_text())
    assert ended
    return ended


def check(suite: Suite, ended: dict[str, str]) -> None:
    """Those that have failed are those that cannot pass."""
    listed = known(suite.package)
    failed = {test for test, outcome in ended.items() if outcome == "failed"}
    assert failed - listed.keys() == set(), "fail, and are not listed"
    passed = {test for test, why in listed.items() if ended.get(test) == "passed" and not depends_on_libcurl(why)}
    assert passed == set(), "are listed, and pass"


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.package)
def test_a_slice_of_the_suite_passes_with_the_adapter(suite: Suite, tmp_path: Path) -> None:
    check(suite, run(suite, suite.slice, tmp_path, is_mounted=True))


@pytest.mark.long
@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.package)
def test_the_suite_passes_as_it_is(suite: Suite, tmp_path: Path) -> None:
    ended = run(suite, ("tests",), tmp_path, is_mounted=False)
    assert [test for test, outcome in ended.items() if outcome == "failed"] == []


@pytest.mark.long
@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.package)
def test_the_suite_passes_with_the_adapter(suite: Suite, tmp_path: Path) -> None:
    ended = run(suite, ("tests",), tmp_path, is_mounted=True)
    check(suite, ended)
    assert known(suite.package).keys() - ended.keys() == set(), "are listed, and do not exist"


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.package)
def test_an_unlisted_failure_and_a_listed_success_are_errors(suite: Suite) -> None:
    listed = {test: why for test, why in known(suite.package).items() if not depends_on_libcurl(why)}
    ended = dict.fromkeys(listed, "failed")
    check(suite, ended)
    with pytest.raises(AssertionError, match="not listed"):
        check(suite, {**ended, "tests/test_new.py::test_new": "failed"})
    with pytest.raises(AssertionError, match="and pass"):
        check(suite, {**ended, next(iter(listed)): "passed"})
