"""What the protocols ask of the server."""

from __future__ import annotations

from typing import Protocol

from .record import SeenRequest
from .vocabulary import Answer


class Site(Protocol):
    """What answers requests, in any protocol."""

    async def begin(self, request: SeenRequest) -> Answer:
        """Records a request whose head has come, and says what is to be done with it."""

    def body(self, request: SeenRequest, answer: Answer) -> bytes:
        """The body of an answer, unless that is the pattern."""

    def location(self, request: SeenRequest, answer: Answer) -> str:
        """Where a redirect leads."""
