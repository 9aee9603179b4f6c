"""Custom strategies that take their time (B9): who waits for whom."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Any

import pytest
from boxretry import (
    Action,
    BodyState,
    Cause,
    Client,
    CustomRetryStrategy,
    DeadlineError,
    NetworkError,
    Outcome,
    WaitTimeoutError,
)
from calls import eventually, quick, statuses
from fault_server import FaultServer
from raw_server import RawServer


class Slow(CustomRetryStrategy):
    """Does not answer before `resume` is set."""

    def __init__(self) -> None:
        self.asked = 0
        self.resume = threading.Event()
        self._lock = threading.Lock()

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool | Action:
        with self._lock:
            self.asked += 1
        assert self.resume.wait(60)
        return False


def test_b9_a_fifth_call_waits_while_four_are_being_decided(server: FaultServer) -> None:
    """For a client has four threads for that. Other strategies, deadlines and cancels do not wait."""
    strategy, id = Slow(), server.new_id()
    url = server.url("/seq/503", id=id)
    with Client(quick()) as client:
        deciding = [client.submit("GET", url, strategy=strategy) for _ in range(4)]
        eventually(lambda: strategy.asked == 4)
        fifth = client.submit("GET", url, strategy=strategy)
        server.seen(id, requests=5, ended=True)
        with pytest.raises(WaitTimeoutError):
            fifth.wait(0.2)
        assert client.get(server.url("/seq/503,200", id=server.new_id())).status == 200
        with pytest.raises(DeadlineError):
            client.get(url, strategy=strategy, deadline=0.5)
        cancelled = client.submit("GET", url, strategy=strategy)
        cancelled.cancel()
        cancelled.wait(60)
        assert strategy.asked == 4
        strategy.resume.set()
        assert [call.response().status for call in [*deciding, fifth]] == [503] * 5
        assert strategy.asked == 5  # The calls that have ended meanwhile are not asked about.


class Retrying(CustomRetryStrategy):
    """Retries what is not a 2xx, and lets the server continue when it is asked about a 200."""

    def __init__(self, resume: threading.Event) -> None:
        self._resume = resume

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        if outcome.status == 200:
            self._resume.set()
        return outcome.status == 0

    def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        return 0


def test_f97_a_body_that_comes_late_is_not_cut_off_by_how_the_attempt_before_ended(tmp_path: Path) -> None:
    """F97, B15. Given an empty 206, which the file sink refuses when the strategy has answered, and then a 200 most of
    which comes later: the file has all of it, and there are two attempts."""
    (tmp_path / "out").write_bytes(b"old")
    rest_wanted = threading.Event()
    empty = b"HTTP/1.1 206 Partial Content\r\nContent-Length: 0\r\nContent-Range: bytes 0-0/1\r\n\r\n"
    late = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + bytes(10)
    with RawServer(empty, [late, rest_wanted, bytes(990)]) as server, Client(Retrying(rest_wanted)) as client:
        response = client.get(server.url, to_file=tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == bytes(1000)
    assert (response.status, response.sink_length) == (200, 1000)
    assert statuses(response.attempts) == [Cause.PROTOCOL.name, 200]
    assert len(server.heads) == 2


class Looks(CustomRetryStrategy):
    """Remembers what it was shown, and stops after the second attempt."""

    def __init__(self) -> None:
        self.seen: list[Outcome] = []

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        self.seen.append(outcome)
        return len(self.seen) < 2

    def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        return 0


def test_f118_a_strategy_sees_the_body_and_the_final_url(server: FaultServer) -> None:
    """B9. Given 409 with a JSON body after a redirect; and a body that broke off, in the next attempt."""
    id, strategy = server.new_id(), Looks()
    url = server.url("/seq/307,409,close:40", {"409.body": '{"code":"busy"}'}, id=id, to="http")
    with Client(strategy) as client, contextlib.suppress(NetworkError):
        client.post(url, data="x")
    first, second = strategy.seen
    assert (first.status, first.body, first.body_state) == (409, b'{"code":"busy"}', BodyState.COMPLETE)
    assert first.url is not None and first.url.startswith(server.url("/seq/")[:16])
    assert (second.cause, len(second.body), second.body_state) == (Cause.RECEIVE, 40, BodyState.PARTIAL)


def test_b9_a_body_is_cut_off_where_it_is_for_everybody(server: FaultServer) -> None:
    strategy = Looks()
    with Client(strategy, error_body_limit=4) as client:
        client.get(server.url("/seq/503,200", {"503.body": "busy as a bee"}, id=server.new_id()))
    first, second = strategy.seen
    assert (first.body, first.body_state) == (b"busy", BodyState.PARTIAL)
    assert (len(second.body), second.body_state) == (64, BodyState.COMPLETE)


def test_b9_a_body_that_a_sink_waits_for_is_still_to_come(server: FaultServer, tmp_path: Path) -> None:
    """B15."""
    strategy = Looks()
    with Client(strategy) as client:
        client.get(server.url("/seq/503,200", id=server.new_id()), to_file=tmp_path / "file")
    assert [outcome.body_state for outcome in strategy.seen] == [BodyState.COMPLETE, BodyState.PENDING]
    assert strategy.seen[1].body == b""


@pytest.mark.parametrize("way", ["get", "submit"])
def test_f119_what_a_strategy_raises_has_the_attempts_and_the_response(server: FaultServer, way: str) -> None:
    """B9."""

    class Raises(CustomRetryStrategy):
        def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            if attempt_number == 2:
                raise KeyError("mine")
            return True

        def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
            return 0

    url = server.url("/seq/503,409", {"409.body": "busy"}, id=server.new_id())
    with Client(Raises()) as client, pytest.raises(KeyError) as raised:
        _ = client.get(url) if way == "get" else client.submit("GET", url).response()
    told: Any = raised.value
    assert [attempt.status for attempt in told.attempts] == [503, 409]
    assert (told.response.status, told.response.text) == (409, "busy")
