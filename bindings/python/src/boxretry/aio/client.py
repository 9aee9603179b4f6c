"""The client for asyncio."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from .._c.arguments import Real, Text
from .._sending.sending import shows_arguments
from ..client import Client, ClientStats
from ..errors import Response
from ..options import ClientSettings, RequestArguments, Strategy
from ._calls import AsyncCall
from .stream import AsyncStream

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncClient:
    """A `Client` whose requests are awaited: the same settings, arguments, responses and errors.

    Any event loop that has `add_reader()` may use it, including several at once. Canceling a task cancels its call.
    `on_event`, hooks, a `CustomRetryStrategy`, sources and sinks are called on threads of the library; asynchronous
    iterators, an `AsyncCustomRetryStrategy` and the provider of this module's `TokenSource` run on the loop.

    >>> from boxretry.testing import ScriptedServer
    >>> async def main(url: str) -> list[int]:
    ...     async with AsyncClient(deadline=60) as client:
    ...         return [response.status for response in await asyncio.gather(*(client.get(url) for _ in range(3)))]
    >>> with ScriptedServer([204]) as server:
    ...     asyncio.run(main(server.url))
    [204, 204, 204]
    """

    def __init__(self, strategy: Strategy | None = None, **settings: Unpack[ClientSettings]) -> None:
        """The settings are those of `Client`; the strategy may also be an `AsyncCustomRetryStrategy`."""
        self._client = Client(strategy, **settings)  # pyright: ignore[reportArgumentType]

    def derived(self, strategy: Strategy | None = None, **settings: Unpack[ClientSettings]) -> AsyncClient:
        """Makes a client that shares this one's connections, like `Client.derived()`."""
        made = AsyncClient.__new__(AsyncClient)
        made._client = self._client.derived(strategy, **settings)
        return made

    @shows_arguments
    async def request(self, method: Text, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends a request, retries it as the strategy decides, and returns the response, with any status.

        The arguments, and the exceptions, are those of `Client.request()`. `data` may also be an asynchronous iterator,
        which can be sent only once (R3); an object that can be iterated over asynchronously and repeatedly; or a
        function that makes such an iterator for each attempt, which is closed after it. It runs in a task on the loop,
        at most about 1 MiB ahead of the transfer. If it raises an exception, the call ends with SourceError, with that
        exception as its cause.

        Canceling the task immediately cancels the call and its coroutines on the loop. `PAUSE` cannot be used here,
        because there is no `Call` to resume.

        Raises RuntimeError if the event loop has no `add_reader()`.
        """
        return await AsyncCall(self._client, method, url, cast("dict[str, Any]", arguments)).response()

    @shows_arguments
    def stream(
        self, method: Text, url: Text, *, stream_errors: bool = False, **arguments: Unpack[RequestArguments]
    ) -> AsyncStream:
        """Sends a request whose response is read while it arrives: `async with client.stream("GET", url) as stream:`.

        The arguments are those of `request()` except `to_file` and `sink`. stream_errors: as for `Client.stream()`.
        """
        return AsyncStream(self._client, method, url, arguments, stream_errors)

    @shows_arguments
    async def get(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends a GET; the arguments are those of `request()`, here and in the next six methods."""
        return await self.request("GET", url, **arguments)

    @shows_arguments
    async def post(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends a POST."""
        return await self.request("POST", url, **arguments)

    @shows_arguments
    async def put(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends a PUT."""
        return await self.request("PUT", url, **arguments)

    @shows_arguments
    async def patch(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends a PATCH."""
        return await self.request("PATCH", url, **arguments)

    @shows_arguments
    async def delete(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends a DELETE."""
        return await self.request("DELETE", url, **arguments)

    @shows_arguments
    async def head(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends a HEAD."""
        return await self.request("HEAD", url, **arguments)

    @shows_arguments
    async def options(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends an OPTIONS."""
        return await self.request("OPTIONS", url, **arguments)

    def stats(self) -> ClientStats:
        """Reads the client's counters. Raises ForkedError, ClosedError."""
        return self._client.stats()

    async def aclose(self, timeout: Real | None = None) -> None:
        """Cancels all calls, refuses new ones (ClosedError), and waits until every call has ended.

        timeout: seconds, 0 or more; None: no limit. You can call it again.

        Raises WaitTimeoutError; the client is closed even then.
        """
        await asyncio.to_thread(self._client.close, timeout)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()
