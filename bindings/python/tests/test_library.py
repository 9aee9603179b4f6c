"""boxretry._c.library: where the shared library is found."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from paths import HEADER

import boxretry
from boxretry._c import library

PackageFolder = Path


@pytest.fixture
def package_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackageFolder:
    """A folder instead of the package's; no library of that name is elsewhere on the machine."""
    monkeypatch.setattr(library, "__file__", str(tmp_path / "_c" / "library.py"))
    monkeypatch.setattr(library, "SONAME", "libboxretry-of-a-test.so.0")
    monkeypatch.delenv("BOXRETRY_LIBRARY")
    return tmp_path


def make_library(path: Path, version_number: int) -> Path:
    """A shared library that only has a version."""
    source = f"int boxretry_version_number(void) {{ return {version_number}; }}"
    subprocess.run(["gcc", "-shared", "-x", "c", "-", "-o", path], input=source, text=True, check=True)
    return path


def test_the_library_that_the_environment_names_is_used_instead_of_the_copy_in_the_package(
    package_folder: PackageFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_library(package_folder / library.SONAME, 10000)
    named = make_library(package_folder / "other.so", 20000)
    monkeypatch.setenv("BOXRETRY_LIBRARY", str(named))

    assert library.load()._name == str(named)


def test_no_other_library_is_used_if_the_one_that_the_environment_names_does_not_work(
    package_folder: PackageFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_library(package_folder / library.SONAME, 10000)
    missing = package_folder / "missing.so"
    monkeypatch.setenv("BOXRETRY_LIBRARY", str(missing))

    with pytest.raises(ImportError) as raised:
        library.load()

    assert str(raised.value) == (
        "no libboxretry could be loaded; tried\n"
        f"  the environment variable BOXRETRY_LIBRARY: {missing}: "
        "cannot open shared object file: No such file or directory"
    )


def test_without_the_environment_the_copy_in_the_package_is_used(package_folder: PackageFolder) -> None:
    packaged = make_library(package_folder / library.SONAME, 10000)

    assert library.load()._name == str(packaged)


def test_the_system_comes_last(package_folder: PackageFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given no copy in the package, then the system looks up the name, and the library that it finds is checked."""
    monkeypatch.setattr(library, "SONAME", "libc.so.6")

    with pytest.raises(ImportError) as raised:
        library.load()

    assert str(raised.value).splitlines()[-1] == (
        "  the system's library: libc.so.6: is not libboxretry: it does not have boxretry_version_number()"
    )


def test_the_error_lists_all_that_was_tried_and_why_it_failed(package_folder: PackageFolder) -> None:
    too_old = make_library(package_folder / library.SONAME, 99)

    with pytest.raises(ImportError) as raised:
        library.load()

    first, packaged, system = str(raised.value).splitlines()
    assert first == "no libboxretry could be loaded; tried"
    assert packaged == (
        f"  the copy in the package: {too_old}: is version 0.0.99, and this package needs 0.2.0 or newer"
    )
    assert system == (
        "  the system's library: libboxretry-of-a-test.so.0: cannot open shared object file: No such file or directory"
    )


def test_a_version_has_three_parts(package_folder: PackageFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    make_library(package_folder / library.SONAME, 12345)
    monkeypatch.setattr(library, "NEEDED_VERSION", (1, 23, 46))
    with pytest.raises(ImportError, match=r"is version 1\.23\.45, and this package needs 1\.23\.46 or newer"):
        library.load()


@pytest.mark.parametrize(("number", "is_new_enough"), [(199, False), (200, True), (201, True), (10000, True)])
def test_the_version_must_be_the_needed_one_or_newer(
    number: int, is_new_enough: bool, package_folder: PackageFolder
) -> None:
    make_library(package_folder / library.SONAME, number)
    if is_new_enough:
        assert library.load().boxretry_version_number() == number
    else:
        with pytest.raises(ImportError, match=r"is version 0\.1\.99, and this package needs 0\.2\.0 or newer"):
            library.load()


def test_the_package_has_the_version_of_the_header() -> None:
    found = re.search(r'#define BOXRETRY_VERSION "(.*)"', HEADER.read_text())
    assert found is not None
    assert boxretry.__version__ == found.group(1)
