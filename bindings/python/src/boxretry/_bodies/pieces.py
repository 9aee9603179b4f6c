"""What stands between the thread that drives a call and whoever reads its response while it comes."""

from __future__ import annotations

import threading
from collections import deque
from typing import Callable

from ..calls.response_head import ResponseHead
from ..enums import PAUSE, Pause
from ..errors import ClosedError

#: How many bytes wait for their reader before the transfer is paused, and from how few on it goes on.
HIGH, LOW = 1024 * 1024, 256 * 1024


class Pieces:
    """The sink of a stream: a buffer. Whoever waits is told of each change by `tell`."""

    def __init__(self, tell: Callable[[], object], takes_errors: bool) -> None:
        """`tell` is called on the thread that drives the call, and must not wait.

        takes_errors: the bodies of other responses than a 2xx come here, too.
        """
        self._tell = tell
        self.takes_errors = takes_errors
        self._lock = threading.Lock()
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._is_closed = False
        #: The transfer waits for the reader.
        self.is_paused = False
        #: What is known of the response whose body comes.
        self.head: ResponseHead | None = None

    # What the library calls.

    def begin(self, head: ResponseHead) -> None:
        self.head = head
        self._tell()

    def write(self, data: bytes) -> Pause | None:
        with self._lock:
            is_full = self.is_paused = bool(self._pieces) and self._size + len(data) > HIGH
            if not is_full and not self._is_closed:
                self._pieces.append(data)
                self._size += len(data)
        self._tell()
        return PAUSE if is_full else None

    # What the reader calls.

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    @property
    def has_news(self) -> bool:
        """Whether `take()` has something to say."""
        return bool(self._pieces) or self._is_closed

    def take(self) -> tuple[bytes | None, bool]:
        """The next piece, None: there is none now; and whether the call is to be resumed. Raises ClosedError."""
        with self._lock:
            if self._is_closed:
                raise ClosedError("Stream: is closed")
            if not self._pieces:
                return None, False
            piece = self._pieces.popleft()
            self._size -= len(piece)
            goes_on = self.is_paused and self._size <= LOW
            if goes_on:
                self.is_paused = False
            return piece, goes_on

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._pieces.clear()
            self._size = 0
        self._tell()


class Cutter:
    """Makes pieces of one size of pieces of any."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._rest = bytearray()

    def cut(self, piece: bytes) -> list[bytes]:
        """The pieces that are whole now."""
        self._rest += piece
        whole = len(self._rest) // self._size * self._size
        pieces = [bytes(self._rest[start : start + self._size]) for start in range(0, whole, self._size)]
        del self._rest[:whole]
        return pieces

    def rest(self) -> list[bytes]:
        """The last piece, which is smaller, if there is one."""
        return [bytes(self._rest)] if self._rest else []
