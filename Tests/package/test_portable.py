"""The portable archive, also in a Debian that is too old for the packages: C programs and the tool."""

from __future__ import annotations

import re
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_root import BareRoot, make
from certificates import BUNDLES, put_certificates
from fault_server import FaultServer
from paths import ARCHITECTURE, MACHINE, NATIVE, ROOT, SONAME_VERSION, VERSION, run, static_curl_version

pytestmark = pytest.mark.long

# Debian 11 has libcurl 7.74 and glibc 2.31. qemu is slow: Debian 12 is there already.
SUITES = ["bullseye", "trixie"] if ARCHITECTURE == NATIVE else ["bookworm"]
NEWEST_GLIBC = (2, 34)  # of RHEL 9; Ubuntu 22.04 has 2.35
PREFIX = "/opt/boxretry"
TOOL = f"{PREFIX}/bin/boxretry"


@pytest.fixture(scope="module")
def unpacked(portable: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with tarfile.open(portable) as opened:
        opened.extractall(folder := tmp_path_factory.mktemp("portable"))
    return folder / f"libboxretry-{VERSION}-Linux-{MACHINE}-portable"


@pytest.fixture(scope="module", params=SUITES)
def root(
    request: pytest.FixtureRequest, unpacked: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BareRoot]:
    """A bare root with gcc, pkg-config, the release's own libcurl, and the archive unpacked."""
    path = tmp_path_factory.mktemp("root") / request.param
    root = make(request.param, path)
    root.install("gcc", "libc6-dev", "pkg-config", "libcurl4")
    shutil.copytree(unpacked, path / PREFIX[1:], symlinks=True)
    shutil.copytree(ROOT / "bindings/c", path / "srv/c")
    yield root
    shutil.rmtree(path)


def test_the_first_release_has_a_libcurl_that_is_too_old(root: BareRoot) -> None:
    if root.path.name != "bullseye":
        pytest.skip("this release has a newer libcurl")
    version = root.run("dpkg-query", "-W", "-f", "${Version}", "libcurl4")
    assert tuple(map(int, version.split("-")[0].split("."))) < (7, 87)


@pytest.mark.parametrize("file", ["lib/libboxretry.so.{soname}", "bin/boxretry"])
def test_it_runs_with_an_older_glibc(unpacked: Path, file: str) -> None:
    symbols = run("readelf", "--version-info", "--wide", unpacked / file.format(soname=SONAME_VERSION))
    versions = [tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", symbols)]
    assert versions
    assert max(versions) <= NEWEST_GLIBC


def test_its_library_exports_what_the_ordinary_library_exports(unpacked: Path) -> None:
    library = unpacked / f"lib/libboxretry.so.{SONAME_VERSION}"
    names = run("nm", "--dynamic", "--defined-only", "--format=just-symbols", library).split()
    exported = (ROOT / "abi/boxretry.map").read_text()
    assert set(names) == set(re.findall(r"^ *(boxretry_\w+);", exported, re.MULTILINE))


def test_it_says_what_is_inside(unpacked: Path) -> None:
    documents = unpacked / "share/doc/boxretry"
    assert f"curl {static_curl_version()}" in (documents / "versions").read_text()
    assert {"curl", "nghttp2", "libssl", "zlib1g", "libbrotli"} <= {
        path.stem for path in (documents / "licenses").iterdir()
    }


def test_the_tool_says_the_version_of_the_libcurl_inside(root: BareRoot) -> None:
    assert root.run(TOOL, "--version").split("libcurl ")[1].split()[0] == static_curl_version()


def test_the_tool_fetches_through_a_failure(root: BareRoot, server: FaultServer) -> None:
    url = server.url("/seq/503,200", {"200.body": "hello"}, id=f"portable-tool-{root.path.name}")
    assert root.run(TOOL, "fetch", "--retry-base-interval=0", url) == "hello"


@pytest.mark.parametrize("distribution", BUNDLES)
def test_it_finds_the_certificates_where_the_distribution_has_them(
    root: BareRoot, server: FaultServer, distribution: str
) -> None:
    put_certificates(root, server, None)
    url = server.url("/seq/200", {"body": "hello"}, id=f"portable-{distribution}-{root.path.name}", kind="https")
    with pytest.raises(AssertionError, match="certificate"):
        root.run(TOOL, "fetch", url)
    put_certificates(root, server, BUNDLES[distribution])
    assert root.run(TOOL, "fetch", url) == "hello"


def test_the_environment_names_other_certificates(root: BareRoot, server: FaultServer) -> None:
    put_certificates(root, server, None)
    shutil.copy(server.ca, root.path / "srv/ca.pem")
    url = server.url("/seq/200", {"body": "hello"}, id=f"portable-environment-{root.path.name}", kind="https")
    assert root.run(TOOL, "fetch", url, SSL_CERT_FILE="/srv/ca.pem") == "hello"
    assert root.run(TOOL, "fetch", url, CURL_CA_BUNDLE="/srv/ca.pem", SSL_CERT_FILE="/nowhere") == "hello"


def test_the_same_certificates_are_for_https_proxies(root: BareRoot, server: FaultServer) -> None:
    """Given a server that also answers as a proxy does, when it is an https proxy, then its certificate is checked."""
    put_certificates(root, server, None)
    name = f"portable-proxy-{root.path.name}"
    proxy = server.url("/", id=name, kind="https").split("/?")[0]
    url = server.url("/seq/200", {"body": "hello"}, id=name)
    with pytest.raises(AssertionError, match="certificate"):
        root.run(TOOL, "fetch", "--proxy", proxy, url)
    put_certificates(root, server, BUNDLES["Debian"])
    assert root.run(TOOL, "fetch", "--proxy", proxy, url) == "hello"


def test_a_c_program_is_built_through_pkg_config_and_fetches(root: BareRoot, server: FaultServer) -> None:
    root.shell(
        f"export PKG_CONFIG_PATH={PREFIX}/lib/pkgconfig; cd /srv/c;"
        f"for name in quickstart examples/blocking; do"
        f" cc $name.c -o /srv/${{name##*/}} $(pkg-config --cflags --libs boxretry) -Wl,-rpath,{PREFIX}/lib; done"
    )
    assert "succeed" in root.run("/srv/quickstart").splitlines()[-1]
    name = f"portable-c-{root.path.name}"
    root.run("/srv/blocking", server.url("/seq/503,200", {"503.h": "Retry-After:0"}, id=name))
    assert [request["answer"] for request in server.seen(name)] == ["503", "200"]
