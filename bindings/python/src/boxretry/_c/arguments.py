"""Converts a caller's arguments for ctypes.

ctypes itself truncates integers that are too large, and strings at a NUL, without an error. Names are those of the
caller's arguments.
"""

from __future__ import annotations

import math
import operator
import os
from ctypes import Structure, byref, c_double, sizeof
from enum import IntEnum
from typing import Any, Callable, SupportsFloat, SupportsIndex, Union

from ..errors import InvalidArgumentError, check

INT32 = range(-(2**31), 2**31)
INT64 = range(-(2**63), 2**63)
UINT64 = range(2**64)

Text = Union[str, bytes]
Real = Union[SupportsFloat, SupportsIndex]
Path = Union[str, bytes, "os.PathLike[Any]"]


def integer(value: SupportsIndex, name: str, fits: range = INT32) -> int:
    """A whole number that fits the C type. The library checks the range of the argument."""
    try:
        # In Python 3.9 the index of an enum's member is that member, and a range would search all its numbers for it.
        number = int(operator.index(value))
    except TypeError:
        raise TypeError(f"{name}: must be an integer, not {type(value).__name__}") from None
    if number not in fits:
        raise InvalidArgumentError(f"{name}: is far out of range")
    return number


def member(value: SupportsIndex, enum: type[IntEnum], name: str) -> int:
    """A member of an enum, or its number."""
    if not hasattr(value, "__index__"):
        members = ", ".join(f"{enum.__name__}.{each.name}" for each in enum)
        raise TypeError(f"{name}: must be one of {members}, not {type(value).__name__}")
    return integer(value, name)


def real(value: Real, name: str) -> float:
    """A number; integers are numbers, texts are not."""
    try:
        return c_double(value).value  # type: ignore[arg-type]  # It accepts any object with __float__ or __index__.
    except TypeError:
        raise TypeError(f"{name}: must be a number, not {type(value).__name__}") from None
    except OverflowError:
        raise InvalidArgumentError(f"{name}: is far out of range") from None


def text(value: Text, name: str) -> bytes:
    """A text in C's form. Bytes that are not UTF-8 are escaped in a str as os.fsdecode() does it."""
    if isinstance(value, str):
        try:
            in_c = value.encode("utf-8", "surrogateescape")  # As `encoded()` does: a call would take longer.
        except UnicodeEncodeError as error:
            raise InvalidArgumentError(f"{name}: {error}") from None
    elif isinstance(value, bytes):
        in_c = value
    else:
        raise TypeError(f"{name}: must be str or bytes, not {type(value).__name__}")
    if b"\0" in in_c:
        raise InvalidArgumentError(f"{name}: must not contain a NUL")
    return in_c


def path_bytes(path: Path, name: str) -> bytes:
    """A path in C's form."""
    try:
        in_c = os.fsencode(path)
    except TypeError:
        raise TypeError(f"{name}: must be a path, not {type(path).__name__}") from None
    return text(in_c, name)


def seconds_ms(seconds: Real, name: str) -> int:
    """Seconds as milliseconds, rounded to the nearest; but a value other than 0 does not become 0."""
    milliseconds = real(seconds, name) * 1000
    if not math.isfinite(milliseconds):
        raise InvalidArgumentError(f"{name}: must be finite (got {milliseconds:g}); None is no {name}")
    return integer(round(milliseconds) or math.ceil(milliseconds), name, INT64)


#: The bytes of structs with all defaults. To copy them is faster than to call the init function again.
_defaults: dict[type[Structure], bytes] = {}


def new(struct: type[Structure], initialize: Callable[..., int]) -> Any:
    """A struct whose init function has set its size and all defaults."""
    defaults = _defaults.get(struct)
    if defaults is None:
        value = struct()
        check(initialize(byref(value), sizeof(value)))
        defaults = _defaults[struct] = bytes(value)
    return struct.from_buffer_copy(defaults)
