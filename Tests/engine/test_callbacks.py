"""What a client's callbacks may do, what they get, and what happens to exceptions that they raise: F82."""

from __future__ import annotations

import threading
from typing import Any, Callable

import pytest
from boxretry import (
    Action,
    Call,
    CallbackFailedError,
    CancelledError,
    Client,
    ClosedError,
    CustomRetryStrategy,
    DeadlineError,
    Error,
    Event,
    EventKind,
    InCallbackError,
    Outcome,
    Reason,
    Timeout,
)
from calls import Background, in_both_ways, quick, takes
from fault_server import FaultServer

B, E, S, R, C = (
    EventKind.ATTEMPT_BEGAN,
    EventKind.ATTEMPT_ENDED,
    EventKind.RETRY_SCHEDULED,
    EventKind.RECONNECT,
    EventKind.CALL_ENDED,
)


class Asks(CustomRetryStrategy):
    """Answers with what a function says."""

    def __init__(self, answer: Callable[[], Any]) -> None:
        self._answer = answer

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool | Action:
        answer: bool = self._answer()
        return answer

    def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        return 0


def test_events_tell_what_happens_to_a_call(server: FaultServer) -> None:
    events: list[Event] = []
    mine = object()
    url = server.url("/seq/503,reset:headers,200", id=server.new_id())
    with Client(quick(), on_event=events.append) as client:
        response = client.post(url, user_data=mine)
    assert [event.kind for event in events] == [B, E, S, B, E, S, B, E, C]
    assert [event.attempt_number for event in events] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert [event.status for event in events] == [0, 503, 503, 0, 0, 0, 0, 200, 200]
    assert {(event.method, event.url) for event in events} == {("POST", url)}
    assert all(event.user_data is mine for event in events)
    times = [event.at_ms for event in events]
    assert times == sorted(times)
    assert events[1].reason is Reason.SERVER_ERROR
    assert events[0].reason is None
    assert events[-1].error is Error.OK
    assert [event.delay for event in events if event.kind is S] == [attempt.delay for attempt in response.attempts[:2]]


def test_events_tell_of_reconnects_and_errors(server: FaultServer) -> None:
    events: list[Event] = []
    url = server.url("/seq/200,close,200", id=server.new_id())
    with Client(quick(max_retries_on_exception=0), on_event=events.append) as client:
        client.get(url)
        events.clear()
        client.get(url)
        assert [event.kind for event in events] == [B, R, B, E, C]
        events.clear()
        with pytest.raises(Exception, match="could not connect"):
            client.get(f"http://127.0.0.1:{server.ports['refused']}/")
        assert events[-1].error is Error.CONNECT


@pytest.mark.parametrize("kind", [B, E, S, C])
@pytest.mark.parametrize("raised", [KeyError("mine"), SystemExit(3), KeyboardInterrupt()])
def test_what_on_event_raises_comes_out_where_the_call_was_made(
    server: FaultServer, kind: EventKind, raised: BaseException
) -> None:
    """And the client works on."""
    fails = [True]

    def on_event(event: Event) -> None:
        if event.kind is kind and fails[0]:
            raise raised

    url = server.url("/seq/503,200", id=server.new_id(), cycle="")
    with Client(quick(), on_event=on_event) as client:
        with pytest.raises(type(raised)) as here:
            client.get(url)
        assert here.value is raised
        with pytest.raises(type(raised)):
            Background(lambda: client.get(url)).result()
        call = client.submit("GET", url)
        with pytest.raises(type(raised)):
            call.response()
        fails[0] = False
        assert client.get(url).status == 200


@pytest.mark.parametrize("raised", [KeyError("mine"), SystemExit(3)])
def test_b9_what_a_strategy_raises_comes_out_where_the_call_was_made(
    server: FaultServer, raised: BaseException
) -> None:
    def answer() -> bool:
        raise raised

    id = server.new_id()
    url = server.url("/seq/503", id=id)
    with Client(Asks(answer)) as client:
        with pytest.raises(type(raised)) as here:
            client.get(url)
        assert here.value is raised
        with pytest.raises(type(raised)):
            Background(lambda: client.get(url)).result()
    with Client(quick()) as client:
        with pytest.raises(type(raised)):
            client.get(url, strategy=Asks(answer))
        assert len(client.get(url).attempts) == 5
    assert len(server.seen(id)) == 8


@pytest.mark.parametrize("answer", [None, "yes", 1, 3.5, Action.SUCCEED, Action(77)])
def test_b9_an_invalid_answer(server: FaultServer, answer: object) -> None:
    with Client(Asks(lambda: answer)) as client:
        for error in in_both_ways(client, "GET", server.url("/seq/503", id=server.new_id())):
            assert isinstance(error, (TypeError, CallbackFailedError))


def test_b9_the_last_response_comes_with_an_invalid_answer(server: FaultServer) -> None:
    with Client(Asks(lambda: Action.SUCCEED)) as client, pytest.raises(CallbackFailedError) as raised:
        client.get(server.url("/seq/503", id=server.new_id(), body="why"))
    assert raised.value.response is not None
    assert (raised.value.response.status, raised.value.response.content) == (503, b"why")


@pytest.mark.parametrize("where", ["on_event", "strategy"])
def test_f82_what_waits_is_refused_in_a_callback(server: FaultServer, where: str) -> None:
    """K4. And what does not wait is allowed."""
    url = server.url("/seq/503,200", id=server.new_id(), cycle="")
    silent = server.url("/seq/stall", id=server.new_id())
    refused: list[str] = []
    calls: list[Call] = []

    is_first = threading.Lock()  # The other call's own callback may run on another thread before it is in `calls`.

    def inside(*_: object) -> bool:
        if is_first.acquire(blocking=False):
            other = client.submit("GET", silent)  # Only the cancel can end it.
            calls.append(other)
            for work in (lambda: client.get(url), other.wait, lambda: other.wait(0), other.response):
                try:
                    work()
                except InCallbackError:
                    refused.append("refused")
            other.cancel()
        return False

    options: dict[str, Any] = {"on_event": inside} if where == "on_event" else {"strategy": Asks(lambda: inside())}
    with Client(**options) as client, takes(0):
        assert client.get(url, strategy=quick() if where == "on_event" else None).status in (200, 503)
        assert refused == ["refused"] * 4
        with pytest.raises(CancelledError):
            calls[0].response()


@pytest.mark.parametrize("where", ["on_event", "strategy"])
@pytest.mark.parametrize("way", ["main", "other"])
def test_f82_a_client_is_closed_in_its_own_callback(server: FaultServer, where: str, way: str) -> None:
    """K5. Then its calls are canceled, and nothing hangs."""

    def inside(*_: object) -> bool:
        client.close()
        return True

    class Later(Asks):
        def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
            return 60

    options: dict[str, Any] = {"on_event": inside} if where == "on_event" else {"strategy": Later(lambda: inside())}
    client = Client(**options)
    url = server.url("/seq/503", {"h": "Retry-After:60"}, id=server.new_id())
    with takes(0), pytest.raises(CancelledError):
        if way == "main":
            client.get(url)
        else:
            Background(lambda: client.get(url)).result()
    with pytest.raises(ClosedError):
        client.get(url)


def test_b9_a_slow_strategy_delays_only_its_own_call(server: FaultServer) -> None:
    may_answer = threading.Event()
    url = server.url("/seq/200", id=server.new_id(), quiet="")
    with Client(quick()) as client:
        slow = client.submit("GET", url, strategy=Asks(lambda: may_answer.wait(30) and False))
        for _ in range(50):
            assert client.get(url).status == 200
        may_answer.set()
        assert slow.response().status == 200


def test_k1_a_call_is_canceled_while_its_strategy_decides(server: FaultServer) -> None:
    """Then it ends at once; what the strategy says later, or raises, is ignored."""
    asked, may_answer = threading.Event(), threading.Event()

    def answer() -> bool:
        asked.set()
        may_answer.wait(30)
        raise KeyError("too late")

    with Client(quick()) as client:
        call = client.submit("GET", server.url("/seq/503", id=server.new_id()), strategy=Asks(answer))
        assert asked.wait(30)
        with takes(0):
            call.cancel()
            with pytest.raises(CancelledError):
                call.response()
        may_answer.set()
        assert client.get(server.url("/seq/200", id=server.new_id())).status == 200


def test_k5_a_client_is_closed_while_a_strategy_thinks(server: FaultServer) -> None:
    """Then nothing waits for the strategy: its call ends at once."""
    asked, may_answer = threading.Event(), threading.Event()

    def answer() -> bool:
        asked.set()
        return may_answer.wait(30)

    client = Client(Asks(answer))
    call = client.submit("GET", server.url("/seq/503", id=server.new_id()))
    assert asked.wait(30)
    with takes(0):
        client.close()
        with pytest.raises(CancelledError):
            call.response()
    may_answer.set()


@pytest.mark.parametrize(
    "idle_ms",
    [
        60_000,
        100,
    ],
)
def test_b11_b14_the_deadline_ends_a_call_while_its_strategy_thinks(server: FaultServer, idle_ms: int) -> None:
    """Whether or not the idle time, which is the attempt's alone, would have passed before."""
    may_answer = threading.Event()
    url = server.url("/seq/503", id=server.new_id())
    with Client(Asks(lambda: may_answer.wait(3) and False), timeout=Timeout(idle_ms)) as client:
        with pytest.raises(DeadlineError):
            client.get(url, deadline=0.3)
        may_answer.set()


def test_calls_without_a_waiter_are_canceled(server: FaultServer) -> None:
    """Given a strategy and events that still look at them, then nothing breaks."""
    events: list[Event] = []
    with Client(Asks(lambda: True), on_event=events.append, max_total_attempts=3) as client:
        for number in range(200):
            call = client.submit("GET", server.url("/seq/200", id="dropped", quiet=""))
            if number % 2:
                call.cancel()
            del call
        assert client.get(server.url("/seq/200", id=server.new_id())).status == 200


def test_clients_without_a_reference_are_closed(server: FaultServer) -> None:
    events: list[Event] = []
    for _ in range(50):
        client = Client(Asks(lambda: False), on_event=events.append)
        call = client.submit("GET", server.url("/seq/200", id="dropped", quiet=""))
        del client
        assert call.response().status == 200
