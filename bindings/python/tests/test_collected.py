"""What a `__del__` can still do with objects that are collected in one cycle with it: their handles are freed first."""

from __future__ import annotations

import gc
from typing import Any, Callable

import pytest

from boxretry import (
    CancelSwitch,
    Client,
    ClosedError,
    CustomRetryStrategy,
    ManualClock,
    Outcome,
    RetryLoop,
    RetryStrategy,
)

#: The server's class is in another folder.
Server = Any


class Owner(CustomRetryStrategy):
    """Refers to itself, and calls a function at its end."""

    def __init__(self, at_the_end: Callable[[Any], object]) -> None:
        self.itself = self
        self.at_the_end = at_the_end
        self.has: Any = None

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        return False

    def __del__(self) -> None:
        self.at_the_end(self.has)


def seen_at_the_end(make: Callable[[Owner], Any], use: Callable[[Any], object]) -> list[object]:
    """The result of using an owner's object in the owner's `__del__`."""
    seen: list[object] = []

    def at_the_end(has: Any) -> None:
        try:
            seen.append(use(has))
        except BaseException as exception:
            seen.append(type(exception))

    owner = Owner(at_the_end)
    owner.has = make(owner)
    del owner
    gc.collect()
    return seen


@pytest.mark.parametrize(
    ("make", "use"),
    [
        (RetryLoop, lambda loop: loop.next(Outcome(503))),
        (lambda _: RetryLoop(RetryStrategy()), lambda loop: loop.next(Outcome(503))),
        (lambda _: RetryStrategy(), lambda strategy: strategy.should_retry(Outcome(503), 1)),
        (lambda _: ManualClock(), lambda clock: clock.advance(1)),
        (lambda _: ManualClock(), lambda clock: clock.sleep(1)),
        (lambda _: CancelSwitch(), lambda switch: switch.trigger()),
        (Client, lambda client: client.get("http://127.0.0.1:1/")),
        (Client, lambda client: client.submit("GET", "http://127.0.0.1:1/")),
        (Client, lambda client: client.stats()),
        (lambda owner: Client(owner).submit("GET", "http://127.0.0.1:1/"), lambda call: call.wait()),
        (lambda owner: Client(owner).submit("GET", "http://127.0.0.1:1/"), lambda call: call.response()),
    ],
)
def test_it_is_closed(make: Callable[[Owner], Any], use: Callable[[Any], object]) -> None:
    """It is never used after it was freed."""
    assert seen_at_the_end(make, use) == [ClosedError]


@pytest.mark.parametrize(
    ("make", "use"),
    [
        (RetryLoop, lambda loop: loop.close()),
        (Client, lambda client: client.close()),
        (lambda owner: Client(owner).submit("GET", "http://127.0.0.1:1/"), lambda call: call.cancel()),
    ],
)
def test_it_may_be_ended(make: Callable[[Owner], Any], use: Callable[[Any], object]) -> None:
    assert seen_at_the_end(make, use) == [None]


def test_a_response_that_was_not_read_is_closed(server: Server) -> None:
    """Given a response whose body was read, and one whose body was not."""
    url = server.url("/seq/200", id=server.new_id(), cycle="")
    with Client() as client:
        assert seen_at_the_end(lambda _: client.get(url), lambda response: response.content) == [ClosedError]
        read = client.get(url)
        assert read.content
        assert seen_at_the_end(lambda _: read, lambda response: response.content) == [read.content]
