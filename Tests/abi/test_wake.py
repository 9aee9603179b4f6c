"""Waits that end before their call does: boxretry_client_submit_and_wait(), boxretry_call_wake()."""

from __future__ import annotations

import ctypes
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from bodies import BODY, PAUSE_READING, PAUSE_WRITING, Streams
from calls import FOR_EVER, Calls, server
from isolated import isolated
from library import address


@contextmanager
def silent_server() -> Iterator[bytes]:
    """The URL of a server that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield b"http://127.0.0.1:%d/" % listener.getsockname()[1]


def submit_and_wait(calls: Calls, url: bytes, timeout_ms: int) -> ctypes.c_void_p:
    call = ctypes.c_void_p()
    request = calls.request(url)
    answer = calls.ask("client_submit_and_wait", calls.client, address(request), timeout_ms, address(call))
    assert answer == "BOXRETRY_OK"
    return call


@isolated
def test_call_that_ends_in_time_has_its_response() -> None:
    calls = Calls()
    with server() as url:
        call = submit_and_wait(calls, url, FOR_EVER)
    response = calls.ask("call_take_response", call)
    assert calls.ask("response_status", response) == 200
    calls.ask("call_free", call)


@pytest.mark.parametrize("timeout_ms", [0, 1])
@isolated
def test_call_that_does_not_end_in_time_goes_on(timeout_ms: int) -> None:
    """Given a silent server, there is no response after that time, and the client's own thread ends the call."""
    calls = Calls()
    ended = threading.Event()
    with silent_server() as url:
        function = calls.callback("boxretry_request", "on_complete", lambda context, call: ended.set())
        call = ctypes.c_void_p()
        request = calls.request(url, on_complete=function)
        answer = calls.ask("client_submit_and_wait", calls.client, address(request), timeout_ms, address(call))
        assert (answer, calls.ask("call_take_response", call)) == ("BOXRETRY_OK", None)
        calls.ask("call_cancel", call)
        ended.wait()
    assert calls.error(calls.ask("call_take_response", call)) == "BOXRETRY_ERROR_CANCELLED"


@isolated
def test_callback_ends_the_wait_of_the_thread_that_calls_it() -> None:
    """Given a sink that has to wait, when it wakes the thread, then this resumes the call and gets the whole body."""
    with server() as url:
        streams = Streams(url)
        calls = streams.calls
        streams.request.on_complete = None
        streams.answers["write"] = [PAUSE_WRITING]
        streams.inside["write"] = lambda: calls.ask("call_wake", streams.call)
        call = ctypes.c_void_p()
        calls.ask("client_submit_and_wait", calls.client, address(streams.request), FOR_EVER, address(call))
        assert calls.ask("call_take_response", call) is None
        calls.ask("call_resume", call)
        while calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_ERROR_WAIT_TIMEOUT":
            pass
        assert calls.error(calls.ask("call_take_response", call)) == "BOXRETRY_OK"
    assert streams.taken == BODY


@isolated
def test_callback_ends_the_wait_while_its_thread_starts_the_attempt() -> None:
    """Given a kept-alive connection, the source of the body is asked before the thread waits in the loop."""
    with server() as url:
        streams, calls = Streams(url), Calls()
        ok = calls.perform(calls.request(url))
        assert calls.error(ok) == "BOXRETRY_OK"
        streams.answers["read"] = [PAUSE_READING]
        streams.inside["read"] = lambda: calls.ask("call_wake", streams.call)
        request = calls.request(url, method=calls.text(b"PUT"), body_source=address(streams.source), deadline_ms=5_000)
        call = ctypes.c_void_p()
        calls.ask("client_submit_and_wait", calls.client, address(request), FOR_EVER, address(call))
        assert calls.ask("call_take_response", call) is None, "the wait ended with the call, not with the wake"
        calls.ask("call_resume", call)
        while calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_ERROR_WAIT_TIMEOUT":
            pass
        assert calls.error(calls.ask("call_take_response", call)) == "BOXRETRY_OK"


@isolated
def test_wake_ends_the_next_wait_and_only_that() -> None:
    calls = Calls()
    with silent_server() as url:
        call = calls.submit(calls.request(url))
        calls.ask("call_wake", call)
        calls.ask("call_wake", call)
        assert calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_ERROR_WAIT_TIMEOUT"
        threading.Thread(target=calls.ask, args=("call_cancel", call)).start()
        assert calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_OK"
        calls.ask("call_wake", call)
        assert calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_OK", "a call that has ended stays so"
    calls.ask("call_wake", None)


@pytest.mark.parametrize("who", ["this thread", "another thread"])
@isolated
def test_any_thread_ends_a_wait_whoever_drives_the_client(who: str) -> None:
    """Given a thread that waits without a limit, and drives the client or not, when others wake it, it returns."""
    calls = Calls()
    with silent_server() as url:
        if who == "another thread":
            threading.Thread(target=calls.perform, args=(calls.request(url),)).start()
        call = calls.submit(calls.request(url))
        returned = threading.Event()

        def wake() -> None:
            while not returned.is_set():
                calls.ask("call_wake", call)

        waker = threading.Thread(target=wake)
        waker.start()
        for _ in range(100):
            assert calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_ERROR_WAIT_TIMEOUT"
        returned.set()
        waker.join()
        calls.ask("client_close", calls.client, FOR_EVER)
