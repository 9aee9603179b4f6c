"""Where a call reads the body of its request, and where it writes the body of its response."""

from __future__ import annotations

from typing import Protocol

from ..enums import Pause


class Source(Protocol):
    """A body that the library reads piece by piece. An exception of a method ends the call with SourceError."""

    #: Bytes; None: not known.
    length: int | None
    can_rewind: bool

    def read(self, capacity: int) -> bytes | Pause:
        """At most `capacity` bytes; b"": the end."""
        ...

    def rewind(self) -> None:
        """Goes back to the first byte."""


class Sink(Protocol):
    """Receives the body of a response, piece by piece. An exception of a method ends the call with SinkError.

    It may also have `restart()`, which discards what was written. Without it, a delivery that broke off is not
    retried (B15). And it may have `begin(head)`, which gets the `ResponseHead` of each response whose body follows,
    also of an empty body: before the first `write()`, and again after each `restart()`. The delivery has then begun.
    """

    def write(self, data: bytes, /) -> object:
        """Takes all of it; if it returns `PAUSE`, it takes nothing, and gets the data again after `Call.resume()`."""
