"""Converts the argument `data` of `Client.request()` to the body of a boxretry_request."""

from __future__ import annotations

import io
import os
import stat
import tempfile
from collections.abc import AsyncIterable, Iterable, Iterator
from ctypes import c_char, c_char_p, c_void_p, cast, pointer
from typing import Any, Callable, SupportsIndex, Union

from .._c import _abi
from .._c.arguments import INT64, integer, new
from ..calls._callbacks import read_callback, rewind_callback
from ..calls._protocols import Source
from ..enums import PAUSE, Pause, SourceKind
from ..errors import InvalidArgumentError

Chunk = Union[str, bytes, bytearray, memoryview]

#: A body of this size or more is lent to the library instead of copied. For a smaller one, keeping it costs more.
_WORTH_LENDING = 65536


class GivenSource:
    """A `Source` of this package, which can be given as `data` itself."""


class FileSource:
    """An object with `read()` that is not a file that the library can read by itself."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.can_rewind = bool(getattr(file, "seekable", lambda: False)())
        self.length: int | None = None
        if self.can_rewind:
            self._start = file.tell()
            self._size = file.seek(0, os.SEEK_END)
            self.length = max(self._size - self._start, 0)
            file.seek(self._start)

    def read(self, capacity: int) -> bytes | Pause:
        read = self._file.read(capacity)
        if read is None:  # It does not block, and has no data at the moment.
            return PAUSE
        return as_bytes(read, "what read() of the file returned")

    def rewind(self) -> None:
        if self._file.seek(0, os.SEEK_END) != self._size:  # Every attempt has to send the same bytes (R5).
            raise ValueError("the file has changed since the call began")
        self._file.seek(self._start)


class IteratorSource:
    """Pieces from an iterator; `make` makes a new one for each attempt."""

    length: int | None = None

    def __init__(self, iterator: Iterator[Any] | None, make: Callable[[], Iterable[Any]] | None) -> None:
        self._iterator, self._make = iterator, make
        self._rest = memoryview(b"")
        self.can_rewind = make is not None

    def read(self, capacity: int) -> bytes | Pause:
        if self._iterator is None:
            assert self._make is not None
            self._iterator = iter(self._make())
        while not self._rest:
            try:
                chunk = next(self._iterator)
            except StopIteration:
                return b""
            if isinstance(chunk, Pause):
                return chunk
            self._rest = memoryview(as_bytes(chunk, "each piece of data"))
        piece, self._rest = self._rest[:capacity], self._rest[capacity:]
        return bytes(piece)

    def rewind(self) -> None:
        self._iterator, self._rest = None, memoryview(b"")


class Body:
    """No body. Its subclasses are the bodies."""

    #: The bytes, if they are in memory, for custom strategies.
    content: bytes | None = None
    #: The source that the callbacks read.
    source: Source | None = None

    def fill(self, struct: Any, token: int) -> None:
        """Sets the body. `struct` can be used as long as this object lives. `token` identifies the call."""


class MemoryBody(Body):
    """Bytes, or another object with a buffer."""

    def __init__(self, data: Any) -> None:
        if isinstance(data, str):
            data = data.encode("utf-8")
        if not isinstance(data, bytes):
            view = memoryview(data)
            # ctypes only finds the address of a writable buffer.
            if view.readonly or not view.c_contiguous or not view.nbytes:
                data = view.tobytes()
        self._pointer: Any
        if isinstance(data, bytes):
            self.content = data
            self._pointer = c_char_p(data)
            self._length = len(data)
        else:
            # It holds the buffer, so that a bytearray cannot be resized in the meantime.
            self._length = memoryview(data).nbytes
            self._pointer = (c_char * self._length).from_buffer(data)

    def fill(self, struct: Any, token: int) -> None:
        struct.body = cast(self._pointer, c_void_p)
        struct.body_length = self._length

    @property
    def is_worth_lending(self) -> bool:
        """Whether lending it is better than copying it."""
        return self._length >= _WORTH_LENDING


class SourceBody(Body):
    """A body that the library or callbacks read while it is sent."""

    def __init__(self) -> None:
        self.struct = new(_abi.BodySource, _abi.boxretry_body_source_init)

    def fill(self, struct: Any, token: int) -> None:
        struct.body_source = pointer(self.struct)


class DescriptorBody(SourceBody):
    """A file that the library reads by itself, from its current position."""

    def __init__(self, file: Any, descriptor: int) -> None:
        super().__init__()
        self._file = file
        file.flush()
        self.struct.kind = SourceKind.DESCRIPTOR
        self.struct.descriptor = descriptor
        self.struct.offset = file.tell()


class CallbackBody(SourceBody):
    """A body from a `Source`."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source

    def fill(self, struct: Any, token: int) -> None:
        assert self.source is not None
        self.struct.kind = SourceKind.CALLBACK
        self.struct.length = -1 if self.source.length is None else self.source.length
        self.struct.read, self.struct.context = read_callback, token
        if self.source.can_rewind:
            self.struct.rewind = rewind_callback
        super().fill(struct, token)


def body_of(data: Any) -> Body:
    """The body for the argument `data`, if it is not a form. Raises TypeError, InvalidArgumentError."""
    if data is None:
        return Body()
    if isinstance(data, str) or has_buffer(data):
        return MemoryBody(data)
    if isinstance(data, GivenSource):
        return CallbackBody(data)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    if isinstance(data, io.TextIOBase):
        raise TypeError("data: a file must be opened in binary mode")
    if hasattr(data, "read"):
        descriptor = descriptor_of(data)
        return CallbackBody(FileSource(data)) if descriptor is None else DescriptorBody(data, descriptor)
    if isinstance(data, Iterator):
        return CallbackBody(IteratorSource(data, None))
    if isinstance(data, Iterable):
        return CallbackBody(IteratorSource(None, lambda: data))
    if callable(data):
        return CallbackBody(IteratorSource(None, data))  # pyright: ignore[reportArgumentType]
    if isinstance(data, AsyncIterable):
        raise TypeError("data: an asynchronous iterator needs a boxretry.aio.AsyncClient")
    raise TypeError(f"data: must be str, bytes, a file, an iterator or what makes one, not {type(data).__name__}")


def set_length(body: Body, length: SupportsIndex) -> None:
    """Applies the argument `data_length`. Raises TypeError, InvalidArgumentError."""
    if not isinstance(body, (DescriptorBody, CallbackBody)):
        raise InvalidArgumentError("data_length: can only be given for files and iterators")
    number = integer(length, "data_length", INT64)
    if number < 0:
        raise InvalidArgumentError(f"data_length: must be 0 or more (got {number})")
    if body.source is not None:
        body.source.length = number
    else:
        body.struct.length = number


def has_buffer(data: Any) -> bool:
    """Whether its bytes are in memory: bytearray, memoryview, array, ..."""
    try:
        memoryview(data).release()
    except TypeError:
        return False
    return True


def descriptor_of(file: Any) -> int | None:
    """The descriptor of a regular file that the library can read by itself; None: call `read()`.

    Only the standard library's own classes count: a subclass or a wrapper may read other data than the file's.
    """
    if type(file) is tempfile._TemporaryFileWrapper:
        file = file.file
    if type(file) not in (io.BufferedReader, io.BufferedRandom, io.FileIO):
        return None
    raw = getattr(file, "raw", file)
    # An instance may have its own method.
    if type(raw) is not io.FileIO or "read" in vars(file) or "read" in vars(raw):
        return None
    descriptor = raw.fileno()
    return descriptor if raw.readable() and stat.S_ISREG(os.fstat(descriptor).st_mode) else None


def as_bytes(value: Any, name: str) -> bytes:
    """Bytes, or a text as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, bytes):
        return value
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"{name}: must be str or bytes, not {type(value).__name__}")
