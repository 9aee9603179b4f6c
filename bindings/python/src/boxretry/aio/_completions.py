"""How the ends of calls reach an event loop: by one queue of the library for each loop, whose descriptor it watches."""

from __future__ import annotations

import asyncio
import weakref
from ctypes import c_void_p

from .._c import _abi
from .._c.handle import Handle, new_handle
from .._sending.sending import Sending
from ..errors import check

#: How many ended calls are taken at a time. In between the loop does its other work.
_AT_ONCE = 256


class Completions:
    """The calls that tasks of one event loop wait for. It refers to that loop only while some do."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._queue = new_handle(_abi.boxretry_queue_new, free=_abi.boxretry_queue_free)
        self._ended = (c_void_p * _AT_ONCE)()
        # By the pointer of the call. Whoever takes a call out of here frees it: the loop when it has ended, or the task
        # that does not want it any more, which may be on any thread if the garbage collector ends it.
        self._waiting: dict[int, asyncio.Future[Handle]] = {}
        try:
            loop.add_reader(_abi.boxretry_queue_fd(self._queue.pointer), self._take)
        except NotImplementedError:
            raise RuntimeError(
                f"boxretry.aio needs an event loop with add_reader(), which {type(loop).__name__} has not"
            ) from None

    def submit(
        self, client: Handle, sending: Sending, loop: asyncio.AbstractEventLoop
    ) -> tuple[int, asyncio.Future[Handle]]:
        """Starts a call. The call, and where its boxretry_response comes."""
        sending.struct.queue = self._queue.pointer
        out = c_void_p()
        check(_abi.boxretry_client_submit(client.pointer, sending.struct, out))
        assert out.value is not None
        future = self._waiting[out.value] = loop.create_future()
        return out.value, future

    def resume(self, call: int, future: asyncio.Future[Handle]) -> None:
        """Goes on with a call that has paused, unless it has ended."""
        if self._waiting.get(call) is future:
            _abi.boxretry_call_resume(call)

    def give_up(self, call: int, future: asyncio.Future[Handle]) -> None:
        """Cancels a call, unless it has ended. (Then another one may be where it was.)"""
        if self._waiting.get(call) is future:
            del self._waiting[call]
            _abi.boxretry_call_free(call)

    def _take(self) -> None:
        count = _abi.boxretry_queue_take(self._queue.pointer, self._ended, _AT_ONCE, 0)
        for call in self._ended[:count]:
            future = self._waiting.pop(call, None)  # type: ignore[arg-type]  # None of them is NULL.
            if future is None:
                continue
            response = Handle(_abi.boxretry_call_take_response(call), _abi.boxretry_response_free)
            _abi.boxretry_call_free(call)
            if not future.done():  # It is done if its task was cancelled a moment ago.
                future.set_result(response)


_of_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Completions] = weakref.WeakKeyDictionary()


def completions_of(loop: asyncio.AbstractEventLoop) -> Completions:
    """Those of the loop that runs here. Raises RuntimeError if it cannot watch descriptors."""
    completions = _of_loops.get(loop)
    if completions is None:
        # A loop that was closed in the middle of calls is referred to by them, and so would never be forgotten.
        for other in [each for each in _of_loops if each.is_closed()]:
            del _of_loops[other]
        completions = _of_loops[loop] = Completions(loop)
    return completions
