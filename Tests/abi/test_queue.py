"""How the end of a call is reported: queues for event loops, and callbacks."""

from __future__ import annotations

import ctypes
import select
import threading
import time
from typing import Any

import pytest
from calls import FOR_EVER, Calls, server
from isolated import isolated
from library import address


def take(calls: Calls, queue: int, capacity: int = 8, timeout_ms: int = FOR_EVER) -> list[int]:
    room: Any = (ctypes.c_void_p * capacity)()
    return list(room[: calls.ask("queue_take", queue, address(room), capacity, timeout_ms)])


def is_readable(calls: Calls, queue: int, timeout: float = 0) -> bool:
    return bool(select.select([calls.ask("queue_fd", queue)], [], [], timeout)[0])


def submit_and_wait(calls: Calls, count: int, **fields: Any) -> list[int]:
    """Calls that end in this order."""
    made = []
    for _ in range(count):
        made.append(calls.submit(calls.request(**fields)))
        assert calls.ask("call_wait", made[-1], FOR_EVER) == "BOXRETRY_OK"
    return made


@isolated
def test_queue_gives_the_very_calls_in_the_order_in_which_they_ended() -> None:
    calls = Calls()
    queue = calls.library.new("boxretry_queue_new")
    made = submit_and_wait(calls, 5, queue=queue)
    taken: list[int] = []
    while len(taken) < 5:
        taken += take(calls, queue)
    assert taken == made


@isolated
def test_queue_gives_no_more_than_there_is_room_for() -> None:
    calls = Calls()
    queue = calls.library.new("boxretry_queue_new")
    made = submit_and_wait(calls, 5, queue=queue)
    while not is_readable(calls, queue):
        pass
    taken = [take(calls, queue, capacity=1), take(calls, queue, capacity=1)]
    while len(taken) < 5:
        taken.append(take(calls, queue, capacity=1))
    assert taken == [[call] for call in made]


@isolated
def test_queue_is_readable_just_as_long_as_it_holds_a_call() -> None:
    calls = Calls()
    queue = calls.library.new("boxretry_queue_new")
    assert not is_readable(calls, queue)
    for _ in range(3):
        submitted = [calls.submit(calls.request(queue=queue)) for _ in range(2)]
        taken: list[int] = []
        while len(taken) < 2:
            assert is_readable(calls, queue, 60)
            taken += take(calls, queue, capacity=1, timeout_ms=0)
        assert sorted(taken) == sorted(submitted)
        assert not is_readable(calls, queue)


@isolated
def test_queue_waits_for_its_timeout() -> None:
    """Given an empty one, then 0 only looks, and a wait ends with the first call, or when the time is up."""
    calls = Calls()
    queue = calls.library.new("boxretry_queue_new")
    assert take(calls, queue, timeout_ms=0) == []
    start = time.monotonic()
    assert take(calls, queue, timeout_ms=50) == []
    assert time.monotonic() - start >= 0.05
    call = calls.submit(calls.request(queue=queue))
    assert take(calls, queue) == [call]


@isolated
def test_freed_call_does_not_come() -> None:
    """Given one that is freed in the queue, then it is passed over, and alone makes nothing readable."""
    calls = Calls()
    queue = calls.library.new("boxretry_queue_new")
    first, second, third = submit_and_wait(calls, 3, queue=queue)
    calls.ask("call_free", second)
    taken: list[int] = []
    while len(taken) < 2:
        taken += take(calls, queue)
    assert taken == [first, third]
    (alone,) = submit_and_wait(calls, 1, queue=queue)
    calls.ask("call_free", alone)
    assert take(calls, queue, timeout_ms=0) == []
    assert not is_readable(calls, queue)


@pytest.mark.parametrize("capacity, timeout_ms", [(0, 0), (2**63, 0), (1, -1)])
@isolated
def test_queue_take_says_what_is_wrong(capacity: int, timeout_ms: int) -> None:
    calls = Calls()
    queue = calls.library.new("boxretry_queue_new")
    room: Any = (ctypes.c_void_p * 1)()
    assert calls.ask("queue_take", queue, address(room), capacity, timeout_ms) == 0
    assert ("capacity" if capacity != 1 else "timeout_ms") in calls.library.detail


@isolated
def test_k4_queue_take_in_a_callback_only_looks() -> None:
    """Given an event of a call, when a callback takes from a queue, then it may not wait, but look."""
    calls = Calls()
    queue = calls.library.new("boxretry_queue_new")
    (call,) = submit_and_wait(calls, 1, queue=queue)
    assert is_readable(calls, queue, 60)
    found: list[Any] = []

    def take_both_ways(context: int, event: int) -> None:
        if not found:
            found.extend([take(calls, queue), calls.library.detail, take(calls, queue, timeout_ms=0)])

    callback = calls.library.callback("boxretry_client_options", "on_event", take_both_ways)
    calls.options.on_event = address(callback)
    client = calls.library.new("boxretry_client_new", address(calls.options))
    calls.library.new("boxretry_client_perform", client, address(calls.request()))
    assert found[0] == [] and "callback" in found[1] and found[2] == [call]


# Callbacks


@isolated
def test_on_complete_gets_its_context_and_the_response() -> None:
    """Given a call that has no other owner, then it comes to its callback, once, with its whole response."""
    calls = Calls()
    told: list[Any] = []
    ended = threading.Event()

    def on_complete(context: int, call: int) -> None:
        assert calls.ask("call_user_pointer", call) == 42
        response = calls.ask("call_take_response", call)
        told.append((context, calls.ask("response_status", response), calls.ask("call_take_response", call)))
        calls.ask("response_free", response)
        ended.set()

    callback = calls.library.callback("boxretry_request", "on_complete", on_complete)
    with server() as url:
        request = calls.request(url, on_complete=address(callback), on_complete_context=43, user_pointer=42)
        assert calls.ask("client_submit", calls.client, address(request), None) == "BOXRETRY_OK"
        ended.wait()
    assert calls.ask("client_close", calls.client, FOR_EVER) == "BOXRETRY_OK"
    assert told == [(43, 200, None)]


@isolated
def test_perform_looks_neither_at_a_queue_nor_at_a_callback() -> None:
    calls = Calls()
    told: list[int] = []
    callback = calls.library.callback("boxretry_request", "on_complete", lambda context, call: told.append(call))
    queue = calls.library.new("boxretry_queue_new")
    for fields in ({"queue": queue}, {"on_complete": address(callback)}):
        assert calls.error(calls.perform(calls.request(**fields))) == "BOXRETRY_ERROR_CONNECT"
    assert take(calls, queue, timeout_ms=0) == told == []


@pytest.mark.parametrize("way", ["perform", "submit"])
@pytest.mark.parametrize("kind", [0, 1, 3, 4])
@isolated
def test_f82_client_is_freed_in_its_own_event(way: str, kind: int) -> None:
    """K5. Given that, at any event, then the call ends, and nothing hangs."""
    calls = Calls(max_total_attempts=2)
    options = calls.library.struct("boxretry_retry_options", retry_base_interval=0)
    calls.options.strategy = calls.library.new("boxretry_strategy_new", address(options))
    freed: list[int] = []

    def free(context: int, event: int) -> None:
        if calls.library.structs["boxretry_event"].from_address(event).kind == kind and not freed:
            freed.append(kind)
            calls.ask("client_free", client)

    callback = calls.library.callback("boxretry_client_options", "on_event", free)
    calls.options.on_event = address(callback)
    client = calls.library.new("boxretry_client_new", address(calls.options))
    if way == "perform":
        response = calls.library.new("boxretry_client_perform", client, address(calls.request()))
    else:
        call = calls.library.new("boxretry_client_submit", client, address(calls.request()))
        assert calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_OK"
        response = calls.ask("call_take_response", call)
    assert freed == [kind]
    assert calls.error(response) == ("BOXRETRY_ERROR_CANCELLED" if kind < 4 else "BOXRETRY_ERROR_CONNECT")
