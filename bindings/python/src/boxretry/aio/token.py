"""Access tokens from a provider that is a coroutine."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable
from contextvars import ContextVar
from typing import Any, Callable

from .._c import _abi
from .._c.arguments import Real, Text
from ..calls._token_calls import Provider, provided_token
from ..calls.call import CancelSwitch
from ..clock import ManualClock
from ..decisions.delays import TokenRetryPolicy
from ..errors import InCallbackError, WaitTimeoutError
from ..tokens.token import AnyTokenSource, Token, wait_limit

#: Like `TokenProvider`, awaited.
AsyncTokenProvider = Callable[[], Awaitable["tuple[str | bytes, float]"]]


class TokenSource(AnyTokenSource):
    """Tokens from your coroutine, for an `AsyncClient`.

    The provider runs as a task of the event loop in which the source was made, or otherwise of the first loop that
    needs a token; after that loop is closed, of the next one. It is canceled when the source or its loop is closed. A
    blocking `Client` may use the source too, on other threads than the loop's.

    >>> from boxretry.aio import TokenSource
    >>> async def provider() -> tuple[str, float]:
    ...     return "secret", 3600
    >>> async def main() -> str:
    ...     async with TokenSource(provider) as source:
    ...         return (await source.get()).value
    >>> asyncio.run(main())
    'secret'
    """

    def __init__(
        self,
        provider: AsyncTokenProvider,
        *,
        policy: TokenRetryPolicy | None = None,
        refresh_leeway: Real = 60,
        provider_timeout: Real | None = None,
        fetch_timeout: Real | None = None,
        refresh_ahead_window: Real = 0,
        serve_stale: bool = False,
        clock: ManualClock | None = None,
        initial_token: Text | None = None,
        initial_expires_in: Real | None = None,
    ) -> None:
        """As for `boxretry.TokenSource`, but `provider` is awaited; a call that exceeds `provider_timeout` is canceled
        when the next one begins.

        Raises InvalidArgumentError, OutOfMemoryError, ForkedError, ClosedError.
        """
        own = _AsyncProvider(provider)
        with contextlib.suppress(RuntimeError):  # No loop is running yet.
            own.bind(asyncio.get_running_loop())
        self._open_with(
            own,
            policy,
            refresh_leeway,
            provider_timeout,
            fetch_timeout,
            refresh_ahead_window,
            serve_stale,
            clock,
            initial_token,
            initial_expires_in,
        )

    async def get(self, timeout: Real | None = None, *, cancel: CancelSwitch | None = None) -> Token:
        """Returns the token, and waits for it if necessary. Canceling the task ends the wait, not the fetch (T9).

        The arguments, and the exceptions, are those of `boxretry.TokenSource.get()`.
        """
        limit, loop = wait_limit(timeout), asyncio.get_running_loop()
        assert self._provider is not None
        self._provider.bind(loop)
        done = asyncio.Event()

        def tell() -> None:
            with contextlib.suppress(RuntimeError):  # The loop is closed: no task waits any more.
                loop.call_soon_threadsafe(done.set)

        wait = self._ask(cancel, tell)
        try:
            await asyncio.wait_for(done.wait(), limit)
        except asyncio.TimeoutError:
            if not wait.done.is_set():
                raise WaitTimeoutError("the wait timed out") from None
        finally:
            wait.forget()
        return self._token_of(wait)

    async def __aenter__(self) -> TokenSource:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the source and cancels its provider. You can call it again, and anywhere."""
        super().close()
        if isinstance(self._provider, _AsyncProvider):
            self._provider.close()


#: The providers in whose tasks the current code runs.
_running: ContextVar[tuple[object, ...]] = ContextVar("boxretry_token_providers", default=())


class _AsyncProvider(Provider):
    """A provider that runs on an event loop. No thread of the library waits for it."""

    def __init__(self, function: AsyncTokenProvider) -> None:
        super().__init__(function)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def bind(self, loop: asyncio.AbstractEventLoop) -> None:
        if self in _running.get():
            raise InCallbackError("token_source: a provider must not ask its own source")
        if self._loop is None or self._loop.is_closed():
            self._loop = loop

    def answer(self, request: int) -> None:
        try:
            if self._loop is None:
                raise RuntimeError("a token provider that is a coroutine needs an event loop to run on")
            self._loop.call_soon_threadsafe(self._begin, self._loop, _Request(request))
        except RuntimeError as exception:  # Also if that loop is closed.
            self.fail(request, exception)

    def close(self) -> None:
        """Closes the provider. Anywhere."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # The loop is closed, and its tasks have ended.
                self._loop.call_soon_threadsafe(self._cancel)

    # These run on the loop.

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _begin(self, loop: asyncio.AbstractEventLoop, request: _Request) -> None:
        self._cancel()  # Another call begins only if the previous one has exceeded its time limit.
        self._task = loop.create_task(self._run(request))

    async def _run(self, request: _Request) -> None:
        _running.set((*_running.get(), self))
        try:
            provided = provided_token(await self._function())
        except BaseException as exception:
            if self._task is asyncio.current_task():
                self.fail(request.pointer, exception)
            if not isinstance(exception, Exception):
                raise
        else:
            self.succeed(request.pointer, provided)


class _Request:
    """A retained token request. If nothing refers to it any more, as after its loop was closed, it has failed (T4)."""

    def __init__(self, pointer: int) -> None:
        self.pointer = pointer
        _abi.boxretry_token_request_retain(pointer)

    def __del__(self, release: Callable[[Any], object] = _abi.boxretry_token_request_release) -> None:
        release(self.pointer)
