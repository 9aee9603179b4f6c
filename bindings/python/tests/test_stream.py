"""Client.stream(): reading while data arrives; and what sources, sinks and hooks leave behind."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from boxretry import (
    CallbackFailedError,
    CancelledError,
    Client,
    ClosedError,
    ConnectError,
    InCallbackError,
    InvalidArgumentError,
    NetworkError,
    Reason,
    RetryStrategy,
    SinkError,
    SourceError,
    Timeout,
)

#: The server's class is in another folder.
Server = Any


@pytest.fixture
def client() -> Iterator[Client]:
    with Client(RetryStrategy(retry_base_interval=0.001)) as client:
        yield client


def pattern(size: int) -> bytes:
    """The bytes that the server sends."""
    return b"".join(b"%015d\n" % (offset % 1_000_000) for offset in range(0, size + 16, 16))[:size]


def test_a_stream_is_read_in_pieces(server: Server, client: Client) -> None:
    with client.stream("GET", server.url("/seq/503,200", id=server.new_id(), size=300_000)) as stream:
        pieces = list(stream.iter_bytes(70_000))
        assert [len(each) for each in pieces] == [70_000] * 4 + [20_000]
        assert b"".join(pieces) == pattern(300_000)
        assert (stream.status, stream.headers["Content-Length"]) == (200, "300000")
        assert [attempt.status for attempt in stream.response.attempts] == [503, 200]
        assert stream.read() == b""


@pytest.mark.parametrize("chunk_size", [1, 16, 299_999, 300_000, 10**9, None])
def test_pieces_of_any_size(server: Server, client: Client, chunk_size: int | None) -> None:
    size = 1_000 if chunk_size == 1 else 300_000
    with client.stream("GET", server.url("/seq/200", id=server.new_id(), size=size)) as stream:
        assert b"".join(stream.iter_bytes(chunk_size)) == pattern(size)


@pytest.mark.parametrize("begun", [0, 50])
def test_status_and_headers_are_there_at_the_beginning(server: Server, client: Client, begun: int) -> None:
    """Given a body of which only the beginning has arrived, or nothing."""
    url = server.url("/seq/503,307,200", {"id": server.new_id(), "size": 100, "3.stall_after": begun})
    with client.stream("GET", url) as stream:
        assert (stream.status, stream.headers["Content-Length"]) == (200, "100")
        assert (stream.url, stream.http_version) == (url, 11)


def test_b15_what_breaks_off_behind_the_head_is_not_retried(server: Server, client: Client) -> None:
    """Given a body that breaks off before its first byte: its status was reported already, and stays."""
    id = server.new_id()
    url = server.url("/seq/200,404", {"id": id, "size": 1_000, "1.close_after": 0})
    with client.stream("GET", url) as stream:
        assert stream.status == 200
        with pytest.raises(NetworkError) as raised:
            stream.read()
        assert raised.value.attempts[-1].reason is Reason.SINK_CANNOT_RESTART
        assert stream.status == 200
    assert len(server.seen(id)) == 1


def test_the_body_of_an_error_can_be_read_too(server: Server, client: Client) -> None:
    with client.stream("POST", server.url("/seq/404", id=server.new_id(), body="why"), data=b"x") as stream:
        assert (stream.status, stream.read(), stream.response.content) == (404, b"why", b"why")


def test_an_empty_body(server: Server, client: Client) -> None:
    with client.stream("GET", server.url("/seq/204", id=server.new_id())) as stream:
        assert (list(stream.iter_bytes()), stream.status) == ([], 204)


def test_no_more_than_some_waits_for_a_slow_reader(server: Server, client: Client) -> None:
    """Given an endless body: the transfer pauses, and continues when the body is read. A pause is not idle time."""
    told: list[int] = []
    with client.stream(
        "GET",
        server.url("/seq/200", id=server.new_id(), size="endless"),
        on_progress=lambda progress: told.append(progress.received),
        timeout=Timeout(timeout_interval_for_request_ms=10_000),
    ) as stream:
        pieces, read = stream.iter_bytes(100_000), 0
        for _ in range(100):
            read += len(next(pieces))
            assert all(received <= read + 2_000_000 for received in told)
            told.clear()
    assert read == 10_000_000


def test_who_leaves_early_cancels(server: Server, client: Client) -> None:
    id = server.new_id()
    with client.stream("GET", server.url("/seq/200", id=id, size="endless")) as stream:
        pieces = stream.iter_bytes()
        assert next(pieces)
    server.seen(id, ended=True)
    with pytest.raises(ClosedError):
        next(pieces)
    with pytest.raises(CancelledError):
        stream.response  # noqa: B018  # Asking for it is what is tried.
    stream.close()


def test_a_stream_that_nobody_has_any_more_is_cancelled(server: Server, client: Client) -> None:
    id = server.new_id()
    stream = client.stream("GET", server.url("/seq/200", id=id, size="endless")).__enter__()
    assert next(stream.iter_bytes())
    del stream
    gc.collect()
    server.seen(id, ended=True)


def test_what_breaks_off_in_the_middle_is_raised(server: Server, client: Client) -> None:
    """B15. Data that arrived before can be read."""
    read: list[bytes] = []
    url = server.url("/seq/200", id=server.new_id(), size=1_000, close_after=500)
    with client.stream("GET", url) as stream, pytest.raises(NetworkError) as raised:
        read.extend(stream.iter_bytes())
    assert b"".join(read) == pattern(500)
    assert raised.value.attempts[-1].reason is Reason.SINK_CANNOT_RESTART


def test_what_ends_before_the_body_is_raised_on_entering(server: Server, client: Client) -> None:
    with pytest.raises(ConnectError), client.stream("GET", f"http://127.0.0.1:{server.ports['refused']}/"):
        pass


def test_k4_a_stream_is_not_entered_where_it_would_wait_for_itself(server: Server, client: Client) -> None:
    """In a body that is read on the thread that drives the calls."""

    def body() -> Iterator[bytes]:
        with client.stream("GET", server.url("/seq/200", id=server.new_id())):
            yield b"never"

    with pytest.raises(SourceError) as raised:
        client.put(server.url("/seq/200", id=server.new_id()), data=body())
    assert isinstance(raised.value.__cause__, InCallbackError)


def test_a_stream_is_used_in_its_block_only(server: Server, client: Client) -> None:
    stream = client.stream("GET", server.url("/seq/200", id=server.new_id()))
    with pytest.raises(ClosedError):
        stream.read()
    with stream:
        with pytest.raises(ClosedError):
            stream.__enter__()
        with pytest.raises(InvalidArgumentError, match="chunk_size"):
            stream.iter_bytes(0)
    for arguments in ({"sink": print}, {"to_file": "x"}):
        with pytest.raises(TypeError, match="cannot be used with a stream"):
            client.stream("GET", "http://127.0.0.1:1/", **arguments)


def test_nothing_is_kept_without_need(server: Server) -> None:
    """Given callbacks that fail and others, when all are dropped, then they are freed without the collector."""

    class Fails:
        def write(self, data: bytes) -> None:
            raise KeyError

    class Body:
        def __iter__(self) -> Iterator[bytes]:
            return iter([b"x"])

    def fails(*_: object) -> Iterator[bytes]:
        raise KeyError

    url = server.url("/seq/200", id=server.new_id())
    client = Client(RetryStrategy(retry_base_interval=0.001), before_attempt=lambda request: None)
    sink, body = Fails(), Body()
    gone: list[weakref.ref[Any]] = [weakref.ref(each) for each in (client, sink, body)]
    for kind, arguments in (
        (SinkError, {"sink": sink}),
        (SourceError, {"data": fails}),
        (CallbackFailedError, {"before_attempt": fails}),
    ):
        given: dict[str, Any] = arguments
        with pytest.raises(kind) as raised:
            client.put(url, **given)
        assert isinstance(raised.value.__cause__, KeyError)
        del raised
    client.put(url, data=body, on_progress=lambda progress: None)
    with client.stream("GET", url) as stream:
        stream.read()
    gc.collect()
    gc.disable()
    try:
        del client, sink, body, arguments, given, stream
        assert [each() for each in gone] == [None] * 3
    finally:
        gc.enable()


def test_the_cause_is_told_to_who_asks_first(server: Server, client: Client) -> None:
    """A new exception is made each time; the cause refers to the frames that it passed through."""

    def fails() -> Iterator[bytes]:
        raise KeyError

    call = client.submit("PUT", server.url("/seq/200", id=server.new_id()), data=fails)
    causes = []
    for _ in range(2):
        with pytest.raises(SourceError) as raised:
            call.response()
        causes.append(type(raised.value.__cause__))
    assert causes == [KeyError, type(None)]
