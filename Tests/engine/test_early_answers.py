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
#: curl's change 22987, made after 8.22, ends it.
REPORTS_THE_END_AS_A_FAILURE = (8,) <= LIBCURL < (8, 23)


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
    if REPORTS_THE_END_AS_A_FAILURE and kind != "http" and data is in_pieces and "chunked" in parameters:
        reason = "libcurl 8.0 to 8.22 reports the end of an upload, on a stream that the server has ended, as a failure"
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


@pytest.mark.xfail(
    LIBCURL < (8,), strict=True, raises=ProtocolError, reason="libcurl 7.88 drops what came with a RST_STREAM"
)
def test_an_answer_counts_although_the_reset_comes_with_it(server: FaultServer, client: Client) -> None:
    """Given both in one piece, on a connection that is there, as the first stream of which is 1."""
    head, reset = bytes.fromhex("000001 01 05 00000001 89"), bytes.fromhex("000004 03 00 00000001 00000000")
    response = put(server, client, "h2c", {"raw": head + reset}, bytes(SIZE), idle(5_000))
    assert response.status == 204
