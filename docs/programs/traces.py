import sys

from boxretry import Client, RetryStrategy
from boxretry.integrations.opentelemetry import OpenTelemetry
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor


def line(span: ReadableSpan) -> str:
    attributes = span.attributes or {}
    return f"{span.name}: {attributes['http.response.status_code']!r}\n"


provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(formatter=line)))
trace.set_tracer_provider(provider)

with Client(RetryStrategy(retry_base_interval=0.01), telemetry=OpenTelemetry()) as client:
    client.get(sys.argv[1])
