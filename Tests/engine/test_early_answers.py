"""Answers that come, whole, before the request has been read (RFC 9113, 8.1; RFC 9112, 9.3)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from boxretry import Client, HTTPVersion, IdleTimeoutError, ProtocolError, ReceiveError, Timeout
from calls import LIBCURL, once, statuses
from fault_server import FaultServer, pattern

SIZE = 5_000_000
KINDS = ["http", "h2", "h2c"]
#: The uploads at whose end, on a stream that the server has ended, libcurl reports a failure. Since 8.6 it reads until
#: the end of a stream; curl's change 22987, made after 8.22, ends this.
REPORTS_THE_END_AS_A_FAILURE = (
    "bytes" if (8,) <= LIBCURL < (8, 6) else "in pieces" if (8, 6) <= LIBCURL < (8, 23) else ""
)


def idle(milliseconds: int) -> Timeout:
    return Timeout(timeout_interval_for_request_ms=milliseconds)


def put(server: FaultServer, client: Client, kind: str, parameters: dict[str, Any], data: Any, timeout: Timeout) -> Any:
    """An upload to a server that answers on seeing its head."""
    version = HTTPVersion.HTTP_2_PRIOR_KNOWLEDGE if kind == "h2c" else HTTPVersion.HTTP_DEFAULT
    status = parameters.pop("status", 200)
    url = server.url(f"/seq/{status}", {"early": "", **parameters}, kind=kind)
    return client.put(url, data=data, timeout=timeout, http_version=version, strategy=once())


def in_pieces() -> Iterator[bytes]:
    for _ in range(500):
        yield bytes(SIZE // 500)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", [bytes(SIZE), in_pieces], ids=["bytes", "in pieces"])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"size": 0}, {"chunked": ""}, {"status": 204}, {"read_pause_after": 4_000_000, "read_pause": 300}],
    ids=["body", "empty", "no length", "204", "read late"],
)
def test_an_upload_that_the_server_reads_goes_on_after_the_answer(
    server: FaultServer,
    client: Client,
    kind: str,
    data: Any,
    parameters: dict[str, Any],
    request: pytest.FixtureRequest,
) -> None:
    """Given 2xx on seeing the head, and a server that reads on: it gets all, and no time is lost."""
    uploads = 1
    body = "in pieces" if data is in_pieces else "bytes"
    if body == REPORTS_THE_END_AS_A_FAILURE and kind != "http" and "chunked" in parameters:
        reason = "libcurl 8.0 to 8.22 reports the end of an upload on a stream that the server has ended as a failure"
        request.applymarker(pytest.mark.xfail(strict=True, raises=ReceiveError, reason=reason))
        uploads = 20  # It does so in most of them; the first one ends the test.
    for _ in range(uploads):
        id = server.new_id()
        start = time.monotonic()
        response = put(server, client, kind, {**parameters, "id": id}, data, idle(40_000))
        assert time.monotonic() - start < 30
        assert response.status == parameters.get("status", 200)
        (seen,) = server.seen(id, over=True)
        assert (seen["body_length"], seen["body_complete"]) == (SIZE, True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [200, 204, 413])
def test_an_answer_counts_although_the_request_is_never_read(
    server: FaultServer, client: Client, kind: str, status: int
) -> None:
    """Given an upload that stands still until it is idle, then the server needs no more of it: it has answered."""
    never = {"read_pause_after": 0, "read_pause": 600_000}
    response = put(server, client, kind, {"status": status, **never}, bytes(30_000_000), idle(1_500))
    assert statuses(response.attempts) == [status]
    assert response.content == (b"" if status == 204 else pattern(64))


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_of_unknown_length_may_not_be_whole(server: FaultServer, client: Client, kind: str) -> None:
    """libcurl does not say that it was."""
    never = {"read_pause_after": 0, "read_pause": 600_000, "chunked": ""}
    with pytest.raises(IdleTimeoutError):
        put(server, client, kind, never, bytes(30_000_000), idle(1_500))


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_stops_in_the_middle_is_none(server: FaultServer, client: Client, kind: str) -> None:
    never = {"read_pause_after": 0, "read_pause": 600_000, "stall": "body"}
    with pytest.raises(IdleTimeoutError):
        put(server, client, kind, never, bytes(30_000_000), idle(1_500))


@pytest.mark.parametrize("status", [200, 204, 401, 413])
@pytest.mark.parametrize("data", [bytes(SIZE), in_pieces], ids=["bytes", "in pieces"])
def test_an_answer_counts_although_the_stream_is_reset_behind_it(
    server: FaultServer, client: Client, status: int, data: Any
) -> None:
    """RFC 9113, 8.1: RST_STREAM with NO_ERROR after a whole answer says that no more of the request is needed."""
    reset = {"stream_reset": "end", "code": "NO_ERROR"}
    response = put(server, client, "h2", {"status": status, **reset}, data, idle(20_000))
    assert statuses(response.attempts) == [status]


def frame(kind: int, flags: int, payload: bytes) -> bytes:
    """Of the first stream of a connection."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags, 0, 0, 0, 1]) + payload


HEADERS, DATA, RST_STREAM = 1, 0, 3
END_STREAM, END_HEADERS = 1, 4
NO_ERROR = bytes(4)
WHOLE = {
    "204": frame(HEADERS, END_HEADERS | END_STREAM, b"\x89"),
    "with a length": frame(HEADERS, END_HEADERS, b"\x88\x5c\x015") + frame(DATA, END_STREAM, b"whole"),
    "without a length": frame(HEADERS, END_HEADERS, b"\x88") + frame(DATA, END_STREAM, b"whole"),
}


@pytest.mark.xfail(
    LIBCURL < (8,), strict=True, raises=ProtocolError, reason="libcurl 7.88 drops what came with a RST_STREAM"
)
@pytest.mark.parametrize("answer", WHOLE)
def test_an_answer_counts_although_the_reset_comes_with_it(server: FaultServer, client: Client, answer: str) -> None:
    """RFC 9113, 8.1. Given both in one piece."""
    raw = WHOLE[answer] + frame(RST_STREAM, 0, NO_ERROR)
    response = put(server, client, "h2c", {"raw": raw}, bytes(SIZE), idle(5_000))
    assert (response.status, response.content) == ((204, b"") if answer == "204" else (200, b"whole"))


@pytest.mark.parametrize("answer", WHOLE)
def test_an_answer_to_a_request_that_was_sent_counts_although_a_reset_comes_with_it(
    server: FaultServer, client: Client, answer: str
) -> None:
    """Its last frame has ended the stream, which the reset is too late for."""
    raw = WHOLE[answer] + frame(RST_STREAM, 0, NO_ERROR)
    url = server.url("/seq/200", {"raw": raw}, kind="h2c")
    response = client.get(url, http_version=HTTPVersion.HTTP_2_PRIOR_KNOWLEDGE, strategy=once())
    assert response.status == (204 if answer == "204" else 200)
