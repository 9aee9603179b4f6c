"""The Python suite under the interpreters of other releases of Debian, with their libcurl if it is new enough."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_root import BareRoot, make
from paths import ARCHITECTURE, BUILD, NATIVE, PACKAGES, ROOT, run

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(ARCHITECTURE != NATIVE, reason="Tests/arm64/run runs the suite for arm64"),
]

# By version of Python, the release of Debian that has it. (3.11 of Debian 12 is what the suite runs on anyway.)
# The library for Debian 11 is the portable one.
RELEASES = {"3.9": "bullseye", "3.13": "trixie", "3.14": "sid", "3.15": "sid"}
#: What the tests import, and what that needs: pip looks at the conditions for this Python, not for the other one.
MODULES = (
    "pytest", "pytest-xdist", "h2", "pycparser", "requests", "httpx", "boxsdk",
    "exceptiongroup", "tomli", "typing-extensions",
)  # fmt: skip
PYTHON = "/srv/environment/bin/python"
REPOSITORY = "/srv/repository"


def modules_for(python: str) -> Path:
    """A folder with the modules for a version of Python. Downloaded outside of the root, where pip has its settings."""
    kept = BUILD / "roots" / f"python-{python}"
    if not (kept / "complete").exists():
        options = ("--quiet", "--only-binary=:all:", "--python-version", python, "--dest", kept)
        run(sys.executable, "-m", "pip", "download", *options, *MODULES)
        (kept / "complete").touch()
    return kept


@pytest.fixture(scope="module", params=RELEASES)
def root(
    request: pytest.FixtureRequest, portable: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BareRoot]:
    """A bare root with the repository's files, the library in /srv/prefix, and an environment for the tests."""
    version, release = request.param, RELEASES[request.param]
    path = tmp_path_factory.mktemp("python") / version
    root = make(release, path)
    root.install("gcc", "libc6-dev", f"python{version}-venv", "libcurl4", "openssl", "procps")
    (path / "etc/hosts").write_text("127.0.0.1 localhost\n")  # A bare root has none.
    tracked = subprocess.run(
        ["git", "ls-files", "-z", ":!Tests/fuzz/corpus"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    (path / REPOSITORY[1:]).mkdir()
    subprocess.run(["xargs", "-0", "cp", "--parents", "-t", path / REPOSITORY[1:]], cwd=ROOT, input=tracked, check=True)
    ordinary = next(found for found in PACKAGES.glob("libboxretry-*.tar.gz") if found != portable)
    with tarfile.open(portable if release == "bullseye" else ordinary) as opened:
        opened.extractall(path / "srv")
    next((path / "srv").glob("libboxretry-*")).rename(path / "srv/prefix")
    shutil.copytree(modules_for(version), path / "srv/modules")
    root.run(f"python{version}", "-m", "venv", "/srv/environment")
    root.run(PYTHON, "-m", "pip", "install", "--quiet", "--no-index", "--find-links=/srv/modules", *MODULES)
    yield root
    shutil.rmtree(path)


def test_the_python_suite_passes(root: BareRoot) -> None:
    answer = root.run(
        PYTHON, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", f"{REPOSITORY}/bindings/python/tests",
        BOXRETRY_PREFIX="/srv/prefix", PYTHONPATH=f"{REPOSITORY}/bindings/python/src",
    )  # fmt: skip
    print(root.path.name, answer.splitlines()[-1])
    assert re.search(r"\d{3,} passed", answer.splitlines()[-1])
