"""From what a caller passes to what ctypes can be given.

ctypes itself cuts integers that are too big, and strings at a NUL, without a word. All names are those of the arguments
as the caller knows them.
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
    """A whole number that fits. Whether it is in the range of the argument is the library's to say."""
    try:
        # In Python 3.9 the index of an enum's member is that member, which a range looks for among all its numbers.
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
        return c_double(value).value  # type: ignore[arg-type]  # It takes all that has __float__ or __index__.
    except TypeError:
        raise TypeError(f"{name}: must be a number, not {type(value).__name__}") from None
    except OverflowError:
        raise InvalidArgumentError(f"{name}: is far out of range") from None


def text(value: Text, name: str) -> bytes:
    """A text as C has it. Bytes that are no UTF-8 stand in a str as os.fsdecode() puts them there."""
    if isinstance(value, str):
        try:
            encoded = value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise InvalidArgumentError(f"{name}: {error}") from None
    elif isinstance(value, bytes):
        encoded = value
    else:
        raise TypeError(f"{name}: must be str or bytes, not {type(value).__name__}")
    if b"\0" in encoded:
        raise InvalidArgumentError(f"{name}: has a NUL in it")
    return encoded


def path_bytes(path: Path, name: str) -> bytes:
    """A path as C has it."""
    try:
        encoded = os.fsencode(path)
    except TypeError:
        raise TypeError(f"{name}: must be a path, not {type(path).__name__}") from None
    return text(encoded, name)


def decoded(encoded: bytes) -> str:
    """What `text()` was given."""
    return encoded.decode("utf-8", "surrogateescape")


def seconds_ms(seconds: Real, name: str) -> int:
    """Seconds as milliseconds, to the nearest one; but what is not 0 does not become 0."""
    milliseconds = real(seconds, name) * 1000
    if not math.isfinite(milliseconds):
        raise InvalidArgumentError(f"{name}: must be finite, but is {milliseconds:g}; None is no {name}")
    return integer(round(milliseconds) or math.ceil(milliseconds), name, INT64)


def new(struct: type[Structure], initialize: Callable[..., int]) -> Any:
    """A struct with its size and all defaults filled in, by its init function."""
    value: Any = struct()
    check(initialize(byref(value), sizeof(value)))
    return value
