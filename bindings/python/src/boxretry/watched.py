"""Calls of a client that Python code is told of while they run: by a custom strategy, or by `on_event`."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Coroutine
from typing import Any

from .outcome import Request


class Watched:
    """What such a call has to remember. Whoever waits for the call keeps it."""

    __slots__ = ("__weakref__", "exception", "request", "token")

    def __init__(self, request: Request) -> None:
        self.request = request
        #: What a callback has raised; it is raised again where the call was made.
        self.exception: BaseException | None = None
        #: Stands for this call in the library. No id(): a callback may come when the call is long forgotten.
        self.token = next(_tokens)
        _watched[self.token] = self

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Runs a coroutine to its end, for a callback that is one."""
        coroutine.close()
        raise TypeError("a strategy with coroutines needs a boxretry.aio.AsyncClient")

    def raise_exception(self) -> None:
        """Raises what a callback has raised, once."""
        exception, self.exception = self.exception, None
        if exception is not None:
            try:
                raise exception
            finally:
                del exception  # Its traceback refers to this frame.


_tokens = itertools.count(1)
_watched: weakref.WeakValueDictionary[int, Watched] = weakref.WeakValueDictionary()


def find_watched(token: int | None) -> Watched | None:
    """The call that the token stands for, unless everybody has forgotten it."""
    return None if token is None else _watched.get(token)
