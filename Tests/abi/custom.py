"""A custom strategy whose callbacks do what a test wants (B9)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

from arguments import UNWRITTEN
from library import ROOM, Library, address

RETRY = 1


def do_nothing() -> None:
    pass


class Seen(NamedTuple):
    """What an outcome says of the response. Copied in the callback, since it lives no longer."""

    status: int
    cause: int
    body: bytes
    body_state: int
    url: bytes | None


class Custom:
    """A custom strategy, a loop on it, and a record of what was called."""

    def __init__(self) -> None:
        self.library = Library()
        self.action: int | None = RETRY  # what should_retry answers; None: nothing
        self.delay: float | None = 0.5
        self.inside: dict[str, Callable[[], object]] = {}  # what a callback does besides, by its name
        self.called: list[str] = []
        self.context = ctypes.create_string_buffer(1)
        self.contexts: set[int] = set()
        self.seen: list[Seen] = []  # the outcomes that should_retry was asked about
        callbacks: dict[str, Callable[..., None]] = {
            "should_retry": self._should_retry,
            "retry_after": self._retry_after,
            "context_free": self._free,
        }
        struct = "boxretry_strategy_callbacks"
        self._alive = {name: self.library.callback(struct, name, function) for name, function in callbacks.items()}
        fields = {name: address(callback) for name, callback in self._alive.items()}
        self.callbacks = self.library.struct(struct, context=ctypes.addressof(self.context), **fields)
        self.strategy = self.library.new("boxretry_strategy_new_custom", ctypes.addressof(self.callbacks))
        self.loop = self.library.new("boxretry_retry_loop_new", self.strategy, None)
        self.outcome = self.library.struct("boxretry_outcome", status=500)
        self.out = ctypes.create_string_buffer(UNWRITTEN, ROOM)

    def _should_retry(self, context: int, outcome: int, attempt_number: int, action: int) -> None:
        self.seen.append(self._look(outcome))
        self._called("should_retry", context)
        if self.action is not None:
            ctypes.c_int32.from_address(action).value = self.action

    def _retry_after(self, context: int, outcome: int, attempt_number: int, delay: int) -> None:
        self._called("retry_after", context)
        if self.delay is not None:
            ctypes.c_double.from_address(delay).value = self.delay

    def _look(self, outcome: int) -> Seen:
        seen = self.library.structs["boxretry_outcome"].from_address(outcome)
        body = ctypes.string_at(seen.body, seen.body_length) if seen.body else b""
        url = ctypes.string_at(seen.url) if seen.url else None
        return Seen(seen.status, seen.cause, body, seen.body_state, url)

    def _free(self, context: int) -> None:
        self._called("context_free", context)

    def _called(self, name: str, context: int) -> None:
        self.called.append(name)
        self.contexts.add(context)
        self.inside.get(name, do_nothing)()

    def free_strategy(self) -> None:
        self.library.call("boxretry_strategy_free", self.strategy)

    def free_loop(self) -> None:
        self.library.call("boxretry_retry_loop_free", self.loop)

    def free_both(self) -> None:
        self.free_strategy()
        self.free_loop()

    # The three ways to ask it

    def should_retry(self) -> Any:
        arguments = (address(self.outcome), 1, self._decision())
        return self.library.call("boxretry_strategy_should_retry", self.strategy, *arguments)

    def retry_after(self) -> Any:
        arguments = (address(self.outcome), 1, address(self.out))
        return self.library.call("boxretry_strategy_retry_after", self.strategy, *arguments)

    def next(self) -> Any:
        return self.library.call("boxretry_retry_loop_next", self.loop, address(self.outcome), self._decision())

    def _decision(self) -> int:
        decision = self.library.structs["boxretry_decision"].from_buffer(self.out)
        decision.struct_size = ctypes.sizeof(decision)
        return address(self.out)

    @property
    def decision(self) -> Any:
        return self.library.structs["boxretry_decision"].from_buffer(self.out)
