"""Cancellation: the cases F40 to F42, and races of it against the end of a call."""

from __future__ import annotations

import contextlib
import random
import threading

import pytest
from boxretry import CancelledError, CancelSwitch, Client, DeadlineError, Event, EventKind, NetworkError, Response
from calls import Background, in_both_ways, once, quick, takes
from fault_server import FaultServer


class Watch:
    """Tells when something has happened to a call."""

    def __init__(self, kind: EventKind) -> None:
        self._kind = kind
        self.happened = threading.Event()

    def __call__(self, event: Event) -> None:
        if event.kind is self._kind:
            self.happened.set()


@pytest.mark.parametrize("way", ["perform", "submit"])
def test_f40_cancel_in_a_wait(server: FaultServer, way: str) -> None:
    """K1. Given a wait of 60 s, then the caller is back at once, after one request."""
    id, watch, switch = server.new_id(), Watch(EventKind.RETRY_SCHEDULED), CancelSwitch()
    url = server.url("/seq/503", {"h": "Retry-After:60"}, id=id)
    with Client(on_event=watch) as client, takes(0):
        if way == "perform":
            waiting = Background(lambda: client.get(url, cancel=switch))
            assert watch.happened.wait(30)
            switch.trigger()
            with pytest.raises(CancelledError) as raised:
                waiting.result()
        else:
            call = client.submit("GET", url)
            assert watch.happened.wait(30)
            call.cancel()
            with pytest.raises(CancelledError) as raised:
                call.response()
    assert [attempt.status for attempt in raised.value.attempts] == [503]
    assert len(server.seen(id)) == 1


def test_f41_cancel_in_flight(server: FaultServer, client: Client) -> None:
    """K2. Given a call that the server has seen, then it is canceled, not retried, and not a network exception."""
    id = server.new_id()
    call = client.submit("GET", server.url("/seq/stall", id=id))
    server.seen(id, requests=1)
    with takes(0):
        call.cancel()
        with pytest.raises(CancelledError) as raised:
            call.response()
    assert not isinstance(raised.value, NetworkError)
    assert len(server.seen(id, ended=True)) == 1
    assert client.stats().retries == 0


@pytest.mark.parametrize("how", ["cancel", "deadline"])
def test_b13_the_attempt_that_was_under_way_is_in_the_record(server: FaultServer, client: Client, how: str) -> None:
    """Given a call that ends in its second attempt, both are recorded; the strategy saw only the first."""
    id = server.new_id()
    call = client.submit("GET", server.url("/seq/503,stall", id=id), deadline=2 if how == "deadline" else float("inf"))
    server.seen(id, requests=2)
    if how == "cancel":
        call.cancel()
    with pytest.raises((CancelledError, DeadlineError)) as raised:
        call.response()
    assert len(raised.value.attempts) == len(server.seen(id)) == 2
    assert raised.value.attempts[1].reason is None


def test_k1_cancel_50_ms_into_a_silent_server(server: FaultServer, client: Client) -> None:
    """From another thread, by a timer."""
    switch = CancelSwitch()
    port = server.open("silent")
    waiting = Background(lambda: client.get(f"http://127.0.0.1:{port}/", cancel=switch))
    server.connections(port, opened=1)
    threading.Timer(0.05, switch.trigger).start()
    with takes(0), pytest.raises(CancelledError):
        waiting.result()
    assert len(server.connections(port, opened=1, ended=True)) == 1


@pytest.mark.parametrize("kind", ["backlog", "silent"])
def test_k1_cancel_while_connecting(server: FaultServer, client: Client, kind: str) -> None:
    """Given a connection that is not accepted, or a TLS handshake without an answer."""
    scheme = "https" if kind == "silent" else "http"
    call = client.submit("GET", f"{scheme}://127.0.0.1:{server.ports[kind]}/")
    with pytest.raises(TimeoutError):
        call.wait(0.05)
    with takes(0):
        call.cancel()
        with pytest.raises(CancelledError):
            call.response()


@pytest.mark.parametrize("how", ["cancel", "deadline", "client"])
def test_k1_b11_a_call_that_waits_for_its_turn_can_be_ended(server: FaultServer, how: str) -> None:
    """Given a client that is busy with as many attempts as it may, then the call ends before it was sent."""
    first, second = server.new_id(), server.new_id()
    client = Client(once(), max_transfers=1)
    stalled = client.submit("GET", server.url("/seq/stall", id=first))
    server.seen(first, requests=1)
    deadline = 0.2 if how == "deadline" else float("inf")
    waiting = client.submit("GET", server.url("/seq/200", id=second), deadline=deadline)
    with takes(0):
        if how == "cancel":
            waiting.cancel()
        elif how == "client":
            client.close()
        with pytest.raises(DeadlineError if how == "deadline" else CancelledError) as raised:
            waiting.response()
    assert raised.value.attempts == []
    stalled.cancel()
    client.close()
    assert server.seen(second) == []


def test_k1_cancel_while_sending(server: FaultServer, client: Client) -> None:
    port = server.open("http", rcvbuf=4096)
    id = server.new_id()
    target = server.target("/seq/200", id=id, read=1, read_every=600_000)
    call = client.submit("PUT", f"http://127.0.0.1:{port}{target}", data=bytes(20_000_000))
    server.connections(port, opened=1)
    with takes(0):
        call.cancel()
        with pytest.raises(CancelledError):
            call.response()


def test_k1_cancel_while_reading(server: FaultServer, client: Client) -> None:
    id = server.new_id()
    call = client.submit("GET", server.url("/seq/200", id=id, size="endless", every=10, chunked=""))
    server.seen(id, requests=1)
    with takes(0):
        call.cancel()
        with pytest.raises(CancelledError):
            call.response()


def test_f42_a_switch_that_was_triggered_before(server: FaultServer, client: Client) -> None:
    """K1. Given that, then the call ends before the server sees anything of it, and so do all later ones."""
    id, switch = server.new_id(), CancelSwitch()
    switch.trigger()
    for _ in range(3):
        for error in in_both_ways(client, "GET", server.url("/seq/200", id=id), cancel=switch):
            assert type(error) is CancelledError
            assert error.attempts == []
    assert server.seen(id) == []
    assert client.get(server.url("/seq/200", id=id)).status == 200


def test_f42_cancel_after_the_end_changes_nothing(server: FaultServer, client: Client) -> None:
    """K3."""
    switch = CancelSwitch()
    call = client.submit("GET", server.url("/seq/200", id=server.new_id()), cancel=switch)
    call.wait()
    for _ in range(1000):
        call.cancel()
    switch.trigger()
    assert call.response().status == 200
    assert call.response() is call.response()


def test_f42_a_thousand_cancels_are_one(server: FaultServer, client: Client) -> None:
    call = client.submit("GET", server.url("/seq/stall", id=server.new_id()))
    for _ in range(1000):
        call.cancel()
    with pytest.raises(CancelledError):
        call.response()
    with pytest.raises(CancelledError):
        call.response()
    assert client.stats().calls_ended == client.stats().calls_started == 1


def test_k1_one_switch_ends_many_calls_of_many_clients(server: FaultServer) -> None:
    switch, id = CancelSwitch(), server.new_id()
    clients = [Client() for _ in range(3)]
    calls = [each.submit("GET", server.url("/seq/stall", id=id), cancel=switch) for each in clients for _ in range(5)]
    server.seen(id, requests=15)
    switch.trigger()
    for call in calls:
        with pytest.raises(CancelledError):
            call.response()
    for each in clients:
        each.close()


def test_k3_cancel_and_the_end_race(server: FaultServer, rounds: int) -> None:
    """Given both at once, many times, then each call has one ending, a whole response or CancelledError."""
    url = server.url("/seq/200", id=server.new_id(), quiet="", body="whole")
    draw, endings = random.Random(7), {"response": 0, "cancelled": 0}
    with Client(once()) as client:
        for _ in range(rounds):
            call = client.submit("GET", url)
            if draw.random() < 0.5:
                canceller = threading.Thread(target=call.cancel)
                canceller.start()
            else:
                for _ in range(draw.randrange(2_000)):
                    pass
                call.cancel()
            try:
                response: Response = call.response(30)
                assert (response.status, response.content) == (200, b"whole")
                endings["response"] += 1
            except CancelledError as error:
                assert len(error.attempts) <= 1
                endings["cancelled"] += 1
        stats = client.stats()
    assert stats.calls_started == stats.calls_ended == sum(endings.values()) == rounds
    assert min(endings.values()) > 0, endings


def test_k3_a_switch_and_the_end_race(server: FaultServer, rounds: int) -> None:
    """As above, for calls that drive the loop themselves."""
    url = server.url("/seq/200", id=server.new_id(), quiet="", body="whole")
    with Client(once()) as client:

        def race() -> None:
            for _ in range(rounds // 4):
                switch = CancelSwitch()
                trigger = threading.Thread(target=switch.trigger)
                trigger.start()
                with contextlib.suppress(CancelledError):
                    assert client.get(url, cancel=switch).content == b"whole"
                trigger.join()

        for racer in [Background(race) for _ in range(4)]:
            racer.result()
        stats = client.stats()
    assert stats.calls_started == stats.calls_ended == rounds // 4 * 4


def test_k1_closing_a_client_ends_its_calls(server: FaultServer) -> None:
    id, client = server.new_id(), Client(quick())
    performing = [Background(lambda: client.get(server.url("/seq/stall", id=id))) for _ in range(3)]
    submitted = [client.submit("GET", server.url("/seq/stall", id=id)) for _ in range(3)]
    server.seen(id, requests=6)
    with takes(0):
        client.close()
    for waiting in performing:
        with pytest.raises(CancelledError):
            waiting.result()
    for call in submitted:
        with pytest.raises(CancelledError):
            call.response()
