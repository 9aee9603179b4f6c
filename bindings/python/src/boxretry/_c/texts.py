"""Texts in C's form and in Python's."""

from __future__ import annotations

from ctypes import PYFUNCTYPE, c_ssize_t, c_void_p, py_object, pythonapi

#: Like ctypes.string_at(), which takes longer, and in old versions limits lengths to those of an int.
bytes_at = PYFUNCTYPE(py_object, c_void_p, c_ssize_t)(("PyBytes_FromStringAndSize", pythonapi))


def decoded(in_c: bytes) -> str:
    """A text of the library. Bytes that are not UTF-8 are escaped."""
    return in_c.decode("utf-8", "surrogateescape")


def encoded(value: str) -> bytes:
    """The inverse of `decoded()`."""
    return value.encode("utf-8", "surrogateescape")
