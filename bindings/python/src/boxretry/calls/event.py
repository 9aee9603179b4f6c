"""What happens to the calls of a client, for those who watch it at work."""

from __future__ import annotations

import itertools
import weakref
from dataclasses import dataclass
from typing import Any, Callable

from .._c import _abi
from .._c.arguments import decoded
from ..enums import Action, Cause, DelaySource, Error, EventKind, Reason
from ._telling import tell_event
from .watched import Watched, find_watched


@dataclass(frozen=True)
class Event:
    """One event. It never has a header or a body in it."""

    kind: EventKind
    #: From 1; 0: the call ended before its first attempt.
    attempt_number: int
    #: From 1; 0 if there was none.
    exception_number: int
    #: Of the attempt, the redirect, or the answer that closes or opens a gate; 0: none yet, or a network exception.
    status: int
    #: Of a RECONNECT: what was wrong with the connection.
    cause: Cause
    #: How the call ended, for CALL_ENDED.
    error: Error
    action: Action
    #: None: nothing has been decided.
    reason: Reason | None
    #: Seconds, where there is a retry; for GATE_CLOSED, for how long attempts are held.
    delay: float
    delay_source: DelaySource
    #: Milliseconds since the call began.
    at_ms: float
    method: str
    url: str
    #: What the request was given.
    user_data: object
    #: The same for all events of a call; log records have it too.
    call_id: int = 0


class Listener:
    """Who is told of a client's events, or hooked in before its attempts. The client's handle keeps it."""

    def __init__(self, callback: Callable[[Any], object]) -> None:
        self.callback = callback
        #: Stands for this object in the library. As with strategies, the library has no reference (see `custom`).
        self.token = next(_tokens)
        _listeners[self.token] = self


_tokens = itertools.count(1)
_listeners: weakref.WeakValueDictionary[int, Listener] = weakref.WeakValueDictionary()


def find_listener(token: int) -> Listener | None:
    """The listener that the token stands for, unless its client is forgotten."""
    return _listeners.get(token)


def _on_event(context: int, event: Any) -> None:
    listener, watched = find_listener(context), find_watched(event.contents.user_pointer)
    if watched is None:
        return  # The call is forgotten.
    told = _event_from_struct(event.contents, watched)
    tell_event(watched, told)
    if listener is None:
        return  # The client is forgotten.
    try:
        listener.callback(told)
    except BaseException as exception:
        watched.keep(exception)


#: Never freed: whatever thread is in it, it is there.
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
