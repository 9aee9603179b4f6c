"""A call that tasks of an event loop wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import CancelledError as FutureCancelledError
from concurrent.futures import Future
from functools import partial
from typing import Any

from .._c.arguments import Text
from .._c.handle import Handle
from ..calls.response import raise_from_callbacks, response_of_call
from ..calls.watched import Watched
from ..client import Client
from ..errors import Response
from ..outcome import Request
from ._bodies import source_on_loop
from ._completions import completions_of


class AsyncCall:
    """A call in progress. One event loop at a time."""

    __slots__ = (
        "__weakref__",
        "_call",
        "_completions",
        "_kept",
        "_method",
        "_provider",
        "_source",
        "_watched",
        "future",
    )

    def __init__(self, client: Client, method: Text, url: Text, arguments: dict[str, Any]) -> None:
        """Starts it. Raises what `Client.submit()` raises, and RuntimeError if the loop has no `add_reader()`."""
        loop = asyncio.get_running_loop()
        handle = client._open_handle()
        self._source = None
        data = arguments.get("data")
        if data is not None and arguments.get("files") is None:
            self._source = source_on_loop(data, loop)
            if self._source is not None:
                arguments = {**arguments, "data": self._source}
        sending = client._sending(method, url, arguments, partial(_WatchedOnLoop, loop=loop))
        self._provider = client._provider_of(sending)
        if self._provider is not None:
            self._provider.bind(loop)
        self._method, self._watched = method, sending.watched
        self._kept = handle, sending  # As long as a task waits.
        self._completions = completions_of(loop)
        #: Its result is the boxretry_response.
        self.future: asyncio.Future[Handle]
        self._call, self.future = self._completions.submit(handle, sending, loop)
        if self._source is not None:
            self._source.begin(self.resume)
            self.future.add_done_callback(partial(_close, self._source))

    def resume(self) -> None:
        """Resumes a paused body. On the loop."""
        self._completions.resume(self._call, self.future)

    def give_up(self) -> None:
        """No task waits any more: cancels the call, unless it has ended, and its coroutines on the loop."""
        self._completions.give_up(self._call, self.future)
        if self._source is not None:
            self._source.close()
        if isinstance(self._watched, _WatchedOnLoop):
            self._watched.give_up()

    async def response(self) -> Response:
        """Waits for the end. Raises what `Client.request()` raises. Canceling the task gives the call up."""
        try:
            result = await self.future
        except BaseException:  # The task was canceled, or is discarded with its loop.
            self.give_up()
            raise
        raise_from_callbacks(self._watched, result, self._method)
        return response_of_call(result, self._method, self._provider)


def _close(source: Any, future: object) -> None:
    source.close()


class _WatchedOnLoop(Watched):
    """A call whose strategy may have coroutines."""

    __slots__ = ("_is_given_up", "_loop", "_running")

    def __init__(self, request: Request, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(request)
        self._loop = loop
        self._running: Future[Any] | None = None
        self._is_given_up = False

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Runs it on the loop, while this thread of the library waits."""
        try:
            self._running = running = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:  # The loop is closed.
            coroutine.close()
            raise
        if self._is_given_up:
            running.cancel()
        try:
            return running.result()
        except FutureCancelledError:
            raise asyncio.CancelledError from None
        finally:
            self._running = None

    def give_up(self) -> None:
        """No task waits for the call any more."""
        self._is_given_up = True
        running = self._running
        if running is not None:
            running.cancel()
