"""The .deb files and the archive: what is in them, and what they say that they need."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest
from paths import ARCHITECTURE, BUILD, MACHINE, NATIVE, PACKAGES, ROOT, RUNNER, SONAME_VERSION, VERSION, run

LIBDIR = f"usr/lib/{MACHINE}-linux-gnu"
RUNTIME, DEVELOPMENT, TOOL, PYTHON = f"libboxretry{SONAME_VERSION}", "libboxretry-dev", "boxretry", "python3-boxretry"
DEBS = (RUNTIME, DEVELOPMENT, TOOL, PYTHON)
COMMANDS = ("delays", "explain", "fetch", "simulate")


def deb(package: str) -> Path:
    (path,) = PACKAGES.glob(f"{package}_*.deb")
    return path


def files_of(package: str) -> set[str]:
    """All files and links of a package, without its documents."""
    names = [line.split(maxsplit=5)[5].split(" -> ")[0] for line in run("dpkg-deb", "-c", deb(package)).splitlines()]
    return {name[2:] for name in names if not name.endswith("/") and "/share/doc/" not in name}


def field(package: str, name: str) -> str:
    return run("dpkg-deb", "-f", deb(package), name).strip()


def test_there_are_the_four_packages_of_the_headers_version() -> None:
    expected = {f"{name}_{VERSION}-1_{'all' if name == PYTHON else ARCHITECTURE}.deb" for name in DEBS}
    assert {path.name for path in PACKAGES.glob("*.deb")} == expected


def test_the_library_package_has_the_library_and_nothing_else() -> None:
    assert files_of(RUNTIME) == {f"{LIBDIR}/libboxretry.so.{n}" for n in (SONAME_VERSION, VERSION)}


def test_the_development_package_has_what_compilers_need() -> None:
    assert files_of(DEVELOPMENT) == {
        "usr/include/boxretry.h",
        f"{LIBDIR}/libboxretry.so",
        f"{LIBDIR}/pkgconfig/boxretry.pc",
        f"{LIBDIR}/cmake/boxretry/boxretry-config.cmake",
        f"{LIBDIR}/cmake/boxretry/boxretry-config-version.cmake",
        "usr/share/man/man3/libboxretry.3.gz",
    }


def test_the_tool_package_has_the_tool_its_manual_and_its_completion() -> None:
    assert files_of(TOOL) == {
        "usr/bin/boxretry",
        "usr/share/man/man1/boxretry.1.gz",
        *(f"usr/share/man/man1/boxretry-{command}.1.gz" for command in COMMANDS),
        "usr/share/bash-completion/completions/boxretry",
        "usr/share/zsh/vendor-completions/_boxretry",
        "usr/share/fish/vendor_completions.d/boxretry.fish",
    }


def test_the_python_package_has_all_modules_and_no_library() -> None:
    tracked = run("git", "ls-files", "bindings/python/src", cwd=ROOT).split()
    modules = {"usr/lib/python3/dist-packages/" + name.removeprefix("bindings/python/src/") for name in tracked}
    assert files_of(PYTHON) == modules | {f"usr/lib/python3/dist-packages/boxretry-{VERSION}.dist-info/METADATA"}


def test_the_library_needs_the_libcurl_that_the_engine_needs_and_the_libc_that_its_symbols_need() -> None:
    needs = field(RUNTIME, "Depends").split(", ")
    assert "libcurl4 (>= 7.87.0)" in needs
    assert "libc6 (>= 2.34)" in needs
    assert {need.split()[0] for need in needs} == {"libcurl4", "libc6"}


@pytest.mark.parametrize("package", [TOOL, PYTHON])
def test_what_uses_the_library_needs_this_version_of_it(package: str) -> None:
    assert f"{RUNTIME} (>= {VERSION})" in field(package, "Depends").split(", ")


def test_the_development_package_needs_exactly_its_library() -> None:
    assert field(DEVELOPMENT, "Depends") == f"{RUNTIME} (= {VERSION}-1)"


def test_a_package_that_links_the_library_learns_what_to_depend_on() -> None:
    control = subprocess.run(["dpkg-deb", "--ctrl-tarfile", deb(RUNTIME)], capture_output=True, check=True).stdout
    shlibs = subprocess.run(["tar", "xO", "./shlibs"], input=control, capture_output=True, check=True).stdout.decode()
    assert shlibs == f"libboxretry {SONAME_VERSION} {RUNTIME} (>= {VERSION}-1)\n"


@pytest.mark.parametrize("package", DEBS)
def test_lintian_finds_no_error(package: str) -> None:
    run("lintian", "--allow-root", "--fail-on", "error", deb(package))


@pytest.mark.parametrize("package", DEBS)
def test_the_changelog_has_the_version(package: str) -> None:
    contents = subprocess.run(["dpkg-deb", "--fsys-tarfile", deb(package)], capture_output=True, check=True).stdout
    name = f"./usr/share/doc/{package}/changelog.Debian.gz"
    changelog = subprocess.run(["tar", "xO", name], input=contents, capture_output=True, check=True).stdout
    assert gzip.decompress(changelog).decode().startswith(f"libboxretry ({VERSION}-1) ")


@pytest.mark.parametrize(
    ("package", "file"), [(RUNTIME, f"{LIBDIR}/libboxretry.so.{VERSION}"), (TOOL, "usr/bin/boxretry")]
)
def test_a_package_needs_the_libc_that_its_symbols_need(package: str, file: str, tmp_path: Path) -> None:
    """Given that cross-built packages say by hand which libc they need, then the file needs no newer one."""
    run("dpkg-deb", "-x", deb(package), tmp_path)
    symbols = run("readelf", "--version-info", "--wide", tmp_path / file)
    needed = max(tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", symbols))
    assert f"libc6 (>= {'.'.join(map(str, needed))})" in field(package, "Depends").split(", ")


def test_the_archive_works_wherever_it_is_unpacked(tmp_path: Path) -> None:
    (archive,) = (path for path in PACKAGES.glob("libboxretry-*.tar.gz") if "-portable" not in path.name)
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    assert folder.name == archive.name.removesuffix(".tar.gz")
    sysroot = BUILD / ARCHITECTURE / "sysroot"
    compile, qemu = "cc", {}
    if ARCHITECTURE != NATIVE:
        libraries = sysroot / f"usr/lib/{MACHINE}-linux-gnu"
        compile = f"{MACHINE}-linux-gnu-gcc --sysroot={sysroot} -Wl,-rpath-link,{libraries}"
        qemu = {"QEMU_LD_PREFIX": str(sysroot)}
    assert run(*RUNNER, folder / "bin/boxretry", "--version", env={**os.environ, **qemu}).startswith(
        f"boxretry: library {VERSION}, header {VERSION}, libcurl "
    )
    compile += ' "$1" -o "$2" $(pkg-config --cflags --libs boxretry)'
    program = tmp_path / "quickstart"
    environment = {"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": str(folder / "lib/pkgconfig")}
    run("sh", "-ec", compile, "sh", ROOT / "bindings/c/quickstart.c", program, env=environment)
    assert "succeed" in run(*RUNNER, program, env={**os.environ, **qemu, "LD_LIBRARY_PATH": str(folder / "lib")})
