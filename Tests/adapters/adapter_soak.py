"""Sends many requests through an adapter.

`adapter_soak.py PACKAGE memory URL COUNT` prints by how many bytes COUNT requests have let the process grow;
`adapter_soak.py PACKAGE time URL COUNT` the processor time of a request, as a ratio to that without the adapter: COUNT
requests of each in turns, so that other work on the machine slows down both.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

WARM_UP = 2000
#: Rounds of a measurement of time.
ROUNDS = 25

#: Sends this number of requests.
Send = Callable[[int], None]


def resident() -> int:
    """Bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def sender(package: str, is_ours: bool, url: str) -> Send:
    if package == "requests":
        return blocking(requests_session(is_ours).get, url)
    import httpx
    from boxretry.integrations.httpx import AsyncRetryTransport, RetryTransport

    if package == "httpx":
        return blocking(httpx.Client(trust_env=False, transport=RetryTransport() if is_ours else None).get, url)
    client = httpx.AsyncClient(trust_env=False, transport=AsyncRetryTransport() if is_ours else None)
    return on_loop(client.get, url)


def requests_session(is_ours: bool) -> Any:
    import requests
    from boxretry.integrations.requests import RetryAdapter

    session = requests.Session()
    session.trust_env = False
    if is_ours:
        session.mount("http://", RetryAdapter())
    return session


def blocking(get: Callable[[str], Any], url: str) -> Send:
    def send(count: int) -> None:
        for _ in range(count):
            assert get(url).content == b"ok"

    return send


def on_loop(get: Callable[[str], Coroutine[Any, Any, Any]], url: str) -> Send:
    loop = asyncio.new_event_loop()

    async def send(count: int) -> None:
        for _ in range(count):
            assert (await get(url)).content == b"ok"

    return lambda count: loop.run_until_complete(send(count))


def growth(package: str, url: str, count: int) -> int:
    """Bytes."""
    send = sender(package, True, url)
    send(WARM_UP)
    before = resident()
    send(count)
    return resident() - before


def time_ratio(package: str, url: str, count: int) -> float:
    """The median of the rounds."""
    plain, ours = (sender(package, is_ours, url) for is_ours in (False, True))
    for send in (plain, ours):
        send(WARM_UP // 10)
    each = count // ROUNDS
    return statistics.median(seconds(ours, each) / seconds(plain, each) for _ in range(ROUNDS))


def seconds(send: Send, count: int) -> float:
    """Of the processor, those of the engine's own thread included."""
    began = time.process_time()
    send(count)
    return time.process_time() - began


if __name__ == "__main__":
    package, what, url, count = sys.argv[1:]
    print((growth if what == "memory" else time_ratio)(package, url, int(count)))
