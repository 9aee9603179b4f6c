"""Clients, calls, responses, queues and cancel switches: what of their words is seen only when a request is sent."""

from __future__ import annotations

import ctypes
import itertools
import threading
from typing import Any

import pytest
from arguments import Arguments
from calls import FOR_EVER, Calls, server
from custom import Custom
from isolated import isolated
from library import address
from test_callbacks import BLOCKING, HEADER
from test_threads import THREADS, in_threads

CALLS = 25
UNREADABLE = 8


# Responses


@isolated
def test_refused_connection_is_a_response_without_a_status() -> None:
    calls = Calls()
    response = calls.perform(calls.request())
    assert (calls.error(response), calls.ask("response_status", response)) == ("BOXRETRY_ERROR_CONNECT", 0)
    assert calls.ask("response_attempt_count", response) == 1
    attempt = calls.library.struct("boxretry_attempt")
    assert calls.ask("response_attempt", response, 0, address(attempt)) == "BOXRETRY_OK"
    assert (attempt.number, attempt.exception_number, attempt.status) == (1, 1, 0)
    assert attempt.curl_code != 0 and ctypes.string_at(attempt.curl_text)


@isolated
def test_response_shows_its_headers_and_body() -> None:
    calls = Calls()
    with server() as url:
        response = calls.perform(calls.request(url, user_pointer=42))
    assert (calls.error(response), calls.ask("response_status", response)) == ("BOXRETRY_OK", 200)
    assert calls.ask("response_header", response, address(ctypes.create_string_buffer(b"x-GREETING"))) == b"hello"
    lines = []
    for index in range(calls.ask("response_header_count", response)):
        line = calls.library.struct("boxretry_header")
        assert calls.ask("response_header_at", response, index, address(line)) == "BOXRETRY_OK"
        lines.append((ctypes.string_at(line.name), ctypes.string_at(line.value)))
    assert lines == [(b"X-Greeting", b"hello"), (b"Content-Length", b"4")]
    length = ctypes.c_size_t()
    body = calls.ask("response_body", response, address(length))
    assert ctypes.string_at(body, length.value + 1) == b"body\0"
    assert calls.ask("response_body", response, None)
    assert calls.ask("response_url", response) == url
    assert calls.ask("response_user_pointer", response) == 42


@isolated
def test_null_is_a_response_without_anything() -> None:
    calls = Calls()
    names = ["status", "header_count", "body_is_cut_off", "attempt_count", "url", "user_pointer"]
    assert [calls.ask(f"response_{name}", None) for name in names] == [0, 0, 0, 0, None, None]
    length = ctypes.c_size_t(1)
    assert calls.ask("response_body", None, address(length))
    assert length.value == 0


@isolated
def test_response_is_taken_once() -> None:
    calls = Calls()
    call = calls.submit(calls.request())
    assert calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_OK"
    first, second = (calls.ask("call_take_response", call) for _ in range(2))
    assert first and second is None


# Requests


@isolated
def test_outcome_does_not_look_at_what_is_for_clients() -> None:
    """Given pointers to nowhere in those fields, when an outcome is about the request, then none is followed."""
    calls = Calls()
    pointers = ("timeouts", "strategy", "queue", "on_complete", "on_complete_context", "cancel")
    request = calls.request(deadline_ms=-1, body_limit=2**64 - 1, **dict.fromkeys(pointers, UNREADABLE))
    outcome = calls.library.struct("boxretry_outcome", status=500, request=address(request))
    decision = calls.library.struct("boxretry_decision")
    strategy = calls.library.new("boxretry_strategy_new", None)
    assert calls.ask("strategy_should_retry", strategy, address(outcome), 1, address(decision)) == "BOXRETRY_OK"


@isolated
def test_call_without_a_way_to_get_its_result_is_refused() -> None:
    """Given neither a queue nor a callback, `out` may not be NULL."""
    calls = Calls()
    assert calls.ask("client_submit", calls.client, address(calls.request()), None) == "BOXRETRY_ERROR_INVALID_ARGUMENT"
    assert "out" in calls.library.detail


# Lives of handles


@isolated
def test_handles_are_freed_in_any_order() -> None:
    """Given a call under way, its client, queue, switch, strategy and itself are freed in each order."""
    calls = Calls()
    kinds = ["client", "call", "queue", "cancel", "strategy"]
    for order in itertools.permutations(kinds):
        handles = {name: calls.library.new(f"boxretry_{name}_new") for name in ("queue", "cancel")}
        handles["strategy"] = calls.library.new("boxretry_strategy_new", None)
        handles["client"] = calls.library.new("boxretry_client_new", address(calls.options))
        fields = {name: handles[name] for name in ("queue", "cancel", "strategy")}
        request = calls.request(**fields)
        handles["call"] = calls.library.new("boxretry_client_submit", handles["client"], address(request))
        for kind in order:
            calls.ask(f"{kind}_free", handles[kind])


@isolated
def test_client_retains_its_strategy() -> None:
    """Given a custom strategy that is freed, when its client sends, it is asked; it ends with the client."""
    custom = Custom()
    custom.free_loop()
    freed = threading.Event()
    custom.inside["context_free"] = freed.set
    calls = Calls(strategy=custom.strategy)
    custom.free_strategy()
    calls.ask("response_free", calls.perform(calls.request()))
    assert "should_retry" in custom.called and "context_free" not in custom.called
    calls.ask("client_free", calls.client)
    freed.wait()


# Callbacks


@pytest.mark.parametrize("name", BLOCKING)
@pytest.mark.parametrize(
    "struct, field", [("boxretry_request", "on_complete"), ("boxretry_client_options", "on_event")]
)
@isolated
def test_what_blocks_refuses_to_run_in_a_callback_of_the_client(struct: str, field: str, name: str) -> None:
    answers = []
    ended = threading.Event()
    calls = Calls()
    arguments = Arguments(calls.library, HEADER.functions[name])
    arguments.prepare()

    def call_what_blocks(context: int, what: int) -> None:
        if not ended.is_set():
            answers.append(arguments.call())
        ended.set()

    callback = calls.library.callback(struct, field, call_what_blocks)
    request = calls.request()
    setattr(request if field == "on_complete" else calls.options, field, address(callback))
    client = calls.library.new("boxretry_client_new", address(calls.options))
    call = calls.library.new("boxretry_client_submit", client, address(request))
    ended.wait()
    assert answers == ["BOXRETRY_ERROR_IN_CALLBACK"]
    assert calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_OK"


@isolated
def test_callback_may_free_its_client_and_its_call() -> None:
    calls = Calls()
    ended = threading.Event()

    def free(context: int, call: int) -> None:
        calls.ask("client_free", calls.client)
        calls.ask("call_free", call)
        assert calls.ask("call_user_pointer", call) == 42, "it lives until the callback returns"
        ended.set()

    callback = calls.library.callback("boxretry_request", "on_complete", free)
    calls.submit(calls.request(on_complete=address(callback), user_pointer=42))
    ended.wait()


# Threads


@isolated
def test_threads_share_a_client() -> None:
    """Given threads that send with one client, each gets its own response, and all are counted."""
    calls = Calls()

    def send(number: int) -> None:
        for _ in range(CALLS):
            response = calls.perform(calls.request(user_pointer=number + 1))
            assert calls.ask("response_user_pointer", response) == number + 1
            assert calls.error(response) == "BOXRETRY_ERROR_CONNECT"
            calls.ask("response_free", response)

    in_threads(send)
    stats = calls.library.struct("boxretry_client_stats")
    assert calls.ask("client_get_stats", calls.client, address(stats)) == "BOXRETRY_OK"
    assert stats.calls_started == stats.calls_ended == stats.attempts == THREADS * CALLS


@isolated
def test_threads_share_a_queue() -> None:
    """Given half of the threads that submit and half that take, each call comes once."""
    calls = Calls()
    queue = calls.library.new("boxretry_queue_new")
    total = THREADS // 2 * CALLS
    taken: list[int] = []

    def submit(number: int) -> None:
        for index in range(CALLS):
            calls.submit(calls.request(queue=queue, user_pointer=1 + number * CALLS + index))

    def take() -> None:
        room: Any = (ctypes.c_void_p * 3)()
        while len(taken) < total:
            count = calls.ask("queue_take", queue, address(room), len(room), 1)
            for call in room[:count]:
                taken.append(calls.ask("call_user_pointer", call))
                calls.ask("call_free", call)

    in_threads(lambda number: submit(number) if number < THREADS // 2 else take())
    assert sorted(taken) == list(range(1, total + 1))


@isolated
def test_threads_share_a_cancel_switch() -> None:
    """K1: given a switch that threads trigger, the calls that have it end, and those begun later are canceled."""
    calls = Calls()
    switch = calls.library.new("boxretry_cancel_new")

    def use(number: int) -> None:
        for index in range(CALLS):
            call = calls.submit(calls.request(cancel=switch))
            if index == number:
                calls.ask("cancel_trigger", switch)
            assert calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_OK"
            response = calls.ask("call_take_response", call)
            assert calls.error(response) in ("BOXRETRY_ERROR_CONNECT", "BOXRETRY_ERROR_CANCELLED")
            calls.ask("call_free", call)

    in_threads(use)
    assert calls.error(calls.perform(calls.request(cancel=switch))) == "BOXRETRY_ERROR_CANCELLED"


@isolated
def test_close_ends_the_calls_of_all_threads() -> None:
    """Given threads that send until they are refused, when the client is closed, they are all refused."""
    calls = Calls()

    def send(number: int) -> None:
        answer, out = "BOXRETRY_OK", ctypes.c_void_p()
        while answer == "BOXRETRY_OK" and number > 0:
            answer = calls.ask("client_perform", calls.client, address(calls.request()), address(out))
        assert answer == ("BOXRETRY_ERROR_CLOSED" if number > 0 else "BOXRETRY_OK")
        if number == 0:
            assert calls.ask("client_close", calls.client, FOR_EVER) == "BOXRETRY_OK"

    in_threads(send)
