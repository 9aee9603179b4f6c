"""Event loops for asynchronous tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, Callable, TypeVar

from boxretry import RetryStrategy
from boxretry.aio import AsyncClient

T = TypeVar("T")


def in_loop(work: Callable[[AsyncClient], Awaitable[T]], **settings: Any) -> T:
    """Runs `work` with a client in a new event loop. Errors that the loop reports fail the test."""

    async def run() -> T:
        complaints: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        async with AsyncClient(**{"strategy": RetryStrategy(retry_base_interval=0.001), **settings}) as client:
            result = await work(client)
        assert complaints == []
        return result

    return asyncio.run(run())


async def until(condition: Callable[[], bool]) -> None:
    """Lets the loop run until the condition holds."""
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never holds")
