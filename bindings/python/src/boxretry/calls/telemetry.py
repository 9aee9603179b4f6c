"""What a client tells of its calls to a tracer or a meter, such as `boxretry.integrations.opentelemetry`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .attempt_request import AttemptRequest
    from .event import Event


class CallTelemetry(Protocol):
    """What is told of one call, on whatever thread drives it, one thing at a time. What it raises is logged."""

    def before_attempt(self, request: AttemptRequest, /) -> object:
        """A request is about to be sent: of an attempt, a redirect or a reconnect. Its headers may be changed."""

    def on_event(self, event: Event, /) -> object:
        """Something has happened. CALL_ENDED comes last, whether or not anybody still waits for the call."""


class Telemetry(Protocol):
    """What a client is given as `telemetry`."""

    def begin(self) -> CallTelemetry | None:
        """A call is about to start, on the thread or in the task that starts it. None: it is not followed.

        What it raises is logged, and the call is not followed.

        There is nothing to be ended here: if the call cannot be started, nothing more is told.
        """
