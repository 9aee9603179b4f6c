"""What a call reads the body of its request from, and what it writes the body of its response to."""

from __future__ import annotations

from typing import Protocol

from ..enums import Pause


class Source(Protocol):
    """A body that the library asks for piece by piece. What a method raises ends the call with SourceError."""

    #: Bytes; None: not known.
    length: int | None
    can_rewind: bool

    def read(self, capacity: int) -> bytes | Pause:
        """At most so many bytes; none: that was all."""
        ...

    def rewind(self) -> None:
        """Goes back to the first byte."""


class Sink(Protocol):
    """Who gets the body of a response, piece by piece. What a method raises ends the call with SinkError.

    It may also have `restart()`, which forgets what was written. Without it a delivery that broke off is not retried
    (B15). And `begin(head)`, which gets the `ResponseHead` of each response whose body follows, also of an empty one:
    before the first `write()`, and again after each `restart()`. The delivery then has begun with that.
    """

    def write(self, data: bytes, /) -> object:
        """Takes all of it; or, if the answer is `PAUSE`, nothing: the same comes again after `Call.resume()`."""
