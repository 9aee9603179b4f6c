"""Traces and metrics with OpenTelemetry: a span for each call, below it one for each request, and durations.

    client = Client(telemetry=OpenTelemetry())
    session.mount("https://", RetryAdapter(telemetry=OpenTelemetry()))

Needs the package opentelemetry-api: `pip install boxretry[opentelemetry]`.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

from opentelemetry import context, metrics, propagate, trace
from opentelemetry.context import Context
from opentelemetry.metrics import MeterProvider
from opentelemetry.propagators.textmap import Setter, TextMapPropagator
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider

from ..calls.attempt_request import AttemptRequest
from ..calls.event import Event
from ..calls.response_head import ResponseHead
from ..enums import Cause, Error, EventKind
from ._semantic_conventions import (
    DURATION_BUCKETS,
    SCHEMA_URL,
    SENSITIVE_QUERY_PARAMETERS,
    attributes_of_request,
    known_methods,
    name_of_method,
)

__all__ = ["SENSITIVE_QUERY_PARAMETERS", "OpenTelemetry"]

#: The context of an exporter has one of these keys: the API's own key has a suffix that differs between processes.
_SUPPRESSED = ("suppress_instrumentation", getattr(context, "_SUPPRESS_INSTRUMENTATION_KEY", ""))


class OpenTelemetry:
    """The `telemetry` of a client or an adapter. Any number of them may share one.

    Each request that is sent, whether of an attempt, a redirect or a reconnect, has a span of the kind CLIENT that
    follows the HTTP semantic conventions, sends its own context in the headers, and is counted in the histogram
    `http.client.request.duration`. From the second request on, spans have `http.request.resend_count`. `error.type` is
    a status of 400 or above, or the cause of a network exception, such as "connect" or "timeout_idle".

    Above them is a span of the kind INTERNAL for the call, "boxretry GET", from its start to its end. It has the last
    status or, as `error.type`, the error's name; `boxretry.attempts`; and for each retry an event "boxretry.retry" with
    `boxretry.reason` and `boxretry.delay` (seconds). `boxretry.client.retries` counts retries. Its parent is the span
    in which the call was started. A canceled call is an error only if it is a stream whose status is 400 or above.

    URLs are recorded without user, password, fragment and the values of `sensitive_query_parameters`. Headers and
    bodies are never recorded. The environment variable OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS replaces the list of
    known methods.

    Calls of exporters, whose contexts suppress instrumentation, are not followed.
    """

    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        propagator: TextMapPropagator | None = None,
        sensitive_query_parameters: Collection[str] = SENSITIVE_QUERY_PARAMETERS,
    ) -> None:
        """None: the program's own, as set when a call starts.

        sensitive_query_parameters: names to use instead of the default ones; case matters.
        """
        from .. import __version__

        self._providers = tracer_provider, meter_provider
        self._propagator = propagator
        self.sensitive = frozenset(sensitive_query_parameters)
        self.methods = known_methods()
        self.tracer = trace.get_tracer("boxretry", __version__, tracer_provider, schema_url=SCHEMA_URL)
        meter = metrics.get_meter("boxretry", __version__, meter_provider, schema_url=SCHEMA_URL)
        self.durations = meter.create_histogram(
            "http.client.request.duration",
            unit="s",
            description="Duration of HTTP client requests.",
            explicit_bucket_boundaries_advisory=DURATION_BUCKETS,
        )
        self.retries = meter.create_counter(
            "boxretry.client.retries", unit="{retry}", description="Retries that were scheduled."
        )

    def begin(self) -> _Call | None:
        """Called by the client."""
        started_in = context.get_current()
        return None if any(map(started_in.get, _SUPPRESSED)) else _Call(self, started_in)

    def inject(self, span_context: Context, request: AttemptRequest) -> None:
        """Writes the context into the headers of a request."""
        if self._propagator is None:
            propagate.inject(request, span_context, _setter)
        else:
            self._propagator.inject(request, span_context, _setter)

    def __reduce__(self) -> Any:
        """For pickling adapters. Providers and propagators cannot be pickled."""
        if self._providers != (None, None) or self._propagator is not None:
            raise TypeError("OpenTelemetry objects with providers or a propagator cannot be copied or pickled")
        return _make, (self.sensitive,)


def _make(sensitive_query_parameters: Collection[str]) -> OpenTelemetry:
    return OpenTelemetry(sensitive_query_parameters=sensitive_query_parameters)


class _HeaderSetter(Setter[AttemptRequest]):
    def set(self, carrier: AttemptRequest, key: str, value: str) -> None:
        carrier.set_header(key, value)


_setter = _HeaderSetter()


class _Call:
    """A call: its span, and the span of the request in progress."""

    def __init__(self, owner: OpenTelemetry, started_in: Context) -> None:
        self._owner = owner
        self._started_in = started_in
        # Both clocks, so that a change of the wall clock does not make a span run backward.
        self._wall, self._monotonic = time.time_ns(), time.perf_counter_ns()
        self._started_at = self._wall
        self._span: Span | None = None
        self._sending: _Sending | None = None
        self._sent = 0

    def before_attempt(self, request: AttemptRequest) -> None:
        """Begins the span of a request, and sends its context to the server."""
        owner, now = self._owner, self._now()
        attributes = self._attributes(request.method, request.url)
        call_span = self._call_span(attributes)
        above = trace.set_span_in_context(call_span, self._started_in)
        at_start = {**attributes, "http.request.resend_count": self._sent} if self._sent else attributes
        span = owner.tracer.start_span(
            name_of_method(attributes), above, SpanKind.CLIENT, at_start, start_time=now, record_exception=False
        )
        self._sent += 1
        self._sending = _Sending(span, attributes, now)
        owner.inject(trace.set_span_in_context(span, self._started_in), request)

    def on_head(self, head: ResponseHead) -> None:
        """Keeps the status: if the body is not read to its end, no event has it."""
        if self._sending is not None:
            self._sending.status = head.status

    def on_event(self, event: Event) -> None:
        """Ends the spans, and counts retries."""
        if event.kind in (EventKind.ATTEMPT_ENDED, EventKind.REDIRECTED, EventKind.RECONNECT):
            self._end_sending(event.status, _error_type(event.status, event.cause))
        elif event.kind is EventKind.RETRY_SCHEDULED:
            self._retry(event)
        elif event.kind is EventKind.CALL_ENDED:
            status = event.status or (0 if self._sending is None else self._sending.status)
            error_type = _error_type_of_call(status, event.error)
            self._end_sending(0, error_type)  # A request that was interrupted has no end event.
            self._end_call(event, status, error_type)

    def _now(self) -> int:
        return self._wall + time.perf_counter_ns() - self._monotonic

    def _attributes(self, method: str, url: str) -> dict[str, Any]:
        return attributes_of_request(method, url, self._owner.methods, self._owner.sensitive)

    def _call_span(self, attributes: dict[str, Any]) -> Span:
        if self._span is None:
            self._span = self._owner.tracer.start_span(
                f"boxretry {name_of_method(attributes)}",
                self._started_in,
                SpanKind.INTERNAL,
                attributes,
                start_time=self._started_at,
                record_exception=False,
            )
        return self._span

    def _retry(self, event: Event) -> None:
        reason = {} if event.reason is None else {"boxretry.reason": _name(event.reason)}
        if self._span is not None:
            self._span.add_event("boxretry.retry", {**reason, "boxretry.delay": event.delay}, self._now())
        attributes = self._attributes(event.method, event.url)
        del attributes["url.full"]
        self._owner.retries.add(1, {**attributes, **reason}, self._started_in)

    def _end_sending(self, status: int, error_type: str | None) -> None:
        sending, self._sending = self._sending, None
        if sending is None:
            return
        now, outcome = self._now(), _outcome(status or sending.status, error_type)
        _end(sending.span, outcome, error_type, now)
        attributes = {name: value for name, value in sending.attributes.items() if name != "url.full"}
        about = trace.set_span_in_context(sending.span, self._started_in)
        self._owner.durations.record((now - sending.started_at) / 1e9, {**attributes, **outcome}, about)

    def _end_call(self, event: Event, status: int, error_type: str | None) -> None:
        span = self._span
        if span is None:
            span = self._call_span(self._attributes(event.method, event.url))
        outcome = {**_outcome(status, error_type), "boxretry.attempts": event.attempt_number}
        _end(span, outcome, error_type, self._now())


class _Sending:
    """A request in progress."""

    def __init__(self, span: Span, attributes: dict[str, Any], started_at: int) -> None:
        self.span = span
        self.attributes = attributes
        self.started_at = started_at
        #: From the head of the response; 0: not known.
        self.status = 0


def _end(span: Span, outcome: dict[str, Any], error_type: str | None, now: int) -> None:
    span.set_attributes(outcome)
    if error_type is not None:
        span.set_status(Status(StatusCode.ERROR))
    span.end(now)


def _outcome(status: int, error_type: str | None) -> dict[str, Any]:
    outcome: dict[str, Any] = {"http.response.status_code": status} if status else {}
    return outcome if error_type is None else {**outcome, "error.type": error_type}


def _error_type(status: int, cause: Cause) -> str | None:
    if cause is not Cause.NONE:
        return _name(cause)
    return str(status) if status >= 400 else None


def _error_type_of_call(status: int, error: Error) -> str | None:
    return _error_type(status, Cause.NONE) if error in (Error.OK, Error.CANCELLED) else _name(error)


def _name(member: Any) -> str:
    name: str = member.name
    return name.lower()
