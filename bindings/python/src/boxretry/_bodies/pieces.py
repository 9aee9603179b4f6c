"""The buffer between the thread that drives a call and the reader of its response, while it arrives."""

from __future__ import annotations

import threading
from collections import deque
from typing import Callable

from ..calls.response_head import ResponseHead
from ..enums import PAUSE, Pause
from ..errors import ClosedError

#: The transfer pauses before more than HIGH bytes are buffered, and continues when at most LOW are left.
HIGH, LOW = 1024 * 1024, 256 * 1024


class Pieces:
    """The sink of a stream: a buffer."""

    def __init__(self, takes_errors: bool, tell: Callable[[], object] = bool) -> None:
        """takes_errors: it also gets the bodies of responses other than 2xx.

        tell: called for each change, on the thread that drives the call, or that of the reader; it must not wait.
        """
        self._tell = tell
        self.takes_errors = takes_errors
        self._lock = threading.Lock()
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._is_closed = False
        #: The transfer waits for the reader.
        self.is_paused = False
        #: The head of the response whose body arrives.
        self.head: ResponseHead | None = None

    # These are called by the library.

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

    # These are called by the reader.

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    @property
    def has_news(self) -> bool:
        """Whether `take()` has something to return."""
        return bool(self._pieces) or self._is_closed

    def take(self) -> tuple[bytes | None, bool]:
        """The next piece, None if there is none yet; and whether the call is to be resumed. Raises ClosedError."""
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
    """Turns pieces of any size into pieces of one size."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._rest = bytearray()

    def cut(self, piece: bytes) -> list[bytes]:
        """The pieces that are complete now."""
        self._rest += piece
        whole = len(self._rest) // self._size * self._size
        pieces = [bytes(self._rest[start : start + self._size]) for start in range(0, whole, self._size)]
        del self._rest[:whole]
        return pieces

    def rest(self) -> list[bytes]:
        """The last, smaller piece, if there is one."""
        return [bytes(self._rest)] if self._rest else []
