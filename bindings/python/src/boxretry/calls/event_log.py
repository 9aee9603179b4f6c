"""Logs what happens to a call while it runs."""

from __future__ import annotations

import logging
from typing import Callable

from ..enums import EventKind, Reason
from .event import Event
from .log import log_record, logger


def with_log(on_event: Callable[[Event], object] | None) -> Callable[[Event], object] | None:
    """A listener that logs and then calls the given one; if nothing is to be logged, the given one itself."""
    if not logger.isEnabledFor(logging.INFO):
        return on_event

    def log_and_call(event: Event) -> None:
        _log(event)
        if on_event is not None:
            on_event(event)

    return log_and_call


def _log(event: Event) -> None:
    if event.kind is EventKind.ATTEMPT_BEGAN:
        _say(logging.DEBUG, event, "attempt %d begins", event.attempt_number)
    elif event.kind is EventKind.ATTEMPT_ENDED:
        _say(logging.DEBUG, event, "attempt %d: %s, %s", event.attempt_number, _result(event), _name(event.reason))
    elif event.kind is EventKind.RETRY_SCHEDULED:
        what = (event.attempt_number, _result(event), _name(event.reason), event.delay)
        _say(logging.INFO, event, "attempt %d: %s, %s, retry in %.3g s", *what)


def _say(level: int, event: Event, message: str, *values: object) -> None:
    if logger.isEnabledFor(level):
        log_record(level, event.call_id, event.method, event.url, message, *values)


def _result(event: Event) -> int | str:
    return event.status or event.cause.name.lower()


def _name(reason: Reason | None) -> str:
    return "undecided" if reason is None else reason.name.lower()
