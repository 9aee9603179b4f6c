"""Request bodies that the thread that waits for the call reads: they may block, or only that thread may use them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any, Callable

from ..calls.call import Call
from ..enums import PAUSE, Pause
from ..errors import SourceError
from .sources import GivenSource, as_bytes

#: How many bytes of a file are read at a time.
_CHUNK = 65536


class FedSource(GivenSource):
    """A body of pieces. `feed()` takes them from an iterator when the library needs them.

    Until then the transfer pauses, so other calls do not wait, however long the iterator takes.
    """

    def __init__(self, make: Callable[[], Iterator[Any]], *, length: int | None, can_rewind: bool) -> None:
        """`make` makes the iterator, for each attempt if `can_rewind`."""
        self.length = length
        self.can_rewind = can_rewind
        self._lock = threading.Lock()
        self._make = make
        self._iterator: Iterator[Any] | None = None
        self._rest = memoryview(b"")
        self._is_wanted = False
        #: No more data is needed, unless the body is sent again.
        self.has_ended = length == 0
        self._round = self._given = 0

    # These run on the thread that drives the call.

    def read(self, capacity: int) -> bytes | Pause:
        with self._lock:
            if self._rest:
                piece, self._rest = self._rest[:capacity], self._rest[capacity:]
                self._given += len(piece)
                if self._given == self.length:  # The library does not read beyond the length.
                    self.has_ended = True
                return bytes(piece)
            if self.has_ended:
                return b""
            self._is_wanted = True
            return PAUSE

    def rewind(self) -> None:
        with self._lock:
            self._round += 1
            self._iterator, self._rest = None, memoryview(b"")
            self._is_wanted, self.has_ended = False, self.length == 0
            self._given = 0

    # These run on the thread that waits.

    def feed(self, call: Call, is_done: Callable[[], bool]) -> None:
        """Waits until `is_done()`, and supplies data when it is needed.

        Raises an exception of the iterator; the call is canceled then.
        """
        try:
            self._feed(call, is_done)
        except BaseException:
            call.cancel()
            raise

    def _feed(self, call: Call, is_done: Callable[[], bool]) -> None:
        while not is_done():
            with self._lock:
                is_wanted, self._is_wanted = self._is_wanted, False
                round, iterator = self._round, self._iterator
            if not is_wanted:
                call._wait_for_news()
                continue
            if iterator is None:
                iterator = self._make()
            piece = _next(iterator)
            with self._lock:
                if round != self._round:  # It is sent again from the beginning.
                    continue
                self._iterator, self.has_ended = iterator, piece is None
                self._rest = memoryview(piece or b"")
            call.resume()


def _next(iterator: Iterator[Any]) -> bytes | None:
    """The next piece that is not empty; None: the end."""
    for piece in iterator:
        if encoded := as_bytes(piece, "each piece of data"):
            return encoded
    return None


def can_rewind(file: Any) -> bool:
    """Whether `seek()` can return to the file's current position."""
    if hasattr(file, "seekable"):
        return bool(file.seekable())
    return hasattr(file, "seek") and hasattr(file, "tell")  # For mmap before Python 3.13.


def fed_file(file: Any, length: int | None) -> FedSource:
    """The source for an object with `read()`, from its current position."""
    start = file.tell() if can_rewind(file) else None
    size: int | None = None

    def pieces() -> Iterator[Any]:
        nonlocal size
        if start is not None:
            end = file.seek(0, os.SEEK_END)
            if size is not None and end != size:  # Every attempt has to send the same bytes (R5).
                raise SourceError("the file has changed since the call began")
            size = end
            file.seek(start)
        return iter(lambda: file.read(_CHUNK) or b"", b"")

    return FedSource(pieces, length=length, can_rewind=start is not None)


def fed_iterable(iterable: Any, length: int | None) -> FedSource:
    """The source for an object that can be iterated over; repeatedly, unless it is an iterator."""
    return FedSource(lambda: iter(iterable), length=length, can_rewind=not isinstance(iterable, Iterator))
