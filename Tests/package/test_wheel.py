"""The wheel in a bare Debian with Python and nothing else: no Swift, no compiler, no libcurl, no libboxretry."""

from __future__ import annotations

import re
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_root import BareRoot, make
from certificates import BUNDLES, put_certificates
from fault_server import FaultServer
from paths import ARCHITECTURE, FOR_ARCHITECTURE, MACHINE, NATIVE, PACKAGES, ROOT, VERSION, run, static_curl_version

pytestmark = pytest.mark.long

SUITES = ["bullseye", "bookworm", "trixie"] if ARCHITECTURE == NATIVE else ["bookworm"]
PYTHON = "/srv/environment/bin/python"
FETCH = """
import sys
from boxretry import Client, RetryStrategy
with Client(RetryStrategy(retry_base_interval=0)) as client:
    response = client.get(sys.argv[1])
    print([attempt.status for attempt in response.attempts], response.text)
"""


# All of glibc, which has had the first three in libc.so.6 since 2.34.
OF_GLIBC = {"libpthread.so.0", "libdl.so.2", "libc.so.6", "ld-linux-aarch64.so.1"}


@pytest.fixture(scope="module")
def wheel() -> Path:
    run(ROOT / "scripts/wheel", *FOR_ARCHITECTURE)
    (wheel,) = PACKAGES.glob("*.whl")
    return wheel


@pytest.fixture(scope="module", params=SUITES)
def root(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BareRoot]:
    """A bare root with the wheel in an empty virtual environment."""
    path = tmp_path_factory.mktemp("wheel") / request.param
    root = make(request.param, path)
    root.install("python3-venv")
    shutil.copy(wheel, path / "srv")
    root.run("python3", "-m", "venv", "/srv/environment")
    root.run(PYTHON, "-m", "pip", "install", "--no-index", f"/srv/{wheel.name}")
    assert not root.shell("find /usr -name 'libcurl*.so*' -o -iname 'libswift*'; command -v swift cc || true")
    yield root
    shutil.rmtree(path)


def test_its_name_promises_what_it_needs(wheel: Path) -> None:
    assert re.fullmatch(rf"boxretry-{VERSION}-py3-none-manylinux_2_\d+_{MACHINE}\.whl", wheel.name)
    assert f'"{wheel.stem.split("-none-")[1]}"' in run("auditwheel", "show", wheel).replace("\n", " ")


def test_its_library_needs_glibc_alone_and_exports_the_library_alone(wheel: Path, tmp_path: Path) -> None:
    """Given libcurl and OpenSSL inside, when another copy of them is in the process, then neither sees the other."""
    with zipfile.ZipFile(wheel) as opened:
        library = opened.extract("boxretry/libboxretry.so.0", tmp_path)
    dynamic = run("readelf", "--dynamic", "--wide", library)
    assert set(re.findall(r"NEEDED.*\[(.*)\]", dynamic)) <= OF_GLIBC
    names = run("nm", "--dynamic", "--defined-only", "--format=just-symbols", library).split()
    assert names
    assert [name for name in names if not name.startswith("boxretry_")] == []


def test_it_has_the_licenses_of_everything_in_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        names = {Path(name).stem for name in opened.namelist() if name.startswith("boxretry/licenses/")}
    assert {"curl", "nghttp2", "libssl", "zlib1g", "libbrotli"} <= names


def test_it_fetches_through_a_failure(root: BareRoot, server: FaultServer) -> None:
    url = server.url("/seq/503,200", {"200.body": "hello"}, id=f"wheel-{root.path.name}")
    assert root.run(PYTHON, "-c", FETCH, url) == "[503, 200] hello\n"


@pytest.mark.parametrize("distribution", BUNDLES)
def test_it_finds_the_certificates_where_the_distribution_has_them(
    root: BareRoot, server: FaultServer, distribution: str
) -> None:
    put_certificates(root, server, None)
    url = server.url("/seq/200", {"body": "hello"}, id=f"{distribution}-{root.path.name}", kind="https")
    with pytest.raises(AssertionError, match="TLSError"):
        root.run(PYTHON, "-c", FETCH, url)
    put_certificates(root, server, BUNDLES[distribution])
    assert root.run(PYTHON, "-c", FETCH, url) == "[200] hello\n"


def test_it_says_the_version_of_the_libcurl_inside(root: BareRoot) -> None:
    says = root.run(PYTHON, "-c", "import boxretry; print(boxretry.libcurl_version())").strip()
    assert says == static_curl_version()


def test_uninstalling_it_leaves_no_trace(root: BareRoot, server: FaultServer) -> None:
    put_certificates(root, server, BUNDLES["Debian"])  # Debian's pip does not start without one.
    root.run(PYTHON, "-m", "pip", "uninstall", "-y", "boxretry")
    assert not root.shell("find /srv/environment -iname '*boxretry*'")


@pytest.mark.skipif(ARCHITECTURE != NATIVE, reason="the source archive is the same for all architectures")
def test_the_source_archive_builds_the_library(wheel: Path, tmp_path: Path) -> None:
    """Given the sdist alone, when a wheel is built from it, then it has the library in it. (This needs Swift.)"""
    with tarfile.open(PACKAGES / f"boxretry-{VERSION}.tar.gz") as opened:
        opened.extractall(tmp_path)
    run("python", "-m", "build", "--wheel", "--outdir", tmp_path, tmp_path / f"boxretry-{VERSION}")
    (built,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(built) as opened:
        assert "boxretry/libboxretry.so.0" in opened.namelist()
