import sys

from boxretry import Client, Event, RetryStrategy


def show(event: Event) -> None:
    reason = "" if event.reason is None else f", {event.reason.name}"
    print(f"{event.kind.name}: attempt {event.attempt_number}, status {event.status}{reason}")


with Client(RetryStrategy(retry_base_interval=0.01), on_event=show) as client:
    client.get(sys.argv[1])
