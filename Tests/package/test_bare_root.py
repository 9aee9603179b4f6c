"""The packages in a bare Debian, which has neither Swift nor a compiler nor libcurl: apt gets what they need.

The fault server runs outside, and is reached over loopback.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from bare_root import BareRoot, make
from fault_server import FaultServer
from paths import ARCHITECTURE, NATIVE, PACKAGES, ROOT, VERSION

pytestmark = pytest.mark.long


SUITES = ["bookworm", "trixie"] if ARCHITECTURE == NATIVE else ["bookworm"]


@pytest.fixture(scope="module", params=SUITES)
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BareRoot]:
    """A bare root in which the packages have been installed."""
    path = tmp_path_factory.mktemp("root") / request.param
    root = make(request.param, path)
    assert not root.shell("find /usr -name 'libcurl.so*' -o -iname 'libswift*'; command -v swift cc python3 || true")
    (path / "srv/packages").mkdir()
    for deb in PACKAGES.glob("*.deb"):
        shutil.copy(deb, path / "srv/packages")
    root.shell("apt-get install -y -qq --no-install-recommends /srv/packages/*.deb")
    yield root
    shutil.rmtree(path)


def test_the_tool_fetches_through_a_failure(root: BareRoot, server: FaultServer) -> None:
    """Given a server that fails once (B3), when the tool fetches from it, then it gets the second answer."""
    url = server.url("/seq/503,200", {"body": "hello"}, id=f"tool-{root.path.name}")
    assert root.run("boxretry", "fetch", "--retry-base-interval=0", url) == "hello"


def test_the_library_says_the_version_of_the_libcurl_of_the_release(root: BareRoot) -> None:
    installed = root.run("dpkg-query", "-W", "-f", "${Version}", "libcurl4*").split("-")[0].split("+")[0]
    assert root.run("boxretry", "--version").split("libcurl ")[1].split()[0] == installed
    assert root.run("python3", "-c", "import boxretry; print(boxretry.libcurl_version())").strip() == installed


def test_the_tool_trusts_a_certificate_that_an_option_names(root: BareRoot, server: FaultServer) -> None:
    shutil.copy(server.ca, root.path / "srv/ca.pem")
    url = server.url("/seq/200", {"body": "hello"}, id=f"tls-{root.path.name}", kind="https")
    assert root.run("boxretry", "fetch", "--cacert=/srv/ca.pem", url) == "hello"


def test_python_fetches_through_a_failure(root: BareRoot, server: FaultServer) -> None:
    program = """
import sys
from importlib.metadata import version
from boxretry import Client, RetryStrategy
with Client(RetryStrategy(retry_base_interval=0)) as client:
    response = client.get(sys.argv[1])
    print(version("boxretry"), [attempt.status for attempt in response.attempts])
"""
    url = server.url("/seq/503,200", id=f"python-{root.path.name}")
    assert root.run("python3", "-c", program, url) == f"{VERSION} [503, 200]\n"


def test_the_manual_pages_and_the_completion_are_there(root: BareRoot) -> None:
    root.shell(
        "test -s /usr/share/man/man1/boxretry-fetch.1.gz; bash -n /usr/share/bash-completion/completions/boxretry"
    )


@pytest.fixture(scope="module")
def compiler(root: BareRoot) -> BareRoot:
    """The same root, with gcc, pkg-config and cmake from Debian, and the repository's programs."""
    root.install("gcc", "libc6-dev", "pkg-config", "cmake", "make")
    for folder in ("bindings/c", "Tests/c", "Tests/vectors"):
        shutil.copytree(ROOT / folder, root.path / "srv/repository" / folder)
    return root


def test_the_program_of_the_readme_is_built_through_pkg_config(compiler: BareRoot) -> None:
    built = compiler.shell(
        "cd /srv/repository/bindings/c; cc quickstart.c -o /srv/quickstart $(pkg-config --cflags --libs boxretry);"
        "/srv/quickstart"
    )
    assert built.splitlines()[-1].startswith("attempt 3: succeed")


def test_the_program_of_the_readme_is_built_through_find_package(compiler: BareRoot) -> None:
    built = compiler.shell(
        f"cmake -S /srv/repository/Tests/c/find_package -B /srv/consumer -DEXPECTED_VERSION={VERSION} >/srv/log;"
        "cmake --build /srv/consumer >>/srv/log; /srv/consumer/quickstart"
    )
    assert built.splitlines()[-1].startswith("attempt 3: succeed")


def test_a_c_program_fetches_through_a_failure(compiler: BareRoot, server: FaultServer) -> None:
    compiler.shell(
        "cd /srv/repository/bindings/c/examples; cc blocking.c -o /srv/blocking $(pkg-config --cflags --libs boxretry)"
    )
    url = server.url("/seq/503,200", {"503.h": "Retry-After:0"}, id=f"c-{compiler.path.name}")
    compiler.run("/srv/blocking", url)
    assert [request["answer"] for request in server.seen(f"c-{compiler.path.name}")] == ["503", "200"]


def test_the_library_does_what_the_vectors_say(compiler: BareRoot) -> None:
    answer = compiler.shell(
        "cd /srv/repository; cc bindings/c/conformance.c -o /srv/conformance $(pkg-config --cflags --libs boxretry);"
        "/srv/conformance decisions Tests/vectors/decisions.tsv"
    )
    assert answer.endswith(" 0 failed\n")


def test_removing_the_packages_leaves_no_trace(root: BareRoot) -> None:
    """Given the packages in use, when they are purged and installed and purged again, then all files are as before."""
    names = "$(dpkg-query -W -f '${Package}\\n' '*boxretry*')"
    root.shell(f"apt-get purge -y -qq {names}")
    before = root.files()
    assert not [name for name in before if "boxretry" in name and not name.startswith("srv/")]
    root.shell("dpkg -i /srv/packages/*.deb; boxretry --version; python3 -c 'import boxretry'")
    assert root.files() != before
    root.shell(f"dpkg --purge {names}")
    assert root.files() == before
    assert not root.shell("grep -rl boxretry /etc /var/lib/dpkg/info /var/lib/dpkg/status || true")
