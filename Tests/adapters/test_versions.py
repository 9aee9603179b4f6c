"""The tests of our adapters with the oldest and other versions of the packages that they are for."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from environments import ROOT, environment, variables

HERE = Path(__file__).parent
TESTS = ROOT / "bindings/python/tests"

#: What is installed, and the file of tests. pyproject.toml states the oldest version of each package.
VERSIONS = {
    "requests-oldest": ("requests==2.28.0\nurllib3==1.26.5\n", "test_integration_requests.py"),
    "urllib3-1.26": ("requests==2.34.2\nurllib3==1.26.20\n", "test_integration_requests.py"),
    "urllib3-2.0": ("requests==2.34.2\nurllib3==2.0.7\n", "test_integration_requests.py"),
    "urllib3-2.1": ("requests==2.34.2\nurllib3==2.1.0\n", "test_integration_requests.py"),
    "newest": ("requests==2.34.2\nurllib3==2.8.0\n", "test_integration_requests.py"),
    "httpx-oldest": ("httpx==0.24.0\n", "test_integration_httpx.py"),
    "httpx2-oldest": ("httpx2==2.0.0\n", "test_integration_httpx.py"),
    "httpx2-newest": ("httpx2==2.16.2\n", "test_integration_httpx.py"),
    "httpx-newest": ("httpx==0.28.1\n", "test_integration_httpx.py"),
    "box-sdk-gen": ("box-sdk-gen==1.17.0\n", "test_integration_box_sdk.py"),
    "boxsdk-oldest": ("boxsdk==10.0.0\n", "test_integration_box_sdk.py"),
    "boxsdk-10.3": ("boxsdk==10.3.0\n", "test_integration_box_sdk.py"),
    "boxsdk-10.4": ("boxsdk==10.4.0\n", "test_integration_box_sdk.py"),
    "boxsdk-10.5": ("boxsdk==10.5.0\n", "test_integration_box_sdk.py"),
    "boxsdk-newest": ("boxsdk==10.18.0\n", "test_integration_box_sdk.py"),
}

pytestmark = pytest.mark.long


def is_of_package(test: str, failed: set[str]) -> bool:
    """Whether the test is on the package's own transport, or fails on that, too."""
    return "[theirs" in test or ("[ours" in test and test.replace("[ours", "[theirs") in failed)


@pytest.mark.parametrize("name", VERSIONS)
def test_f130_a_version_works_as_without_ours(name: str, tmp_path: Path) -> None:
    """F130, F144, F145: a test may fail with a version only if the package by itself fails it, too."""
    requirements, tests = VERSIONS[name]
    python = environment(name, requirements + "pytest==8.4.2\nh2==4.3.0\n")
    plugins = ["-p", "httpx2_as_httpx"] if "httpx2" in name else []
    outcomes = tmp_path / "outcomes.json"
    subprocess.run(
        [
            python,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "outcomes",
            *plugins,
            "-W",
            "ignore",
            TESTS / tests,
        ],
        cwd=ROOT / "bindings/python",
        env={**variables(HERE / "mounted"), "OUTCOMES": str(outcomes)},
        check=False,  # Some fail.
    )
    ended: dict[str, str] = json.loads(outcomes.read_text())
    least = 60 if "box" in tests else 100
    assert sum(outcome == "passed" for outcome in ended.values()) >= least
    failed = {test for test, outcome in ended.items() if outcome == "failed"}
    assert [test for test in failed if not is_of_package(test, failed)] == []
