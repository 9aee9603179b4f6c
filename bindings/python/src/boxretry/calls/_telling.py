"""Reports what happens to a call to its telemetry."""

from __future__ import annotations

import os
from typing import Any

from ..enums import EventKind
from .log import log_failure
from .watched import Watched

#: Calls whose telemetry gets reports to the end, also if no caller waits for them any more.
_under_way: set[Watched] = set()
os.register_at_fork(after_in_child=_under_way.clear)


def begin(telemetry: Any, watched: Watched) -> None:
    """Called before a call starts: its telemetry can begin to follow it."""
    try:
        watched.telemetry = telemetry.begin()
    except Exception:
        log_failure("telemetry")


def tell_before_attempt(watched: Watched, request: Any) -> None:
    """Reports to the call's telemetry, if it has one, that a request is about to be sent."""
    if watched.telemetry is None:
        return
    _under_way.add(watched)
    try:
        watched.telemetry.before_attempt(request)
    except Exception:
        log_failure("telemetry")


def tell_head(watched: Watched, head: Any) -> None:
    """Reports the head of a response to the call's telemetry, if it has one."""
    if watched.telemetry is None:
        return
    try:
        watched.telemetry.on_head(head)
    except Exception:
        log_failure("telemetry")


def tell_event(watched: Watched, event: Any) -> None:
    """Reports an event to the call's telemetry, if it has one."""
    if watched.telemetry is None:
        return
    try:
        watched.telemetry.on_event(event)
    except Exception:
        log_failure("telemetry")
    if event.kind is EventKind.CALL_ENDED:
        _under_way.discard(watched)
    else:
        _under_way.add(watched)
