"""The events of a client's calls."""

from __future__ import annotations

import itertools
import weakref
from dataclasses import dataclass
from typing import Any, Callable

from .._c import _abi
from .._c.texts import decoded
from ..enums import Action, Cause, DelaySource, Error, EventKind, Reason
from ._telling import tell_event
from .watched import Watched, find_watched


@dataclass(frozen=True)
class Event:
    """One event. It never contains a header or a body."""

    kind: EventKind
    #: Number of the attempt, from 1; 0: the call ended before its first attempt.
    attempt_number: int
    #: Number of the network exception, from 1; 0 if there was none.
    exception_number: int
    #: Status of the attempt, the redirect, or the response that closes or opens a gate; 0: none, or an exception.
    status: int
    #: Of a RECONNECT: how the connection failed.
    cause: Cause
    #: How the call ended, for CALL_ENDED.
    error: Error
    action: Action
    #: None: no decision has been made.
    reason: Reason | None
    #: Seconds, if there is a retry; for GATE_CLOSED, how long attempts are held.
    delay: float
    delay_source: DelaySource
    #: Milliseconds since the call began.
    at_ms: float
    method: str
    url: str
    #: The request's `user_data`.
    user_data: object
    #: The same for all events of a call; log records have it too.
    call_id: int = 0


class Listener:
    """Receives a client's events, or is its hook before attempts. The client's handle keeps it."""

    def __init__(self, callback: Callable[[Any], object]) -> None:
        self.callback = callback
        #: Identifies this object in the library. As with strategies, the library has no reference (see `custom`).
        self.token = next(_tokens)
        _listeners[self.token] = self


_tokens = itertools.count(1)
_listeners: weakref.WeakValueDictionary[int, Listener] = weakref.WeakValueDictionary()


def find_listener(token: int) -> Listener | None:
    """The listener with this token, unless its client has been forgotten."""
    return _listeners.get(token)


def _on_event(context: int, event: Any) -> None:
    listener, watched = find_listener(context), find_watched(event.contents.user_pointer)
    if watched is None:
        return  # The call has been forgotten.
    told = _event_from_struct(event.contents, watched)
    tell_event(watched, told)
    if listener is None:
        return  # The client has been forgotten.
    try:
        listener.callback(told)
    except BaseException as exception:
        watched.keep(exception)


#: Never freed: threads may be inside it.
on_event_callback = _abi.EventCallback(_on_event)


def _event_from_struct(struct: Any, watched: Watched) -> Event:
    return Event(
        kind=EventKind(struct.kind),
        attempt_number=struct.attempt_number,
        exception_number=struct.exception_number,
        status=struct.status,
        cause=Cause(struct.cause),
        error=Error(struct.error),
        action=Action(struct.action),
        reason=None if struct.reason < 0 else Reason(struct.reason),
        delay=struct.delay,
        delay_source=DelaySource(struct.delay_source),
        at_ms=struct.at_ms,
        method=decoded(struct.method),
        url=decoded(struct.url),
        user_data=watched.request.user_data,
        call_id=watched.token,
    )
