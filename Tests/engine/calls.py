"""What the tests of the engine have in common: strategies that do not take long, and what a call's record says."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, Callable

from boxretry import Attempt, Client, RetryStrategy, libcurl_version

#: The version of libcurl that the library runs with.
LIBCURL = tuple(int(part) for part in libcurl_version().split("."))

#: Seconds by which something may be late on a machine that is busy with other things. Nothing may be early.
#: Less than the 60 s after which a request without an answer ends by default: a limit that does nothing is noticed.
#: BOXRETRY_PATIENCE is for machines that are many times slower, such as qemu.
PATIENCE = 40 * int(os.environ.get("BOXRETRY_PATIENCE", "1"))


def quick(**options: Any) -> RetryStrategy:
    """Box's strategy with the jitter at its middle, a thousand times as fast: it waits for 2, 4, 8, … ms."""
    return RetryStrategy(**{"retry_randomization_factor": 0, "retry_base_interval": 0.001, **options})


def once() -> RetryStrategy:
    """No retries."""
    return RetryStrategy(max_attempts=0, max_retries_on_exception=0)


def waits(attempts: Sequence[Attempt]) -> list[float]:
    """The delays before the next attempts, as recorded; and the record's times say that they were waited for."""
    for before, after in zip(attempts, attempts[1:]):
        waited = after.started_ms - before.ended_ms
        assert waited >= before.delay * 1000 - 0.001, (before, after)
        assert waited <= (before.delay + PATIENCE) * 1000, (before, after)
    return [attempt.delay for attempt in attempts[:-1]]


def statuses(attempts: Sequence[Attempt]) -> list[int | str]:
    """How each attempt ended: its status, or the name of its cause."""
    return [attempt.status or attempt.cause.name for attempt in attempts]


def sent_header(request: dict[str, Any], name: str) -> list[str]:
    """The values of a header that the server has seen."""
    return [value for each, value in request["headers"] if each.lower() == name.lower()]


def recorded(attempts: Sequence[Attempt]) -> int:
    """How many requests the record has (B13)."""
    return sum(1 + attempt.reconnects + attempt.redirects for attempt in attempts)


@contextlib.contextmanager
def takes(at_least: float, at_most: float | None = None) -> Iterator[None]:
    """The block takes at least this time, and at most the other (by default the same), with some patience."""
    start = time.monotonic()
    yield
    elapsed = time.monotonic() - start
    assert at_least <= elapsed <= (at_least if at_most is None else at_most) + PATIENCE


def eventually(condition: Callable[[], bool]) -> None:
    """Waits for something that another thread does without reporting it."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() < start + PATIENCE, "it does not come"
        time.sleep(0.005)


class Background:
    """Something that another thread does; its result, or what it raises, comes out of `result()`."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._result: Any = None
        self._exception: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as exception:
            self._exception = exception

    def result(self) -> Any:
        self._thread.join(60)
        assert not self._thread.is_alive(), "it hangs"
        if self._exception is not None:
            raise self._exception
        return self._result


def in_both_ways(client: Client, method: str, url: str, **arguments: Any) -> list[Any]:
    """A request from the main thread, and one from another, which drives the loop itself: results or exceptions."""

    def send() -> Any:
        try:
            return client.request(method, url, **arguments)
        except Exception as exception:
            return exception

    return [send(), Background(send).result()]


def sha256(data: bytes) -> str:
    """As the server's record has it."""
    return hashlib.sha256(data).hexdigest()
