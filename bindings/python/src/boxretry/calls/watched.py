"""Calls of a client that run Python code while they run: a custom strategy, `on_event`, sources, sinks, …"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Callable

from .._c import _abi
from ..outcome import Request

if TYPE_CHECKING:
    from ._protocols import Sink, Source


class Watched:
    """The state of such a call. The caller that waits for the call keeps it."""

    __slots__ = (
        "__weakref__",
        "before_attempt",
        "cause",
        "exception",
        "on_progress",
        "request",
        "sink",
        "source",
        "telemetry",
        "token",
        "wakes",
    )

    def __init__(self, request: Request) -> None:
        self.request = request
        #: An exception of a callback, raised again where the call was made.
        self.exception: BaseException | None = None
        #: An exception of a source, a sink or a hook: the cause of the error that the call ends with.
        self.cause: BaseException | None = None
        self.source: Source | None = None
        self.sink: Sink | None = None
        self.on_progress: Callable[[Any], object] | None = None
        self.before_attempt: Callable[[Any], object] | None = None
        #: A `CallTelemetry`, or None.
        self.telemetry: Any = None
        #: The thread that waits for the call has to look at what its callbacks for bodies have done.
        self.wakes = False
        #: Identifies this call in the library. Not an id(): a callback may come long after the call was forgotten.
        self.token = new_token()
        reference = _Reference(self, _forget)
        reference.token = self.token
        _watched[self.token] = reference

    def wake(self, call: int) -> None:
        """A callback has something for the thread that waits for the call."""
        if self.wakes:
            _abi.boxretry_call_wake(call)

    def keep(self, exception: BaseException) -> None:
        """A callback that cannot fail has raised an exception: it is reported when the call has ended."""
        if self.exception is None:
            self.exception = exception

    def failed(self, exception: BaseException) -> None:
        """A callback has raised an exception, which ends the call. SystemExit and similar ones are raised unchanged."""
        if isinstance(exception, Exception):
            self.cause = exception
        else:
            self.keep(exception)

    def take_cause(self) -> BaseException | None:
        """The exception that ended the call, once: it refers to frames that refer to this object."""
        cause, self.cause = self.cause, None
        return cause

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Runs a coroutine to its end, for a callback that is a coroutine."""
        coroutine.close()
        raise TypeError("a strategy with coroutines needs a boxretry.aio.AsyncClient")

    def take_exception(self) -> BaseException | None:
        """The exception of a callback, once; then None."""
        exception, self.exception = self.exception, None
        return exception


class _Reference(weakref.ref[Watched]):
    """Finds a call. A weakref.WeakValueDictionary does the same in three times the time."""

    __slots__ = ("token",)

    token: int


_tokens = itertools.count(1)
_watched: dict[int, _Reference] = {}


def _forget(reference: Any, watched: dict[int, _Reference] = _watched) -> None:
    watched.pop(reference.token, None)


def new_token() -> int:
    """A number that is different for each call."""
    return next(_tokens)


def find_watched(token: int | None) -> Watched | None:
    """The call with this token, unless it has been forgotten."""
    reference = _watched.get(token)  # type: ignore[arg-type]  # None is never found.
    return None if reference is None else reference()
