"""How much of an attempt's request was sent: what the record says, and what B12 makes of it."""

from __future__ import annotations

import socket

import pytest
from boxretry import (
    Cause,
    Client,
    ConnectError,
    Event,
    EventKind,
    IdleTimeoutError,
    Reason,
    RequestSent,
    ResolveError,
    Timeout,
)
from calls import Background, once, quick
from fault_server import FaultServer

METHODS = ["GET", "POST"]


@pytest.mark.parametrize("method", METHODS)
def test_b12_nothing_is_sent_without_a_listener(server: FaultServer, method: str) -> None:
    with Client(quick(retry_unsafe_methods=False)) as client, pytest.raises(ConnectError) as raised:
        client.request(method, f"http://127.0.0.1:{server.ports['refused']}/", data=b"x")
    assert [attempt.request_sent for attempt in raised.value.attempts] == [RequestSent.NOTHING] * 3


def test_b12_nothing_is_sent_to_a_name_that_does_not_exist() -> None:
    with Client(once()) as client, pytest.raises(ResolveError) as raised:
        client.post("http://nowhere.invalid/", data=b"x", deadline=60)
    assert [attempt.request_sent for attempt in raised.value.attempts] == [RequestSent.NOTHING]


@pytest.mark.parametrize("kind", ["http", "h2"])
@pytest.mark.parametrize("method", METHODS)
def test_b12_what_breaks_off_after_the_request_was_sent(
    server: FaultServer, client: Client, method: str, kind: str
) -> None:
    url = server.url("/seq/reset,503,200", kind=kind, id=server.new_id())
    attempts = client.request(method, url, data=b"x").attempts
    assert [attempt.request_sent for attempt in attempts] == [RequestSent.SOME] * 3


def test_b12_an_attempt_that_the_end_of_its_call_broke_off(server: FaultServer) -> None:
    """Given one that has sent its request, and waits for the answer."""
    with Client(once()) as client, pytest.raises(IdleTimeoutError) as raised:
        client.post(
            server.url("/seq/stall", id=server.new_id()),
            data=b"x",
            timeout=Timeout(timeout_interval_for_request_ms=200),
        )
    assert [attempt.request_sent for attempt in raised.value.attempts] == [RequestSent.SOME]


@pytest.mark.parametrize("status", [303, 307])
def test_b12_what_was_sent_before_a_redirect_counts(server: FaultServer, status: int) -> None:
    """Given a POST that the server has seen, and may have acted on, and a redirect to a port without a listener."""
    id = server.new_id()
    url = server.url(f"/seq/{status}", id=id, to=f"http://127.0.0.1:{server.ports['refused']}")
    with Client(quick(retry_unsafe_methods=False)) as client, pytest.raises(ConnectError) as raised:
        client.post(url, data=b"x")
    (attempt,) = raised.value.attempts
    assert (attempt.request_sent, attempt.reason) == (RequestSent.SOME, Reason.UNSAFE_REQUEST)
    assert len(server.seen(id)) == 1


def test_b13_what_was_sent_before_a_reconnect_counts() -> None:
    """The server closes a kept-alive connection once it has the next request, and then refuses connections.

    The reconnect takes the one retry that the strategy allows; it allows none for the exception that follows.
    """
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            connection.recv(4096)

    causes: list[Cause] = []

    def on_event(event: Event) -> None:
        if event.kind is EventKind.RECONNECT:
            causes.append(event.cause)
            listener.close()

    served = Background(serve)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    with Client(quick(max_attempts=1, max_retries_on_exception=0), on_event=on_event) as client:
        assert client.get(url).status == 200
        with pytest.raises(ConnectError) as raised:
            client.get(url)
    served.result()
    (attempt,) = raised.value.attempts
    assert (attempt.reconnects, attempt.request_sent) == (1, RequestSent.SOME)
    assert causes == [Cause.RECEIVE]
