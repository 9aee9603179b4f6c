"""The spans and metrics that a program gets, from the SDK's own in-memory exporters."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any, Callable, cast

import pytest
from loops import in_loop, until

pytest.importorskip("opentelemetry.sdk")

import httpx
import requests
from box_sdk_gen.networking.fetch_options import FetchOptions
from opentelemetry import baggage, context, trace
from opentelemetry.propagators.textmap import TextMapPropagator
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider, sampling
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from boxretry import (
    AttemptRequest,
    CancelledError,
    CancelSwitch,
    Client,
    ConnectError,
    DeadlineError,
    Event,
    InvalidArgumentError,
    NetworkError,
    ResponseHead,
    RetryStrategy,
    libcurl_version,
)
from boxretry.aio import AsyncClient
from boxretry.calls import _telling
from boxretry.integrations._semantic_conventions import attributes_of_request, redacted
from boxretry.integrations.box_sdk import RetryNetworkClient
from boxretry.integrations.httpx import AsyncRetryTransport, RetryTransport
from boxretry.integrations.opentelemetry import SENSITIVE_QUERY_PARAMETERS, OpenTelemetry
from boxretry.integrations.requests import RetryAdapter
from boxretry.testing import Answer, Fault, ScriptedServer, SeenRequest

SERVER = SpanKind.SERVER
LIBCURL = tuple(map(int, libcurl_version().split(".")))


class Recorded:
    """A tracer and a meter, and what they recorded."""

    def __init__(self, sampler: sampling.Sampler = sampling.ALWAYS_ON) -> None:
        self._exporter, self._reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers, self._meters = TracerProvider(sampler), MeterProvider([self._reader])
        self.tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.telemetry = OpenTelemetry(tracer_provider=self.tracers, meter_provider=self._meters)

    @property
    def settings(self) -> dict[str, Any]:
        return {"telemetry": self.telemetry, "strategy": RetryStrategy(retry_base_interval=0)}

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    def of_kind(self, kind: SpanKind) -> list[ReadableSpan]:
        return [span for span in self.spans if span.kind is kind]

    @property
    def sent(self) -> list[ReadableSpan]:
        return self.of_kind(SpanKind.CLIENT)

    @property
    def call(self) -> ReadableSpan:
        (call,) = self.of_kind(SpanKind.INTERNAL)
        return call

    def points(self, name: str) -> list[Any]:
        data: Any = self._reader.get_metrics_data()
        metrics = data.resource_metrics[0].scope_metrics[0].metrics if data else []
        return [point for metric in metrics if metric.name == name for point in metric.data.data_points]


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    yield Recorded()
    gc.collect()
    assert _telling._under_way == set()


def ids(span: ReadableSpan) -> tuple[int, int]:
    about: Any = span.context
    return about.trace_id, about.span_id


def parent(span: ReadableSpan) -> tuple[int, int] | None:
    return None if span.parent is None else (span.parent.trace_id, span.parent.span_id)


def received(request: SeenRequest) -> tuple[int, int]:
    """The span of the request, from the headers that the server received."""
    version, trace_id, span_id, _ = (request.header("traceparent") or "").split("-")
    assert version == "00"
    return int(trace_id, 16), int(span_id, 16)


def of(span: ReadableSpan, *names: str) -> list[Any]:
    assert span.attributes is not None
    return [span.attributes.get(name) for name in names]


def test_each_attempt_has_a_span_under_that_of_its_call(recorded: Recorded) -> None:
    with ScriptedServer([503, 429, 200]) as server, Client(**recorded.settings) as client:
        client.get(server.url + "/a?b=c")
    port = int(server.url.rpartition(":")[2])
    request = {
        "http.request.method": "GET",
        "server.address": "127.0.0.1",
        "server.port": port,
        "url.full": server.url + "/a?b=c",
    }
    assert [dict(span.attributes or {}) for span in recorded.sent] == [
        {**request, "http.response.status_code": 503, "error.type": "503"},
        {**request, "http.request.resend_count": 1, "http.response.status_code": 429, "error.type": "429"},
        {**request, "http.request.resend_count": 2, "http.response.status_code": 200},
    ]
    assert [span.name for span in recorded.sent] == ["GET", "GET", "GET"]
    assert [span.status.status_code for span in recorded.sent] == [StatusCode.ERROR, StatusCode.ERROR, StatusCode.UNSET]
    call = recorded.call
    assert (call.name, call.status.status_code) == ("boxretry GET", StatusCode.UNSET)
    assert dict(call.attributes or {}) == {**request, "http.response.status_code": 200, "boxretry.attempts": 3}
    assert [parent(span) for span in recorded.sent] == [ids(call)] * 3
    assert parent(call) is None


def test_the_span_of_the_call_shows_its_retries(recorded: Recorded) -> None:
    with ScriptedServer([503, Answer(429, {"Retry-After": "0"}), 200]) as server, Client(**recorded.settings) as client:
        client.get(server.url)
    events = [(event.name, dict(event.attributes or {})) for event in recorded.call.events]
    assert events == [
        ("boxretry.retry", {"boxretry.reason": "server_error", "boxretry.delay": 0.0}),
        ("boxretry.retry", {"boxretry.reason": "rate_limited", "boxretry.delay": 0.0}),
    ]


def test_spans_lie_within_each_other(recorded: Recorded) -> None:
    with ScriptedServer([503, 200]) as server, Client(**recorded.settings) as client:
        client.get(server.url)
    first, second = recorded.sent
    times: list[Any] = [recorded.call.start_time, first.start_time, first.end_time]
    times += [second.start_time, second.end_time, recorded.call.end_time]
    assert times == sorted(times)


def test_each_attempt_gives_its_own_context_to_the_server(recorded: Recorded) -> None:
    with ScriptedServer([503, 503, 200]) as server, Client(**recorded.settings) as client:
        client.get(server.url, headers={"traceparent": "00-1-2-3"})
    assert [received(request) for request in server.requests] == [ids(span) for span in recorded.sent]


def test_baggage_is_sent(recorded: Recorded) -> None:
    token = context.attach(baggage.set_baggage("user", "me"))
    try:
        with ScriptedServer([200]) as server, Client(**recorded.settings) as client:
            client.get(server.url)
    finally:
        context.detach(token)
    assert server.requests[0].header("baggage") == "user=me"


def test_a_propagator_of_the_program(recorded: Recorded) -> None:
    class Propagator(TextMapPropagator):
        def inject(self, carrier: Any, context: Any = None, setter: Any = None) -> None:
            setter.set(carrier, "X-Span", str(trace.get_current_span(context).get_span_context().span_id))

        def extract(self, *arguments: Any, **more: Any) -> Any:
            raise NotImplementedError

        @property
        def fields(self) -> set[str]:
            return {"X-Span"}

    telemetry = OpenTelemetry(tracer_provider=recorded.tracers, propagator=Propagator())
    with ScriptedServer([200]) as server, Client(telemetry=telemetry) as client:
        client.get(server.url)
    assert server.requests[0].header("X-Span") == str(ids(recorded.sent[0])[1])
    assert server.requests[0].header("traceparent") is None


def by_request(server: ScriptedServer, settings: dict[str, Any]) -> None:
    with Client(**settings) as client:
        client.get(server.url)


def by_submit(server: ScriptedServer, settings: dict[str, Any]) -> None:
    with Client(**settings) as client:
        client.submit("GET", server.url).response()


def by_stream(server: ScriptedServer, settings: dict[str, Any]) -> None:
    with Client(**settings) as client:
        read_stream(client, server)


def read_stream(client: Client, server: ScriptedServer) -> None:
    with client.stream("GET", server.url) as stream:
        stream.read()


def by_derived_client(server: ScriptedServer, settings: dict[str, Any]) -> None:
    with Client(**settings) as client, client.derived(headers={"X-A": "1"}) as derived:
        derived.get(server.url)


def by_asyncio(server: ScriptedServer, settings: dict[str, Any]) -> None:
    in_loop(lambda client: client.get(server.url), **settings)


def by_asyncio_stream(server: ScriptedServer, settings: dict[str, Any]) -> None:
    async def work(client: AsyncClient) -> None:
        async with client.stream("GET", server.url) as stream:
            await stream.read()

    in_loop(work, **settings)


def by_requests(server: ScriptedServer, settings: dict[str, Any]) -> None:
    with requests.Session() as session:
        session.mount("http://", RetryAdapter(**settings))
        session.get(server.url)


def by_httpx(server: ScriptedServer, settings: dict[str, Any]) -> None:
    with httpx.Client(transport=RetryTransport(**settings)) as client:
        client.get(server.url)


def by_httpx2(server: ScriptedServer, settings: dict[str, Any]) -> None:
    httpx2 = pytest.importorskip("httpx2")
    from boxretry.integrations.httpx2 import RetryTransport

    with httpx2.Client(transport=RetryTransport(**settings)) as client:
        client.get(server.url)


def by_httpx_async(server: ScriptedServer, settings: dict[str, Any]) -> None:
    async def work() -> None:
        async with httpx.AsyncClient(transport=AsyncRetryTransport(**settings)) as client:
            await client.get(server.url)

    asyncio.run(work())


@pytest.mark.parametrize(
    "way",
    [
        by_request,
        by_submit,
        by_stream,
        by_derived_client,
        by_asyncio,
        by_asyncio_stream,
        by_requests,
        by_httpx,
        by_httpx_async,
        by_httpx2,
    ],
)
def test_every_way_to_send_a_request(recorded: Recorded, way: Callable[[ScriptedServer, dict[str, Any]], None]) -> None:
    tracer = recorded.tracers.get_tracer("program")
    with ScriptedServer([503, Answer(200, body="hello")]) as server, tracer.start_as_current_span("work", kind=SERVER):
        way(server, recorded.settings)
    (work,) = recorded.of_kind(SERVER)
    assert parent(recorded.call) == ids(work)
    assert [parent(span) for span in recorded.sent] == [ids(recorded.call)] * 2
    assert [received(request) for request in server.requests] == [ids(span) for span in recorded.sent]


def test_the_box_sdk_makes_a_call_for_each_attempt(recorded: Recorded) -> None:
    client = RetryNetworkClient(telemetry=recorded.telemetry)
    with ScriptedServer([503, Answer(200, {"Content-Type": "application/json"}, "{}")]) as server:
        client.fetch(FetchOptions(url=server.url, method="GET"))
    client.close()
    assert [of(span, "http.response.status_code") for span in recorded.of_kind(SpanKind.INTERNAL)] == [[503], [200]]
    assert [received(request) for request in server.requests] == [ids(span) for span in recorded.sent]


def test_a_redirect_has_a_span_of_its_own(recorded: Recorded) -> None:
    with ScriptedServer([Answer(303, {"Location": "/b"}), 200]) as server, Client(**recorded.settings) as client:
        client.post(server.url + "/a")
    names = ("http.request.method", "url.full", "http.response.status_code", "http.request.resend_count")
    assert [of(span, *names) for span in recorded.sent] == [
        ["POST", server.url + "/a", 303, None],
        ["GET", server.url + "/b", 200, 1],
    ]
    assert {span.status.status_code for span in recorded.sent} == {StatusCode.UNSET}
    assert of(recorded.call, *names[:3], "boxretry.attempts") == ["POST", server.url + "/a", 200, 1]
    assert [received(request) for request in server.requests] == [ids(span) for span in recorded.sent]


def test_a_reconnect_has_a_span_of_its_own(recorded: Recorded) -> None:
    with ScriptedServer([200, Fault.HANG_UP, 200]) as server, Client(**recorded.settings) as client:
        client.get(server.url)
        client.get(server.url)
    names = ("error.type", "http.response.status_code", "http.request.resend_count")
    assert [of(span, *names) for span in recorded.sent] == [
        [None, 200, None],
        ["receive", None, None],
        [None, 200, 1],
    ]


def test_a_network_exception(recorded: Recorded) -> None:
    once = RetryStrategy(max_attempts=1)
    with Client(once, telemetry=recorded.telemetry) as client, pytest.raises(ConnectError):
        client.get("http://127.0.0.1:1/")
    for span in (*recorded.sent, recorded.call):
        assert of(span, "error.type", "http.response.status_code") == ["connect", None]
        assert span.status.status_code is StatusCode.ERROR


def test_a_call_that_was_canceled_is_not_an_error(recorded: Recorded) -> None:
    switch = CancelSwitch()

    def answer(request: SeenRequest) -> Fault:
        switch.trigger()
        return Fault.SILENCE

    with ScriptedServer([answer]) as server, Client(**recorded.settings) as client, pytest.raises(CancelledError):
        client.get(server.url, cancel=switch)
    assert len(recorded.sent) == 1
    for span in recorded.spans:
        assert of(span, "error.type") == [None]
        assert span.status.status_code is StatusCode.UNSET


#: Far more than a stream buffers, so that it does not end before the program has closed it.
LARGE = b"x" * 10_000_000


def close_of_requests(server: ScriptedServer, settings: dict[str, Any]) -> None:
    with requests.Session() as session:
        session.mount("http://", RetryAdapter(**settings))
        with session.get(server.url, stream=True) as response, contextlib.suppress(requests.HTTPError):
            response.raise_for_status()


def drop_of_requests(server: ScriptedServer, settings: dict[str, Any]) -> None:
    session = requests.Session()
    session.mount("http://", RetryAdapter(**settings))
    session.get(server.url, stream=True)


def close_of_httpx(server: ScriptedServer, settings: dict[str, Any]) -> None:
    with httpx.Client(transport=RetryTransport(**settings)) as client, client.stream("GET", server.url):
        pass


def close_of_httpx_async(server: ScriptedServer, settings: dict[str, Any]) -> None:
    async def work() -> None:
        client = httpx.AsyncClient(transport=AsyncRetryTransport(**settings))
        async with client, client.stream("GET", server.url):
            pass

    asyncio.run(work())


def close_of_client(server: ScriptedServer, settings: dict[str, Any]) -> None:
    with Client(**settings) as client, client.stream("GET", server.url, stream_errors=True):
        pass


def close_of_asyncio(server: ScriptedServer, settings: dict[str, Any]) -> None:
    async def work(client: AsyncClient) -> None:
        async with client.stream("GET", server.url, stream_errors=True):
            pass

    in_loop(work, **settings)


@pytest.mark.parametrize(("status", "error_type"), [(500, "500"), (200, None)])
@pytest.mark.parametrize(
    "way",
    [
        close_of_requests,
        drop_of_requests,
        close_of_httpx,
        close_of_httpx_async,
        close_of_client,
        close_of_asyncio,
    ],
)
def test_a_stream_that_is_not_read_to_its_end_has_its_status(
    recorded: Recorded,
    way: Callable[[ScriptedServer, dict[str, Any]], None],
    status: int,
    error_type: str | None,
) -> None:
    settings = {**recorded.settings, "strategy": RetryStrategy(max_attempts=0)}
    with ScriptedServer([Answer(status, body=LARGE)]) as server:
        way(server, settings)
        gc.collect()
        asyncio.run(until(lambda: len(recorded.spans) == 2))
    for span in recorded.spans:
        assert of(span, "http.response.status_code", "error.type") == [status, error_type]
        assert span.status.status_code is (StatusCode.UNSET if error_type is None else StatusCode.ERROR)
    (duration,) = recorded.points("http.client.request.duration")
    attributes = duration.attributes
    assert (attributes["http.response.status_code"], attributes.get("error.type")) == (status, error_type)


def test_a_stream_that_breaks_off_has_its_status_and_its_cause(recorded: Recorded) -> None:
    cut = Answer(200, {"Content-Length": "9", "Connection": "close"}, "hello")
    with ScriptedServer([cut]) as server, Client(**recorded.settings) as client, pytest.raises(NetworkError):
        read_stream(client, server)
    assert [of(span, "http.response.status_code", "error.type") for span in recorded.sent] == [[200, "receive"]]


def test_a_task_that_is_canceled_ends_its_spans(recorded: Recorded) -> None:
    """No task waits for the call when it ends."""
    came = threading.Event()

    def answer(request: SeenRequest) -> Fault:
        came.set()
        return Fault.SILENCE

    with ScriptedServer([answer]) as server:

        async def work(client: AsyncClient) -> None:
            task = asyncio.ensure_future(client.get(server.url))
            await until(came.is_set)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            del task
            gc.collect()
            await until(lambda: len(recorded.spans) == 2)

        in_loop(work, **recorded.settings)
    assert {span.status.status_code for span in recorded.spans} == {StatusCode.UNSET}


def test_a_deadline_ends_the_attempt_and_the_call(recorded: Recorded) -> None:
    settings = {**recorded.settings, "deadline": 0.05}
    with ScriptedServer([Fault.SILENCE]) as server, Client(**settings) as client, pytest.raises(DeadlineError):
        client.get(server.url)
    assert [of(span, "error.type") for span in recorded.spans] == [["deadline"], ["deadline"]]


def test_a_call_that_ends_before_its_first_attempt_has_a_span(recorded: Recorded) -> None:
    switch = CancelSwitch()
    switch.trigger()
    with Client(**recorded.settings) as client, pytest.raises(CancelledError):
        client.get("http://127.0.0.1:1/", cancel=switch)
    assert recorded.sent == []
    assert of(recorded.call, "boxretry.attempts", "url.full") == [0, "http://127.0.0.1:1/"]


def test_a_request_that_is_refused_has_no_span(recorded: Recorded) -> None:
    with Client(**recorded.settings) as client, pytest.raises(InvalidArgumentError):
        client.get("gopher://example.com/")
    assert recorded.spans == []


def test_an_unknown_method_is_not_in_names(recorded: Recorded) -> None:
    with ScriptedServer([Answer(200)]) as server, Client(**recorded.settings) as client:
        client.request("REPORT7", server.url)
    assert [span.name for span in recorded.spans] == ["HTTP", "boxretry HTTP"]
    names = ("http.request.method", "http.request.method_original")
    assert [of(span, *names) for span in recorded.spans] == [["_OTHER", "REPORT7"]] * 2


def test_the_environment_says_which_methods_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS", "REPORT7, POST")
    recorded = Recorded()
    with ScriptedServer([200]) as server, Client(**recorded.settings) as client:
        client.request("REPORT7", server.url)
        client.request("GET", server.url)
    assert [span.name for span in recorded.sent] == ["REPORT7", "HTTP"]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://h/a?sig=1&b=sig#c", "http://h/a?sig=REDACTED&b=sig#REDACTED"),
        ("http://h/?#access_token=1?a", "http://h/?#REDACTED"),
        ("http:/me:secret@h/", "http://REDACTED:REDACTED@h/"),
        ("http://h/?X-Amz-Signature=1&x-amz-signature=2", "http://h/?X-Amz-Signature=REDACTED&x-amz-signature=2"),
        ("http://h/?access%5Ftoken=1&token&sig=", "http://h/?access%5Ftoken=REDACTED&token&sig=REDACTED"),
        ("https://me:secret@h:81/", "https://REDACTED:REDACTED@h:81/"),
        ("https://secret@h/", "https://REDACTED@h/"),
        ("http://[::1]:80/a%20b?c=%2F", "http://[::1]:80/a%20b?c=%2F"),
    ],
)
def test_secrets_in_urls_are_redacted(url: str, shown: str) -> None:
    assert redacted(url, SENSITIVE_QUERY_PARAMETERS) == shown


@pytest.mark.parametrize(
    ("url", "address", "port"),
    [
        ("http://a\u2100b/", "a\u2100b", 80),
        ("https://me:x@a\uff0fb:81/", "a\uff0fb", 81),
        ("http://[::1]:99999/", "::1", 99999),
        ("http://[a]b]:1x/", "a]b]:1x", 80),
        ("HTTPS://H", "h", 443),
        ("http://[fe80::1%25lo]", "fe80::1%25lo", 80),
        ("", "", 0),
    ],
)
def test_urls_that_urlsplit_refuses_have_attributes(url: str, address: str, port: int) -> None:
    attributes = attributes_of_request("GET", url, {"GET"}, SENSITIVE_QUERY_PARAMETERS)
    assert (attributes["server.address"], attributes["server.port"]) == (address, port)


@pytest.mark.skipif(LIBCURL < (7, 88), reason="libcurl 7.87 does not say how it converts a name")
@pytest.mark.parametrize("host", [b"a\xe2\x84\x80b", b"a\xef\xbc\x8fb", b"a\xff\xfeb"])
def test_a_redirect_to_an_invalid_host_is_the_response_and_has_no_span(recorded: Recorded, host: bytes) -> None:
    """urlsplit() refuses the first two, too."""
    location = b"http://" + host + b"/?token=s3cret#access_token=s3cret"
    redirect = Answer(302, {"Location": location.decode("latin-1")})
    with ScriptedServer([redirect]) as server, Client(**recorded.settings, proxy=server.url) as client:
        assert client.get("http://first/").status == 302
    (sent,) = recorded.sent
    assert of(sent, "server.address", "http.response.status_code") == ["first", 302]
    assert sent.status.status_code is recorded.call.status.status_code is StatusCode.UNSET
    assert "s3cret" not in "".join(span.to_json() for span in recorded.spans)


def test_bytes_of_a_url_that_are_not_utf_8_are_replaced(recorded: Recorded) -> None:
    """Exporters cannot encode the lone surrogates that stand for them."""
    with ScriptedServer([200]) as server, Client(**recorded.settings) as client:
        client.get(server.url.encode() + b"/\xff?sig=s3cret&b=\xfe")
        shown = f"{server.url}/\ufffd?sig=REDACTED&b=\ufffd"
    assert [of(span, "url.full") for span in recorded.sent] == [[shown]]


def test_no_secret_of_a_request_is_in_its_spans(recorded: Recorded) -> None:
    with ScriptedServer([Answer(302, {"Location": "/b?access_token=s3cret"}), 503, 200]) as server:
        url = server.url.replace("//", "//me:s3cret@") + "/?sig=s3cret"
        with Client(**recorded.settings) as client:
            client.post(url, headers={"Authorization": "s3cret"}, data="s3cret")
    assert len(recorded.spans) == 4
    assert "s3cret" not in "".join(span.to_json() for span in recorded.spans)


def test_the_program_says_which_parameters_are_secret(recorded: Recorded) -> None:
    telemetry = OpenTelemetry(tracer_provider=recorded.tracers, sensitive_query_parameters=["mine"])
    with ScriptedServer([200]) as server, Client(telemetry=telemetry) as client:
        client.get(server.url + "/?mine=1&sig=2")
    assert of(recorded.call, "url.full") == [server.url + "/?mine=REDACTED&sig=2"]


def test_metrics(recorded: Recorded) -> None:
    with ScriptedServer([503, 200]) as server, Client(**recorded.settings) as client:
        client.get(server.url)
    to = {
        "http.request.method": "GET",
        "server.address": "127.0.0.1",
        "server.port": int(server.url.rpartition(":")[2]),
    }
    durations = recorded.points("http.client.request.duration")
    assert [dict(point.attributes) for point in durations] == [
        {**to, "http.response.status_code": 503, "error.type": "503"},
        {**to, "http.response.status_code": 200},
    ]
    for point, span in zip(durations, recorded.sent):
        start, end = (span.start_time or 0), (span.end_time or 0)
        assert (point.count, point.sum) == (1, (end - start) / 1e9)
        assert point.explicit_bounds[:3] == (0.005, 0.01, 0.025)
    (retries,) = recorded.points("boxretry.client.retries")
    assert (dict(retries.attributes), retries.value) == ({**to, "boxretry.reason": "server_error"}, 1)


def test_hooks_of_the_program_see_the_context_and_have_the_last_word(recorded: Recorded) -> None:
    seen: list[str | None] = []

    def hook(request: AttemptRequest) -> None:
        seen.append(request.header("traceparent"))
        request.set_header("traceparent", None)

    with ScriptedServer([200]) as server, Client(**recorded.settings, before_attempt=hook) as client:
        client.get(server.url)
        client.get(server.url, before_attempt=hook)
    assert [request.header("traceparent") for request in server.requests] == [None, None]
    assert [(each or "").split("-")[2] for each in seen] == [f"{ids(span)[1]:016x}" for span in recorded.sent]


def test_events_still_reach_the_program(recorded: Recorded) -> None:
    events: list[Event] = []
    with ScriptedServer([503, 200]) as server, Client(**recorded.settings, on_event=events.append) as client:
        client.get(server.url)
    assert len(events) == 6
    assert len(recorded.spans) == 3


def test_what_a_telemetry_raises_is_logged_and_harms_no_call(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def begin(self) -> Broken:
            return self

        def before_attempt(self, request: AttemptRequest) -> None:
            raise RuntimeError("in the hook")

        def on_head(self, head: ResponseHead) -> None:
            raise RuntimeError("at the head")

        def on_event(self, event: Event) -> None:
            raise RuntimeError("in the listener")

    with ScriptedServer([200]) as server, Client(telemetry=Broken()) as client:
        read_stream(client, server)
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == [
        "in the hook",
        "in the listener",
        "at the head",
        *["in the listener"] * 2,
    ]


def test_a_telemetry_that_fails_at_the_beginning_harms_no_call(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def begin(self) -> None:
            raise RuntimeError("at the beginning")

    with ScriptedServer([200]) as server, Client(telemetry=Broken()) as client:
        assert client.get(server.url).status == 200
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == ["at the beginning"]


def test_what_cannot_be_a_telemetry_is_refused() -> None:
    with pytest.raises(TypeError, match=r"telemetry: must be an object with begin\(\), not int"):
        Client(telemetry=cast(Any, 5))


def test_calls_of_exporters_are_not_followed(recorded: Recorded) -> None:
    with ScriptedServer([200]) as server, Client(**recorded.settings) as client:
        for key in ("suppress_instrumentation", context._SUPPRESS_INSTRUMENTATION_KEY):
            token = context.attach(context.set_value(key, True))
            try:
                client.get(server.url)
            finally:
                context.detach(token)
    assert recorded.spans == []
    assert [request.header("traceparent") for request in server.requests] == [None, None]


def test_spans_that_are_not_sampled_are_still_told_to_the_server() -> None:
    recorded = Recorded(sampling.ALWAYS_OFF)
    with ScriptedServer([200]) as server, Client(**recorded.settings) as client:
        client.get(server.url)
    assert recorded.spans == []
    assert (server.requests[0].header("traceparent") or "")[-2:] in ("00", "02")


def test_an_adapter_with_it_can_be_pickled() -> None:
    telemetry = OpenTelemetry(sensitive_query_parameters=["mine"])
    adapter = pickle.loads(pickle.dumps(RetryAdapter(telemetry=telemetry)))
    assert adapter._settings["telemetry"].sensitive == {"mine"}


def test_one_with_providers_cannot_be_pickled(recorded: Recorded) -> None:
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        pickle.dumps(recorded.telemetry)


def test_without_it_nothing_is_loaded_and_no_event_is_made() -> None:
    program = "import sys, boxretry; c = boxretry.Client(); print('opentelemetry' in sys.modules, c._is_watched)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"]
