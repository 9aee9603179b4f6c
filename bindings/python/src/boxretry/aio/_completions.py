"""Reports ended calls to an event loop: each loop has one queue of the library, whose descriptor it watches."""

from __future__ import annotations

import asyncio
import weakref
from ctypes import c_void_p

from .._c import _abi
from .._c.handle import Handle, new_handle
from .._sending.sending import Sending
from ..errors import check

#: How many ended calls are taken at a time. In between, the loop does its other work.
_AT_ONCE = 256


class Completions:
    """The calls that tasks of one event loop wait for. It refers to the loop only while there are such tasks."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._queue = new_handle(_abi.boxretry_queue_new, free=_abi.boxretry_queue_free)
        self._ended = (c_void_p * _AT_ONCE)()
        # By the pointer of the call. The code that removes a call from here frees it: the loop when the call has ended,
        # or the task that gives it up, which may be on any thread if the garbage collector ends the task.
        self._waiting: dict[int, asyncio.Future[Handle]] = {}
        try:
            loop.add_reader(_abi.boxretry_queue_fd(self._queue.pointer), self._take)
        except NotImplementedError:
            raise RuntimeError(
                f"boxretry.aio needs an event loop with add_reader(), which {type(loop).__name__} does not have"
            ) from None

    def submit(
        self, client: Handle, sending: Sending, loop: asyncio.AbstractEventLoop
    ) -> tuple[int, asyncio.Future[Handle]]:
        """Starts a call. Returns it, and the future of its boxretry_response."""
        sending.struct.queue = self._queue.pointer
        out = c_void_p()
        check(_abi.boxretry_client_submit(client.pointer, sending.struct, out))
        assert out.value is not None
        future = self._waiting[out.value] = loop.create_future()
        return out.value, future

    def resume(self, call: int, future: asyncio.Future[Handle]) -> None:
        """Resumes a paused call, unless it has ended."""
        if self._waiting.get(call) is future:
            _abi.boxretry_call_resume(call)

    def give_up(self, call: int, future: asyncio.Future[Handle]) -> None:
        """Cancels a call, unless it has ended. (Its pointer may then be that of another call.)"""
        if self._waiting.get(call) is future:
            del self._waiting[call]
            _abi.boxretry_call_free(call)

    def _take(self) -> None:
        count = _abi.boxretry_queue_take(self._queue.pointer, self._ended, _AT_ONCE, 0)
        for call in self._ended[:count]:
            future = self._waiting.pop(call, None)  # type: ignore[arg-type]  # No call's pointer is NULL.
            if future is None:
                continue
            response = Handle(_abi.boxretry_call_take_response(call), _abi.boxretry_response_free)
            _abi.boxretry_call_free(call)
            if not future.done():  # It is done if its task was just canceled.
                future.set_result(response)


_of_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Completions] = weakref.WeakKeyDictionary()


def completions_of(loop: asyncio.AbstractEventLoop) -> Completions:
    """The completions of the running loop. Raises RuntimeError if the loop cannot watch descriptors."""
    completions = _of_loops.get(loop)
    if completions is None:
        # A loop that was closed during calls is referred to by them, and would never be removed.
        for other in [each for each in _of_loops if each.is_closed()]:
            del _of_loops[other]
        completions = _of_loops[loop] = Completions(loop)
    return completions
