"""B10: every attempt that has begun is in the record, however its call ends: the cases F124 and F125."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from boxretry import (
    AttemptRequest,
    BoxRetryError,
    CallbackFailedError,
    CancelledError,
    CancelSwitch,
    Client,
    ClientTokenProviderFailedError,
    DeadlineError,
    Event,
    EventKind,
    RequestSent,
    TokenSource,
)
from calls import Background, eventually, quick, statuses
from fault_server import FaultServer


def sent(error: BaseException) -> list[RequestSent]:
    """How much of each attempt's request was sent, as its record has it."""
    return [attempt.request_sent for attempt in error.attempts]  # type: ignore[attr-defined]


def assert_busy(error: Any) -> None:
    """The 503 of the first attempt is attached, and its body too."""
    assert (error.response.status, error.response.text) == (503, "busy")
    assert error.response.headers["X-Id"] == "7"
    assert statuses(error.attempts) == [503, "NONE"]


BUSY: dict[str, Any] = {"503.body": "busy", "503.h": "X-Id:7"}


@pytest.mark.parametrize("how", ["cancel", "deadline"])
@pytest.mark.parametrize("kind", ["backlog", "silent"])
def test_f124_a_post_that_a_303_answered(server: FaultServer, client: Client, how: str, kind: str) -> None:
    """B10. Given that the next host does not accept, or does not answer, then the POST is in the record."""
    id = server.new_id()
    port = server.ports[kind]
    url = server.url("/seq/303", id=id, h=f"Location:http://127.0.0.1:{port}/")
    deadline = 1 if how == "deadline" else float("inf")
    call = client.submit("POST", url, data=b"create", deadline=deadline)
    server.seen(id, requests=1)
    if how == "cancel":
        call.cancel()
    with pytest.raises((CancelledError, DeadlineError)) as raised:
        call.response()
    assert sent(raised.value) == [RequestSent.SOME]
    attempt, (redirect,) = raised.value.attempts[0], raised.value.redirects
    assert (attempt.redirects, redirect.status, redirect.attempt_number) == (1, 303, 1)
    assert [request["method"] for request in server.seen(id)] == ["POST"]


def test_f124_the_next_request_waits_for_its_turn(server: FaultServer) -> None:
    """B10. Given a client that may send one request at a time, and a redirect that another call keeps waiting."""
    id, other, switch = server.new_id(), server.new_id(), CancelSwitch()
    with Client(quick(), max_transfers=1) as client:
        call = client.submit("POST", server.url("/seq/303,200", id=id, to="http", first=300), data=b"x", cancel=switch)
        server.seen(id, requests=1)
        behind = client.submit("GET", server.url("/seq/stall", id=other))
        server.seen(other, requests=1)
        switch.trigger()
        with pytest.raises(CancelledError) as raised:
            call.response()
        behind.cancel()
    assert sent(raised.value) == [RequestSent.SOME]
    assert len(server.seen(id)) == len(raised.value.redirects) == 1


@pytest.mark.parametrize("how", ["cancel", "deadline"])
def test_f125_the_second_attempt_is_broken_off(server: FaultServer, client: Client, how: str) -> None:
    """B10."""
    id = server.new_id()
    url = server.url("/seq/503,stall", BUSY, id=id)
    call = client.submit("GET", url, deadline=1 if how == "deadline" else float("inf"))
    server.seen(id, requests=2)
    if how == "cancel":
        call.cancel()
    with pytest.raises((CancelledError, DeadlineError)) as raised:
        call.response()
    assert_busy(raised.value)
    assert sent(raised.value) == [RequestSent.SOME] * len(server.seen(id))


def test_f125_a_hook_fails_in_the_second_attempt(server: FaultServer, client: Client) -> None:
    """B10."""

    def hook(request: AttemptRequest) -> None:
        if request.attempt_number == 2:
            raise KeyError("mine")

    id = server.new_id()
    with pytest.raises(CallbackFailedError) as raised:
        client.get(server.url("/seq/503", BUSY, id=id), before_attempt=hook)
    assert_busy(raised.value)
    assert sent(raised.value) == [RequestSent.SOME, RequestSent.NOTHING]
    assert len(server.seen(id)) == 1


@pytest.mark.parametrize("how", ["fails", "cancel"])
def test_f125_there_is_no_token_for_the_second_attempt(server: FaultServer, how: str) -> None:
    """B10. Given a provider that fails, or one that does not answer until the call is canceled."""
    id, asked, switch = server.new_id(), [], CancelSwitch()
    blocked: list[Any] = []

    def provider() -> tuple[str, float]:
        asked.append(True)
        if len(asked) == 1:
            return "t1", 3600
        while how == "cancel" and not blocked:
            eventually(lambda: bool(blocked))
        raise KeyError("mine")

    with TokenSource(provider) as source, Client(quick(), token_source=source) as client:
        source.get()

        def drop(request: AttemptRequest) -> None:
            source.clear()

        url = server.url("/seq/503", BUSY, id=id)
        waiting = Background(lambda: client.get(url, before_attempt=drop, cancel=switch))
        if how == "cancel":
            eventually(lambda: len(asked) == 2)
            switch.trigger()
        expected: type[BaseException] = ClientTokenProviderFailedError if how == "fails" else CancelledError
        with pytest.raises(expected) as raised:
            waiting.result()
        blocked.append(True)
    assert_busy(raised.value)
    assert sent(raised.value) == [RequestSent.SOME, RequestSent.NOTHING]
    assert len(server.seen(id)) == 1


def test_b10_a_call_that_is_canceled_in_a_wait_keeps_its_response(server: FaultServer) -> None:
    waits = threading.Event()

    def on_event(event: Event) -> None:
        if event.kind is EventKind.RETRY_SCHEDULED:
            waits.set()

    with Client(quick(), on_event=on_event) as client:
        call = client.submit("GET", server.url("/seq/503", {**BUSY, "h": "Retry-After:60"}, id=server.new_id()))
        assert waits.wait(30)
        call.cancel()
        with pytest.raises(CancelledError) as raised:
            call.response()
    assert raised.value.response is not None
    assert (raised.value.response.status, raised.value.response.text) == (503, "busy")
    assert statuses(raised.value.attempts) == [503]


def test_b10_an_attempt_that_never_began_is_not_recorded(server: FaultServer) -> None:
    """Given no token for the first attempt, then nothing was begun and there is nothing to show."""

    def provider() -> tuple[str, float]:
        raise KeyError("mine")

    with TokenSource(provider) as source, Client(token_source=source) as client, pytest.raises(BoxRetryError) as raised:
        client.get(server.url("/seq/200", id=server.new_id()))
    assert (raised.value.attempts, raised.value.response) == ([], None)
