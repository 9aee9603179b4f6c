"""A client's reports about its calls to a tracer or a meter, such as `boxretry.integrations.opentelemetry`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .attempt_request import AttemptRequest
    from .event import Event
    from .response_head import ResponseHead


class CallTelemetry(Protocol):
    """Receives the reports about one call, one at a time, on the thread that drives it. Exceptions are logged."""

    def before_attempt(self, request: AttemptRequest, /) -> object:
        """A request is about to be sent: of an attempt, a redirect or a reconnect. It can change the headers."""

    def on_head(self, head: ResponseHead, /) -> object:
        """The body of a response follows, into a stream or a sink with `begin()`. Other responses have only events.

        If the call is canceled or fails before the end of the body, later events do not have this status.
        """

    def on_event(self, event: Event, /) -> object:
        """An event of the call. CALL_ENDED comes last, whether or not a caller still waits for the call."""


class Telemetry(Protocol):
    """The type of a client's `telemetry`."""

    def begin(self) -> CallTelemetry | None:
        """A call is about to start, on the thread or in the task that starts it. None: do not follow it.

        An exception is logged, and the call is not followed.

        Nothing has to be ended here: if the call cannot be started, there are no further reports.
        """
