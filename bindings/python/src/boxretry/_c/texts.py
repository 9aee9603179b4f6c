"""Texts in C's form and in Python's."""

from __future__ import annotations


def decoded(in_c: bytes) -> str:
    """A text of the library. Bytes that are not UTF-8 are escaped."""
    return in_c.decode("utf-8", "surrogateescape")


def encoded(value: str) -> bytes:
    """The inverse of `decoded()`."""
    return value.encode("utf-8", "surrogateescape")
