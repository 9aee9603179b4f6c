"""Custom strategies that take their time (B9): who waits for whom."""

from __future__ import annotations

import threading

import pytest
from boxretry import Action, Client, CustomRetryStrategy, DeadlineError, Outcome, WaitTimeoutError
from calls import eventually, quick
from fault_server import FaultServer


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
