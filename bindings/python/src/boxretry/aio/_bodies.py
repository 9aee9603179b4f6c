"""Request bodies from asynchronous iterators, sent piece by piece."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import Any, Callable

from .._bodies.pieces import HIGH, LOW
from .._bodies.sources import GivenSource, IteratorSource, as_bytes
from ..enums import PAUSE, Pause


def source_on_loop(data: Any, loop: asyncio.AbstractEventLoop) -> LoopSource | None:
    """The source for `data` that may have to run on an event loop; None: `data` does not need the loop."""
    if isinstance(data, AsyncIterator):
        return LoopSource(loop, lambda: data, is_lasting=False)
    if isinstance(data, AsyncIterable):
        return LoopSource(loop, lambda: data, is_lasting=True)
    if callable(data) and not hasattr(data, "read") and not isinstance(data, Iterable):
        return LoopSource(loop, data, is_lasting=True)
    return None


class LoopSource(GivenSource):
    """A body of pieces from an iterator, which runs on its event loop if it is asynchronous.

    The library's threads never wait for it: while there is no piece, the transfer pauses; while the transfer is slow,
    no further piece is taken from the iterator.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, make: Callable[[], Any], *, is_lasting: bool) -> None:
        """`make` makes the iterator. `is_lasting`: it makes one for each attempt; these iterators are closed."""
        self.length: int | None = None
        self.can_rewind = is_lasting
        self._loop, self._make = loop, make
        self._resume: Callable[[], object] = bool
        self._pump: _Pump | None = None
        self._plain: IteratorSource | None = None
        self._is_closed = False

    def begin(self, resume: Callable[[], object]) -> None:
        """The call has started. `resume` resumes it, on the loop."""
        self._resume = resume

    def read(self, capacity: int) -> bytes | Pause:
        pump = self._pump
        if pump is None and self._plain is None:
            if self._is_closed:  # On the loop, at this moment; the same below.
                return PAUSE
            made = self._make()
            if isinstance(made, AsyncIterable):
                self._pump = pump = _Pump(self._loop, made, lambda: self._resume(), closes=self.can_rewind)
                if self._is_closed:
                    self._end_pump()
            else:
                self._plain = IteratorSource(iter(made), None)
        if pump is not None:
            return pump.read(capacity)
        assert self._plain is not None
        return self._plain.read(capacity)

    def rewind(self) -> None:
        self._end_pump()
        self._plain = None

    def close(self) -> None:
        """The call has ended. The iterator's task is canceled."""
        self._is_closed = True
        self._end_pump()
        self._resume = bool  # The old value refers to the call, which refers to this object.

    def _end_pump(self) -> None:
        pump, self._pump = self._pump, None
        if pump is not None:
            pump.close()


class _Pump:
    """A task that takes pieces from an iterator, a limited amount ahead of the transfer."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, iterable: Any, resume: Callable[[], object], *, closes: bool
    ) -> None:
        self._loop, self._iterable, self._resume, self._closes = loop, iterable, resume, closes
        self._lock = threading.Lock()
        self._pieces: deque[memoryview] = deque()
        self._size = 0
        self._is_awaited = self._is_full = self._has_ended = self._is_closed = False
        self._exception: BaseException | None = None
        self._task: asyncio.Task[None] | None = None
        self._room: asyncio.Event
        loop.call_soon_threadsafe(self._begin)

    # These run on the thread that drives the call.

    def read(self, capacity: int) -> bytes | Pause:
        with self._lock:
            if self._pieces:
                return self._take(capacity)
            exception, self._exception = self._exception, None
            if exception is not None:
                try:
                    raise exception
                finally:
                    del exception  # Its traceback refers to this frame.
            if self._has_ended:
                return b""
            self._is_awaited = True
            return PAUSE

    def _take(self, capacity: int) -> bytes:
        taken, left = [], capacity
        while self._pieces and left:
            piece = self._pieces.popleft()
            taken.append(piece[:left])
            if len(piece) > left:
                self._pieces.appendleft(piece[left:])
            left -= len(taken[-1])
        self._size -= capacity - left
        if self._is_full and self._size <= LOW:
            self._is_full = False
            self._loop.call_soon_threadsafe(self._room.set)
        return b"".join(taken)

    def close(self) -> None:
        """Closes the pump. Anywhere."""
        self._is_closed = True
        with contextlib.suppress(RuntimeError):  # The loop is closed, and its tasks have ended.
            self._loop.call_soon_threadsafe(self._cancel)

    # These run on the loop.

    def _begin(self) -> None:
        if not self._is_closed:
            self._room = asyncio.Event()
            self._task = self._loop.create_task(self._run())

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        try:
            iterator = self._iterable.__aiter__()
            try:
                async for chunk in iterator:
                    await self._put(as_bytes(chunk, "each piece of data"))
            finally:
                if self._closes and hasattr(iterator, "aclose"):
                    await iterator.aclose()
        except BaseException as exception:
            if not self._is_closed:
                self._exception = exception
            if isinstance(exception, (KeyboardInterrupt, SystemExit, GeneratorExit)):
                raise
        finally:
            self._has_ended = True
            self._go_on()

    async def _put(self, piece: bytes) -> None:
        if not piece:
            return
        with self._lock:
            self._pieces.append(memoryview(piece))
            self._size += len(piece)
            is_full = self._is_full = self._size >= HIGH
            if is_full:
                self._room.clear()
        self._go_on()
        if is_full:
            await self._room.wait()

    def _go_on(self) -> None:
        with self._lock:
            is_awaited, self._is_awaited = self._is_awaited, False
        if is_awaited:
            self._resume()
