"""The progress of an attempt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Progress:
    """The progress of the attempt that is running, in bytes of bodies."""

    #: Number of the attempt, from 1.
    attempt_number: int
    sent: int
    #: None: not known.
    send_total: int | None
    #: Bytes received of the response; includes what a resumed download had before.
    received: int
    #: None: not known.
    receive_total: int | None


def progress_from_struct(struct: Any) -> Progress:
    """The argument of a progress callback."""
    return Progress(
        attempt_number=struct.attempt_number,
        sent=struct.sent,
        send_total=None if struct.send_total < 0 else struct.send_total,
        received=struct.received,
        receive_total=None if struct.receive_total < 0 else struct.receive_total,
    )
