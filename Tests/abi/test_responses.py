"""What a C program learns of a response: in its custom strategy, and in the record of reconnects."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from calls import BUSY, Calls, server
from custom import Custom, Seen
from isolated import isolated
from library import Library, address
from ways import SINK_FILE

STOP = 0


def constant(library: Library, name: str) -> int:
    return int(library.header.constants[f"BOXRETRY_{name}"])


def seen_by_a_strategy(url: bytes, sink_path: Path | None = None) -> tuple[Library, Seen]:
    """The one outcome that a custom strategy, which retries nothing, is asked about."""
    custom = Custom()
    custom.action = STOP
    calls = Calls(strategy=custom.strategy)
    request = calls.request(url)
    if sink_path is not None:
        sink = calls.library.struct("boxretry_sink", kind=SINK_FILE, path=calls.text(bytes(sink_path)))
        request.sink = address(sink)
    calls.ask("response_free", calls.perform(request))
    (seen,) = custom.seen
    return calls.library, seen


@pytest.mark.parametrize("path", [b"busy", b"to/busy"])
@isolated
def test_f118_strategy_sees_the_body_and_the_final_url(path: bytes) -> None:
    """B9, F118. Given 409 with a JSON body, at once or after a redirect."""
    with server() as url:
        library, seen = seen_by_a_strategy(url + path)
        complete = constant(library, "BODY_COMPLETE")
        assert seen == Seen(409, constant(library, "CAUSE_NONE"), BUSY, complete, url + b"busy")


@isolated
def test_f118_strategy_sees_the_beginning_of_a_body_that_broke_off() -> None:
    """B9, F118."""
    with server() as url:
        library, seen = seen_by_a_strategy(url + b"short")
        partial = constant(library, "BODY_PARTIAL")
        assert seen == Seen(0, constant(library, "CAUSE_RECEIVE"), b"beginning", partial, url + b"short")


@isolated
def test_f118_strategy_sees_that_a_body_is_still_to_come(tmp_path: Path) -> None:
    """B9, B15, F118. Given a file sink, which takes the body after the strategy has answered."""
    with server() as url:
        library, seen = seen_by_a_strategy(url + b"redirect/1", tmp_path / "file")
        pending = constant(library, "BODY_PENDING")
        assert seen == Seen(200, constant(library, "CAUSE_NONE"), b"", pending, url + b"redirect/0")
    assert (tmp_path / "file").read_bytes() == b"body"


@isolated
def test_b13_record_of_reconnects() -> None:
    """B13. Given a kept connection that ends when it gets a second request."""
    with server() as url:
        calls = Calls(max_total_attempts=2)
        request = calls.request(url + b"once")
        first, second = calls.perform(request), calls.perform(request)
        assert [calls.error(response) for response in (first, second)] == ["BOXRETRY_OK"] * 2
        assert [calls.ask("response_reconnect_count", response) for response in (first, second)] == [0, 1]
        reconnect = calls.library.struct("boxretry_reconnect")
        assert calls.ask("response_reconnect", second, 0, address(reconnect)) == "BOXRETRY_OK"
        expected = (1, constant(calls.library, "CAUSE_RECEIVE"))
        assert (reconnect.attempt_number, reconnect.cause) == expected
        attempt = calls.library.struct("boxretry_attempt")
        assert calls.ask("response_attempt", second, 0, address(attempt)) == "BOXRETRY_OK"
        assert 0 < reconnect.at_ms <= attempt.ended_ms
        before = ctypes.string_at(address(reconnect), ctypes.sizeof(reconnect))
        for response, index in ((first, 0), (second, 1)):
            answer = calls.ask("response_reconnect", response, index, address(reconnect))
            assert answer == "BOXRETRY_ERROR_INVALID_ARGUMENT"
        assert ctypes.string_at(address(reconnect), ctypes.sizeof(reconnect)) == before
