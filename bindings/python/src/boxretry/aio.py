"""The client for asyncio.

    async with AsyncClient() as client:
        response = await client.get("https://api.example.com/2.0/folders/0")

Its calls run in the library. Their ends reach the event loop through one descriptor, many at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import CancelledError as FutureCancelledError
from concurrent.futures import Future
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._arguments import Real, Text
from ._completions import completions_of
from ._sending import Sending
from .client import Client, ClientStats
from .custom import AsyncCustomRetryStrategy
from .options import ClientSettings, RequestArguments, Strategy
from .outcome import Request
from .response import Response, log_call, response_of_call
from .watched import Watched

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["AsyncClient", "AsyncCustomRetryStrategy"]


class AsyncClient:
    """A `Client` whose requests are awaited: the same settings, arguments, responses and errors.

    It may be used from any event loop that has `add_reader()`, and from several. Cancelling a task cancels its call.
    `on_event`, hooks, a `CustomRetryStrategy`, sources and sinks are called on threads of the library, an
    `AsyncCustomRetryStrategy` on the loop.

    >>> from boxretry.testing import ScriptedServer
    >>> async def main(url: str) -> list[int]:
    ...     async with AsyncClient(deadline=60) as client:
    ...         return [response.status for response in await asyncio.gather(*(client.get(url) for _ in range(3)))]
    >>> with ScriptedServer([204]) as server:
    ...     asyncio.run(main(server.url))
    [204, 204, 204]
    """

    def __init__(self, strategy: Strategy | None = None, **settings: Unpack[ClientSettings]) -> None:
        """The settings are those of `Client`; the strategy may be an `AsyncCustomRetryStrategy` too."""
        self._client = Client(strategy, **settings)

    async def request(self, method: Text, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends a request, retries it as the strategy says, and answers with the response, whatever its status.

        The arguments, and what is raised, are those of `Client.request()`. Cancelling the task cancels the call at
        once, and an `AsyncCustomRetryStrategy` that is deciding about it. Here nothing may give `PAUSE`: there is no
        `Call` to be resumed.

        Raises RuntimeError if the event loop has no `add_reader()`.
        """
        loop = asyncio.get_running_loop()
        client = self._client._open_handle()
        sending = Sending(method, url, self._client._is_watched, partial(_WatchedOnLoop, loop=loop), **arguments)
        completions, watched = completions_of(loop), sending.watched
        call, future = completions.submit(client, sending, loop)
        try:
            result = await future
        except BaseException:  # The task was cancelled, or is thrown away with its loop.
            completions.give_up(call)
            if isinstance(watched, _WatchedOnLoop):
                watched.give_up()
            raise
        log_call(result, method)
        if watched is not None:
            watched.raise_exception()
        return response_of_call(result, method)

    async def get(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """A GET; the arguments are those of `request()`, here and in the next six."""
        return await self.request("GET", url, **arguments)

    async def post(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """A POST."""
        return await self.request("POST", url, **arguments)

    async def put(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """A PUT."""
        return await self.request("PUT", url, **arguments)

    async def patch(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """A PATCH."""
        return await self.request("PATCH", url, **arguments)

    async def delete(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """A DELETE."""
        return await self.request("DELETE", url, **arguments)

    async def head(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """A HEAD."""
        return await self.request("HEAD", url, **arguments)

    async def options(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """An OPTIONS."""
        return await self.request("OPTIONS", url, **arguments)

    def stats(self) -> ClientStats:
        """What the client has done so far. Raises ForkedError, ClosedError."""
        return self._client.stats()

    async def aclose(self, timeout: Real | None = None) -> None:
        """Cancels all calls, refuses new ones (ClosedError), and waits until every call has had its end.

        timeout: seconds, 0 or more; None: for ever. May be called again.

        Raises WaitTimeoutError; the client is closed all the same.
        """
        await asyncio.to_thread(self._client.close, timeout)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


class _WatchedOnLoop(Watched):
    """A call whose strategy may be one with coroutines."""

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
        """Nobody waits for the call any more."""
        self._is_given_up = True
        running = self._running
        if running is not None:
            running.cancel()
