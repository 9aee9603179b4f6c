"""Sources and sinks that are callbacks, and the other callbacks of a call: wrong answers, and all that they may do."""

from __future__ import annotations

import ctypes
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from arguments import Arguments
from bodies import BODY, CALLBACKS, PAUSE_READING, PAUSE_WRITING, Streams
from calls import FOR_EVER, REFUSED, server
from header import read_header
from hostile import cases
from isolated import isolated
from library import Library, address
from test_callbacks import BLOCKING
from test_threads import in_threads
from ways import CALLBACKS as WITH_CALLBACKS

HEADER = read_header()
each_callback = pytest.mark.parametrize("name", CALLBACKS)

BOTH_ONCE = {"source": 1, "sink": 1}


@isolated
def test_callbacks_give_and_take_the_bodies() -> None:
    with server() as url:
        streams = Streams(url)
        assert streams.ended() == "OK"
    assert streams.taken == BODY
    assert streams.heads == [(200, 11, url, 1)]
    assert streams.called.index("begin") < streams.called.index("write")
    assert streams.contexts_freed == BOTH_ONCE


@isolated
def test_older_sink_without_begin_keeps_working() -> None:
    """Given a program whose sink ends before `begin`, what stands behind it is not looked at."""
    with server() as url:
        streams = Streams(url)
        streams.sink.struct_size = type(streams.sink).begin.offset
        assert streams.ended() == "OK"
    assert (streams.taken, streams.heads) == (BODY, [])


# Wrong answers


@pytest.mark.parametrize("count", [None, -1, -3, -(2**63), 2**63 - 1, 1 << 32, 100_000_000])
@isolated
def test_read_that_gives_no_proper_answer_has_failed(count: int | None) -> None:
    """B2: given a count below 0, or beyond the capacity, the call ends with SOURCE, and is not retried."""
    with server() as url:
        streams = Streams(url, max_total_attempts=5)
        streams.answers["read"] = [count]
        assert streams.ended() == "SOURCE"
    assert streams.called.count("read") == 1
    assert streams.contexts_freed == BOTH_ONCE


@pytest.mark.parametrize("answer", [None, 0, -1, 3, 2**31 - 1, -(2**31)])
@isolated
def test_write_that_gives_no_proper_answer_has_failed(answer: int | None) -> None:
    """B2: given an invalid answer, the call ends with SINK, and is not retried."""
    with server() as url:
        streams = Streams(url, max_total_attempts=5)
        streams.answers["write"] = [answer]
        assert streams.ended() == "SINK"
    assert streams.called.count("write") == 1
    assert streams.contexts_freed == BOTH_ONCE


@pytest.mark.parametrize("answer", [None, 0, -1, 2, 2**31 - 1, -(2**31)])
@isolated
def test_begin_that_gives_no_proper_answer_has_failed(answer: int | None) -> None:
    """B2, B15: nothing is delivered, the call ends with SINK, and is not retried."""
    with server() as url:
        streams = Streams(url, max_total_attempts=5)
        streams.answers["begin"] = [answer]
        assert streams.ended() == "SINK"
    assert (streams.called.count("begin"), streams.called.count("write")) == (1, 0)
    assert streams.contexts_freed == BOTH_ONCE


@isolated
def test_source_that_ends_before_its_length_has_failed() -> None:
    with server() as url:
        streams = Streams(url)
        streams.source.length = len(BODY) + 1
        assert streams.ended() == "SOURCE"


@isolated
def test_source_is_not_asked_for_more_than_its_length() -> None:
    with server() as url:
        streams = Streams(url)
        streams.source.length = 5
        streams.answers["read"] = [5]
        assert streams.ended() == "OK"
    assert streams.called.count("read") == 1 and len(streams.taken) == 5


# Lives of contexts


@isolated
def test_contexts_are_freed_once_if_a_call_begins_and_never_if_not() -> None:
    """Given each hostile argument, after an error the contexts are still the caller's; else they are freed once."""
    library = Library()
    function = HEADER.functions["boxretry_client_perform"]
    arguments = Arguments(library, function, way=WITH_CALLBACKS)
    freed: list[int] = []
    callback = library.callback("boxretry_sink", "context_free", freed.append)
    structs = [arguments.struct_at(("request", field)) for field in ("body_source", "sink")]
    for struct in structs:
        struct.context_free = address(callback)
    answers: set[str] = set()
    for case in cases(function, WITH_CALLBACKS) + cases(function):
        if len(case) > 1 or any("context" in override.place.path[-1] for override in case):
            continue
        if any(override.place.path[-1] in ("body", "body_length") for override in case):
            continue
        freed.clear()
        answer = arguments.call(case)
        arguments.free_result()
        answers.add(answer)
        is_seen = not any(
            override.value is None and override.place.path[-1] in ("body_source", "sink") for override in case
        )
        if answer == "BOXRETRY_OK" and is_seen:
            assert len(freed) == 2, case
        else:
            assert len(freed) in ([0] if answer != "BOXRETRY_OK" else [1]), (case, answer)
    assert len(answers) > 1


@pytest.mark.parametrize("ending", ["cancelled before", "closed", "cancelled", "freed", "client freed"])
@isolated
def test_contexts_are_freed_once_however_a_call_ends(ending: str) -> None:
    """Given a silent server, the call is ended in each way; a closed client refuses it, and frees nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        streams = Streams(b"http://127.0.0.1:%d/" % silent.getsockname()[1])
        calls = streams.calls
        streams.request.on_complete = None
        if ending == "cancelled before":
            switch = calls.library.new("boxretry_cancel_new")
            calls.ask("cancel_trigger", switch)
            streams.request.cancel = switch
        if ending == "closed":
            assert calls.ask("client_close", calls.client, FOR_EVER) == "BOXRETRY_OK"
            for function in ("client_submit", "client_perform"):
                out = ctypes.c_void_p()
                answer = calls.ask(function, calls.client, address(streams.request), address(out))
                assert answer == "BOXRETRY_ERROR_CLOSED"
            assert streams.called == []
            return
        freed = threading.Semaphore(0)
        streams.inside = {f"context_free of the {of}": freed.release for of in ("source", "sink")}
        call = calls.submit(streams.request)
        if ending == "cancelled":
            calls.ask("call_cancel", call)
        if ending == "client freed":
            calls.ask("client_free", calls.client)
        if ending == "freed":
            calls.ask("call_free", call)
        freed.acquire()
        freed.acquire()
        if ending != "freed":
            assert calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_OK"
        if ending != "client freed":
            assert calls.ask("client_close", calls.client, FOR_EVER) == "BOXRETRY_OK"
    assert streams.contexts_freed == BOTH_ONCE


# Calls from inside


@pytest.mark.parametrize("blocking", BLOCKING)
@each_callback
@isolated
def test_what_blocks_refuses_to_run_in_any_callback_of_a_call(name: str, blocking: str) -> None:
    """K4."""
    with server() as url:
        streams = Streams(url)
        arguments = Arguments(streams.calls.library, HEADER.functions[blocking])
        answers: list[str] = []

        def call_what_blocks() -> None:
            if not answers:
                answers.append(arguments.call())

        arguments.prepare()
        streams.inside[name] = call_what_blocks
        call = streams.calls.submit(streams.request)
        assert streams.calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_OK"
        assert streams.calls.ask("client_close", streams.calls.client, FOR_EVER) == "BOXRETRY_OK"
    assert answers == ["BOXRETRY_ERROR_IN_CALLBACK"]


@pytest.mark.parametrize("kind", ["client", "call", "queue", "cancel", "strategy", "all"])
@each_callback
@isolated
def test_any_callback_may_free_all_handles(name: str, kind: str) -> None:
    """Given a callback that frees a handle of its own call, the call ends, and its contexts are freed once."""
    with server() as url:
        streams = Streams(url)
        calls = streams.calls
        handles = {name: calls.library.new(f"boxretry_{name}_new") for name in ("queue", "cancel")}
        handles["strategy"] = calls.library.new("boxretry_strategy_new", None)
        handles["client"] = calls.client
        streams.request.cancel, streams.request.strategy = handles["cancel"], handles["strategy"]
        if name != "on_complete":
            streams.request.queue, streams.request.on_complete = handles["queue"], None
        submitted = threading.Event()
        over = threading.Semaphore(0)

        def free() -> None:
            submitted.wait()
            for other in list(handles):
                if kind in (other, "all"):
                    calls.ask(f"{other}_free", handles.pop(other))
            over.release()

        for of in ("source", "sink"):
            streams.inside[f"context_free of the {of}"] = over.release
        streams.inside[name] = free
        handles["call"] = calls.submit(streams.request)
        submitted.set()
        for _ in range(2 if "context_free" in name else 3):
            over.acquire()
        if "client" in handles:
            assert calls.ask("client_close", handles["client"], FOR_EVER) == "BOXRETRY_OK"
    assert streams.contexts_freed == BOTH_ONCE


@each_callback
@isolated
def test_any_callback_may_cancel_its_call(name: str) -> None:
    """K1: it ends with CANCELLED, unless it has ended before the loop hears of it."""
    with server() as url:
        streams = Streams(url)
        switch = streams.calls.library.new("boxretry_cancel_new")
        streams.request.cancel = switch
        streams.inside[name] = lambda: streams.calls.ask("cancel_trigger", switch)
        call = streams.calls.submit(streams.request)
        assert streams.calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_OK"
        error = streams.calls.error(streams.calls.ask("call_take_response", call))
        assert streams.calls.ask("client_close", streams.calls.client, FOR_EVER) == "BOXRETRY_OK"
    allowed = {"BOXRETRY_ERROR_CANCELLED"}
    if name not in ("read", "before_attempt", "on_transfer"):
        allowed.add("BOXRETRY_OK")
    assert error in allowed
    assert streams.contexts_freed == BOTH_ONCE


# Pauses


@pytest.mark.parametrize("name, pause", [("read", PAUSE_READING), ("write", PAUSE_WRITING)])
@isolated
def test_resume_from_inside_the_callback_that_pauses_asks_again(name: str, pause: int) -> None:
    with server() as url:
        streams = Streams(url)
        streams.answers[name] = [pause] * 3
        streams.inside[name] = lambda: streams.calls.ask("call_resume", streams.call)
        assert streams.ended() == "OK"
    assert streams.taken == BODY


@pytest.mark.parametrize("name, pause", [("read", PAUSE_READING), ("write", PAUSE_WRITING)])
@isolated
def test_storm_of_resumes_from_many_threads_loses_nothing(name: str, pause: int) -> None:
    """Given a callback that pauses many times, and threads that resume all the time, the body comes whole."""
    with server() as url:
        streams = Streams(url)
        streams.answers[name] = [pause] * 50
        call = streams.calls.submit(streams.request)

        def resume(number: int) -> None:
            while streams.calls.ask("call_wait", call, 0) != "BOXRETRY_OK":
                streams.calls.ask("call_resume", call)

        in_threads(resume, 4)
        assert streams.calls.error(streams.calls.ask("call_take_response", call)) == "BOXRETRY_OK"
    assert streams.taken == BODY


@pytest.mark.parametrize("how", ["cancel", "deadline", "resource timeout", "free", "client_free", "close"])
@pytest.mark.parametrize("name, pause", [("read", PAUSE_READING), ("write", PAUSE_WRITING)])
@isolated
def test_call_that_is_never_resumed_ends_as_others_do(name: str, pause: int, how: str) -> None:
    """K1, B11, M2: given a callback that pauses forever."""
    with server() as url:
        streams = Streams(url)
        calls = streams.calls
        paused, freed = threading.Event(), threading.Semaphore(0)
        streams.answers[name] = [pause]
        streams.inside[name] = paused.set
        streams.inside["context_free of the source"] = streams.inside["context_free of the sink"] = freed.release
        if how == "deadline":
            streams.request.deadline_ms = 300
        if how == "resource timeout":
            timeouts = calls.library.struct("boxretry_timeouts", timeout_interval_for_resource_ms=300)
            streams.request.timeouts = address(timeouts)
        call = calls.submit(streams.request)
        paused.wait()
        if how == "cancel":
            calls.ask("call_cancel", call)
        if how == "free":
            calls.ask("call_free", call)
        if how == "client_free":
            calls.ask("client_free", calls.client)
        if how == "close":
            assert calls.ask("client_close", calls.client, FOR_EVER) == "BOXRETRY_OK"
        freed.acquire()
        freed.acquire()
        if how != "free":
            assert calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_OK"
            expected = {"deadline": "DEADLINE", "resource timeout": "TIMEOUT_RESOURCE"}.get(how, "CANCELLED")
            assert calls.error(calls.ask("call_take_response", call)) == f"BOXRETRY_ERROR_{expected}"
    assert streams.contexts_freed == BOTH_ONCE


# A fork inside


@each_callback
@isolated
def test_any_callback_may_fork(name: str) -> None:
    """Given a child that is forked in a callback, it may free its parent's handles; the parent's call continues."""
    with server() as url:
        streams = Streams(url)
        calls = streams.calls
        children: list[int] = []

        def fork() -> None:
            if children:
                return
            child = os.fork()
            if child == 0:
                stats = calls.library.struct("boxretry_client_stats")
                answer = calls.ask("client_get_stats", calls.client, address(stats))
                calls.ask("call_cancel", streams.call)
                calls.ask("call_resume", streams.call)
                calls.ask("call_free", streams.call)
                calls.ask("client_free", calls.client)
                os._exit(answer != "BOXRETRY_ERROR_FORKED")
            children.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

        streams.inside[name] = fork
        call = calls.submit(streams.request)
        assert calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_OK"
        assert calls.error(calls.ask("call_take_response", call)) == "BOXRETRY_OK"
        assert calls.ask("client_close", calls.client, FOR_EVER) == "BOXRETRY_OK"
    assert children == [0]
    assert streams.contexts_freed == BOTH_ONCE


# Descriptors


def a_pipe(folder: Path) -> int:
    return os.pipe()[0]


def a_folder(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY)


def a_device(folder: Path) -> int:
    return os.open("/dev/zero", os.O_RDONLY)


def what_is_closed(folder: Path) -> int:
    descriptor = os.open("/dev/null", os.O_RDONLY)
    os.close(descriptor)
    return descriptor


def nothing(folder: Path) -> int:
    return -1


@pytest.mark.parametrize("make", [a_pipe, a_folder, a_device, what_is_closed, nothing])
@isolated
def test_descriptor_that_is_not_of_a_regular_file_is_refused(make: Callable[[Path], int], tmp_path: Path) -> None:
    streams = Streams(REFUSED)
    out = ctypes.c_void_p()
    streams.source.kind, streams.source.descriptor = 2, make(tmp_path)
    answer = streams.calls.ask("client_perform", streams.calls.client, address(streams.request), address(out))
    assert answer == "BOXRETRY_ERROR_INVALID_ARGUMENT"
    assert "descriptor" in streams.calls.library.detail
    assert streams.called == []


# Redirects


@isolated
def test_redirects_are_written_as_far_as_the_callers_struct_goes() -> None:
    """Convention 3, for a result that only a call with redirects has."""
    with server() as url:
        calls = Streams(url).calls
        response = calls.perform(calls.request(url + b"redirect/3"))
    assert calls.error(response) == "BOXRETRY_OK"
    assert calls.ask("response_redirect_count", response) == 3
    size = ctypes.sizeof(calls.library.structs["boxretry_redirect"])
    for index, steps in enumerate((2, 1, 0)):
        for longer in (0, 8):
            redirect: Any = calls.library.struct("boxretry_redirect")
            redirect.struct_size = size + longer
            assert calls.ask("response_redirect", response, index, address(redirect)) == "BOXRETRY_OK"
            assert (redirect.struct_size, redirect.attempt_number, redirect.status) == (size + longer, 1, 302)
            assert ctypes.string_at(redirect.url) == url + b"redirect/%d" % steps
    assert calls.ask("response_redirect", response, 3, address(redirect)) == "BOXRETRY_ERROR_INVALID_ARGUMENT"
    calls.ask("response_free", response)
