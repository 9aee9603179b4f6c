"""How far an attempt has come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Progress:
    """How far the attempt under way has come, in bytes of bodies."""

    #: From 1.
    attempt_number: int
    sent: int
    #: None: not known.
    send_total: int | None
    #: Of the response; what a resumed download had before is among them.
    received: int
    #: None: not known.
    receive_total: int | None


def progress_from_struct(struct: Any) -> Progress:
    """What a callback is told."""
    return Progress(
        attempt_number=struct.attempt_number,
        sent=struct.sent,
        send_total=None if struct.send_total < 0 else struct.send_total,
        received=struct.received,
        receive_total=None if struct.receive_total < 0 else struct.receive_total,
    )
