"""Finds and loads the shared library."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator

SONAME = "libboxretry.so.0"

#: The oldest version of the library with all functions that this package calls: major, minor, patch.
NEEDED_VERSION = (0, 2, 0)


def load() -> ctypes.CDLL:
    """Loads the first of the `candidates()` that works.

    Raises ImportError, which lists all that were tried and why each failed.
    """
    failures = []
    for origin, path in candidates():
        try:
            return _load_one(path)
        except OSError as error:  # The text of dlopen() contains the file's name.
            failures.append(f"{origin}: {error}")
    raise ImportError("no libboxretry could be loaded; tried\n" + "\n".join(f"  {failure}" for failure in failures))


def candidates() -> Iterator[tuple[str, str]]:
    """Where a library may be, in the order in which they are tried: a description of the place, and what to load.

    If the environment names a library, no other one is tried.
    """
    from_environment = os.environ.get("BOXRETRY_LIBRARY")
    if from_environment:
        yield "the environment variable BOXRETRY_LIBRARY", from_environment
    else:
        yield "the copy in the package", _path_in_package()
        yield "the system's library", SONAME


def _path_in_package() -> str:
    # Without pathlib, which is slow to import.
    return os.path.join(os.path.dirname(os.path.dirname(__file__)), SONAME)


def _load_one(path: str) -> ctypes.CDLL:
    library = ctypes.CDLL(path)
    try:
        number = library.boxretry_version_number()
    except AttributeError:
        raise OSError(f"{path}: is not libboxretry: it does not have boxretry_version_number()") from None
    version = (number // 10000, number // 100 % 100, number % 100)
    if version < NEEDED_VERSION:
        raise OSError(
            f"{path}: is version {_dotted(version)}, and this package needs {_dotted(NEEDED_VERSION)} or newer"
        )
    return library


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
