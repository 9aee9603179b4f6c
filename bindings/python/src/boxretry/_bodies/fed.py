"""Bodies of requests that the thread that waits for the call reads: what may block, or is only to be used there."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Any, Callable

from ..calls.call import Call
from ..enums import PAUSE, Pause
from ..errors import SourceError
from .sources import GivenSource, as_bytes

#: How much of a file is read at a time.
_CHUNK = 65536


class FedSource(GivenSource):
    """A body of pieces, which are taken from an iterator when the library has use for them, by `feed()`.

    Meanwhile the transfer pauses. So however long the iterator takes, no other call waits for it.
    """

    def __init__(self, make: Callable[[], Iterator[Any]], *, length: int | None, can_rewind: bool) -> None:
        """`make`: makes the iterator, for each attempt if `can_rewind`."""
        self.length = length
        self.can_rewind = can_rewind
        #: Tells of every change; whoever else the call has to do with may use it too.
        self.changed = threading.Condition()
        self._make = make
        self._iterator: Iterator[Any] | None = None
        self._rest = memoryview(b"")
        self._is_wanted = False
        #: Nothing more is wanted, unless it is sent again.
        self.has_ended = length == 0
        self._round = self._given = 0

    # On the thread that drives the call.

    def read(self, capacity: int) -> bytes | Pause:
        with self.changed:
            if self._rest:
                piece, self._rest = self._rest[:capacity], self._rest[capacity:]
                self._given += len(piece)
                if self._given == self.length:  # The library does not ask for what is behind it.
                    self.has_ended = True
                    self.changed.notify_all()
                return bytes(piece)
            if self.has_ended:
                return b""
            self._is_wanted = True
            self.changed.notify_all()
            return PAUSE

    def rewind(self) -> None:
        with self.changed:
            self._round += 1
            self._iterator, self._rest = None, memoryview(b"")
            self._is_wanted, self.has_ended = False, self.length == 0
            self._given = 0

    # On the thread that waits.

    def feed(self, call: Call, is_done: Callable[[], bool]) -> None:
        """Waits until it is done, and gives what is wanted meanwhile.

        Raises what the iterator raises: the call is then cancelled.
        """
        try:
            self._feed(call, is_done)
        except BaseException:
            call.cancel()
            raise

    def _feed(self, call: Call, is_done: Callable[[], bool]) -> None:
        while True:
            with self.changed:
                while not (is_done() or self._is_wanted):
                    self.changed.wait()
                if is_done():
                    return
                self._is_wanted = False
                round, iterator = self._round, self._iterator
            if iterator is None:
                iterator = self._make()
            piece = _next(iterator)
            with self.changed:
                if round != self._round:  # It is sent again, from its beginning.
                    continue
                self._iterator, self.has_ended = iterator, piece is None
                self._rest = memoryview(piece or b"")
            call.resume()


def _next(iterator: Iterator[Any]) -> bytes | None:
    """The next piece that is not empty; None: that was all."""
    for piece in iterator:
        if encoded := as_bytes(piece, "what data gives"):
            return encoded
    return None


def can_rewind(file: Any) -> bool:
    """Whether `seek()` can go back to where the file is now."""
    if hasattr(file, "seekable"):
        return bool(file.seekable())
    return hasattr(file, "seek") and hasattr(file, "tell")  # As mmap before Python 3.13.


def fed_file(file: Any, length: int | None) -> FedSource:
    """Of what has `read()`: from where it is now."""
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
    """Of what can be iterated over; again, unless it is an iterator."""
    return FedSource(lambda: iter(iterable), length=length, can_rewind=not isinstance(iterable, Iterator))
