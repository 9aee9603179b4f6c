"""AsyncClient on a manual clock, against a server in real time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from boxretry import ManualClock, Timeout
from boxretry.aio import AsyncClient
from fault_server import FaultServer

HOUR = 3600.0
#: Real seconds that are ample for what takes milliseconds, and far below any time on the clock.
SOON = 30.0


def test_a_clock_that_advances_by_itself(server: FaultServer) -> None:
    """Given two calls that wait for hours, and one whose deadline is before its retry, at the same time."""
    urls = [
        server.url("/seq/503,200", {"503.h": f"Retry-After:{hours * 3600}"}, id=server.new_id()) for hours in (1, 2, 3)
    ]

    async def get(clock: ManualClock) -> list[Any]:
        async with AsyncClient(clock=clock) as client:
            late = client.get(urls[2], deadline=1.5 * HOUR)
            return await asyncio.gather(*map(client.get, urls[:2]), late, return_exceptions=True)

    with ManualClock(auto_advance=True) as clock:
        one, two, late = asyncio.run(asyncio.wait_for(get(clock), SOON))
        assert clock.monotonic() == 2 * HOUR
    assert [(each.status, each.attempts[-1].started_ms) for each in (one, two)] == [
        (200, HOUR * 1000),
        (200, 2 * HOUR * 1000),
    ]
    assert (late.status, len(late.attempts)) == (503, 1)


def test_a_clock_that_only_moves_when_told(server: FaultServer) -> None:
    """Given calls that wait for an hour: the first one gets it, and the second one's task is canceled."""
    urls = [server.url("/seq/503,200", {"503.h": "Retry-After:3600"}, id=server.new_id()) for _ in range(2)]

    async def get(clock: ManualClock) -> Any:
        async with AsyncClient(clock=clock, timeout=Timeout(None, None)) as client:
            call = asyncio.create_task(client.get(urls[0]))
            await asyncio.to_thread(clock.wait_for_timer, SOON)
            assert not call.done()
            clock.advance(HOUR)
            response = await call
            canceled = asyncio.create_task(client.get(urls[1]))
            await asyncio.to_thread(clock.wait_for_timer, SOON)
            canceled.cancel()
            with pytest.raises(asyncio.CancelledError):
                await canceled
            return response

    with ManualClock() as clock:
        response = asyncio.run(asyncio.wait_for(get(clock), SOON))
        assert clock.monotonic() == HOUR
    assert (response.status, response.attempts[1].started_ms) == (200, HOUR * 1000)
