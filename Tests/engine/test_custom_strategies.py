"""Custom strategies that take their time (B9): who waits for whom."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from boxretry import Action, Cause, Client, CustomRetryStrategy, DeadlineError, Outcome, WaitTimeoutError
from calls import eventually, quick, statuses
from fault_server import FaultServer
from raw_server import RawServer


class Slow(CustomRetryStrategy):
    """Does not answer before it is told to go on."""

    def __init__(self) -> None:
        self.asked = 0
        self.go_on = threading.Event()
        self._lock = threading.Lock()

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool | Action:
        with self._lock:
            self.asked += 1
        assert self.go_on.wait(60)
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
        strategy.go_on.set()
        assert [call.response().status for call in [*deciding, fifth]] == [503] * 5
        assert strategy.asked >= 5


class Retrying(CustomRetryStrategy):
    """Retries what is not a 2xx, and lets the server go on when it is asked about a 200."""

    def __init__(self, go_on: threading.Event) -> None:
        self._go_on = go_on

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        if outcome.status == 200:
            self._go_on.set()
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
