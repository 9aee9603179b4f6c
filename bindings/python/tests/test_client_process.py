"""A client and its process: Ctrl-C (F81), the end of the interpreter, and os.fork()."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from paths import PACKAGE
from test_fork import in_child
from threads import seconds_to_wake

from boxretry import CancelSwitch, Client, CustomRetryStrategy, ForkedError, InCallbackError, Outcome
from boxretry._c import _abi

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

Server = Any
#: Seconds that a busy machine may take longer.
PATIENCE = 40


def start(program: str, *arguments: object, first: str = "") -> subprocess.Popen[str]:
    text = first + "import sys, threading, time\nfrom boxretry import *\n" + textwrap.dedent(program)
    return subprocess.Popen(
        [sys.executable, "-c", text, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE / "src")},
    )


def end_of(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        output, errors = process.communicate(timeout=55)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise AssertionError("it hangs") from None
    return process.returncode, output, errors


WAYS = {
    "request": "client.get(url)",
    "response": "client.submit('GET', url).response()",
    "wait": "client.submit('GET', url).wait()",
    "wait with a limit": "client.submit('GET', url).wait(1000)",
    "strategy": "client.get(url, strategy=Slow())",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
@pytest.mark.parametrize("item", ["stall", "503"])
def test_f81_ctrl_c_ends_a_blocking_wait(server: Server, way: str, item: str) -> None:
    """K1. During an attempt, and during a wait of 60 s: KeyboardInterrupt within 0.2 s, and the call is canceled."""
    program = f"""
    class Slow(CustomRetryStrategy):
        def should_retry(self, outcome, attempt_number):
            return True
        def retry_after(self, outcome, attempt_number):
            return 60
    url, client = sys.argv[1], Client()
    try:
        {way}
    except KeyboardInterrupt:
        print(time.monotonic(), flush=True)
    client.close()
    print(client._handle, flush=True)
    """
    id = server.new_id()
    process = start(program, server.url(f"/seq/{item}", {"h": "Retry-After:60"}, id=id))
    server.seen(id, requests=1)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    code, output, errors = end_of(process)
    assert (code, errors) == (0, "")
    late = float(output.split()[0]) - sent
    assert late < 0.2 + PATIENCE
    assert len(server.seen(id, ended=True)) == 1


@pytest.mark.parametrize("item", ["stall", "503"])
def test_f81_ctrl_c_comes_in_time(server: Server, item: str) -> None:
    """The best of some rounds, because the machine may be busy: within 0.2 s, if it wakes other threads at once; in an
    attempt and in a wait of 60 s."""
    program = """
    client = Client()
    try:
        client.get(sys.argv[1])
    except KeyboardInterrupt as error:
        print(time.monotonic(), flush=True)
        while client.stats().calls_ended == 0:  # It was canceled, and its end is not waited for.
            time.sleep(0.001)
    """
    late, machine_late = [], []
    for _ in range(5):
        id = server.new_id()
        process = start(program, server.url(f"/seq/{item}", {"h": "Retry-After:60"}, id=id))
        server.seen(id, requests=1, over=item == "503")
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        code, output, errors = end_of(process)
        assert (code, errors) == (0, "")
        late.append(float(output.split()[0]) - sent)
        machine_late.append(seconds_to_wake())
    assert min(late) < 0.2 + 4 * max(machine_late)


@pytest.mark.parametrize(
    "way",
    ["for piece in stack.enter_context(client.stream('GET', url)).iter_bytes(): pass", "client.get(url, sink=bool)"],
    ids=["stream", "sink"],
)
def test_f81_ctrl_c_comes_while_a_body_arrives(way: str) -> None:
    """Given a body without an end, Ctrl-C may come at the very moment at which the library calls back."""
    program = f"""
    import contextlib, os, signal, socket
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{{listener.getsockname()[1]}}/"
    def send():
        connection, _ = listener.accept()
        connection.sendall(b"HTTP/1.1 200 OK\\r\\n\\r\\n" + b"x" * 1000)
        with contextlib.suppress(OSError):
            os.kill(os.getpid(), signal.SIGINT)
            while True:
                connection.sendall(b"x" * 1000)
    threading.Thread(target=send, daemon=True).start()
    try:
        with Client() as client, contextlib.ExitStack() as stack:
            {way}
    except KeyboardInterrupt:
        print("interrupted")
    """
    status, output, _ = end_of(start(program))
    assert (status, output) == (0, "interrupted\n")


#: What the main thread does, and the answer's status and Retry-After. The body of a 200 has no end.
CALLBACKS = {
    "on_event": ("Client(on_event=bool).get(url)", "503 Busy", 60),
    "before_attempt": ("Client().get(url, before_attempt=bool)", "503 Busy", 0),
    "on_event in a stream": ("Client(on_event=bool).stream('GET', url).__enter__()", "503 Busy", 60),
    "on_event in Call.response()": ("Client(on_event=bool).submit('GET', url).response()", "503 Busy", 60),
    "on_progress": ("Client().get(url, on_progress=bool)", "200 OK", 60),
}


@pytest.mark.parametrize(
    ("number", "callback"), [("SIGALRM", "on_event"), *(("SIGINT", callback) for callback in CALLBACKS)]
)
def test_f81_an_exception_of_a_signal_handler_just_before_a_callback(number: str, callback: str) -> None:
    """Python runs the handler before the first line of the callback, which cannot catch the exception there.

    The single waits are long, so that the handler runs there and not between two of them.
    """
    way, status, after = CALLBACKS[callback]
    length = "Content-Length: 0\\r\\n" if status == "503 Busy" else ""
    program = f"""
    import contextlib, os, signal, socket
    from boxretry._sending import performing
    from boxretry.calls import call
    performing.SLICE_MS = call.SLICE_MS = 1000
    class Alarm(Exception):
        pass
    def ring(number, frame):
        raise Alarm
    signal.signal(signal.SIGALRM, ring)
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{{listener.getsockname()[1]}}/"
    def answer():
        connection, _ = listener.accept()
        connection.recv(10000)
        os.kill(os.getpid(), signal.{number})
        with contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 {status}\\r\\nRetry-After: {after}\\r\\n{length}\\r\\n")
            while "{status}" == "200 OK":
                connection.sendall(b"x")
            connection.recv(10000)
        listener.accept()
    threading.Thread(target=answer, daemon=True).start()
    try:
        {way}
    except (KeyboardInterrupt, Alarm) as error:
        print(type(error).__name__, flush=True)
    os._exit(0)
    """
    expected = {"SIGINT": "KeyboardInterrupt\n", "SIGALRM": "Alarm\n"}[number]
    assert end_of(start(program)) == (0, expected, "")


def test_other_exceptions_that_nothing_can_catch_go_where_they_always_go(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here, that of a destructor, in a callback on the main thread."""
    told: list[BaseException | None] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: told.append(unraisable.exc_value))
    hook = sys.unraisablehook

    class Fails:
        def __del__(self) -> None:
            raise ZeroDivisionError

    with Client() as client:
        response = client.get(
            server.url("/seq/200", id=server.new_id()), before_attempt=lambda request: Fails() and None
        )
    assert response.status == 200
    assert [type(each) for each in told] == [ZeroDivisionError]
    assert sys.unraisablehook is hook


def test_f81_ctrl_c_just_after_the_request_was_begun(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may come at any moment: here, the library has made the call, and Python does not know it yet."""
    begin = _abi.boxretry_client_submit_and_wait

    def interrupted(*arguments: object) -> int:
        assert begin(*arguments) == 0
        raise KeyboardInterrupt

    monkeypatch.setattr(_abi, "boxretry_client_submit_and_wait", interrupted)
    with Client() as client:
        with pytest.raises(KeyboardInterrupt) as raised:  # It keeps the frames that it passed through.
            client.get(server.url("/seq/stall", id=server.new_id()))
        due = time.monotonic() + PATIENCE
        while client.stats().calls_ended == 0 and time.monotonic() < due:
            time.sleep(0.001)
        assert client.stats().calls_ended == 1
    assert raised.value


def test_a_signal_handler_runs_during_a_wait(server: Server) -> None:
    """The wait continues after it."""
    program = """
    import signal
    signal.signal(signal.SIGUSR1, lambda *_: print("handled", flush=True))
    print(Client().get(sys.argv[1]).status)
    """
    id = server.new_id()
    process = start(program, server.url("/seq/503,200", {"503.h": "Retry-After:1"}, id=id))
    server.seen(id, requests=1)
    process.send_signal(signal.SIGUSR1)
    assert end_of(process) == (0, "handled\n200\n", "")


AT_THE_END = {
    "nothing under way": "client.get(url)",
    "a call": "call = client.submit('GET', stall)",
    "a daemon that performs": "threading.Thread(target=client.get, args=(stall,), daemon=True).start()",
    "many clients": "clients = [Client(on_event=print_it) for _ in range(20)]\n"
    "    calls = [client.submit('GET', stall) for client in clients]",
    "retries all the time": "call = client.submit('GET', url, strategy=Again())",
    "a strategy that sleeps": "call = client.submit('GET', url, strategy=Sleeps())\n    asked.wait()",
}


@pytest.mark.parametrize("what", AT_THE_END.values(), ids=list(AT_THE_END))
@pytest.mark.parametrize("how", ["", "sys.exit(0)"])
def test_open_clients_are_closed_before_the_interpreter_ends(server: Server, what: str, how: str) -> None:
    """Given calls with callbacks that are still in progress, then the process exits normally, and soon."""
    program = f"""
    def print_it(event):
        seen.append(event)
    class Again(CustomRetryStrategy):
        def should_retry(self, outcome, attempt_number):
            return True
        def retry_after(self, outcome, attempt_number):
            return 0
    class Sleeps(Again):
        def should_retry(self, outcome, attempt_number):
            asked.set()
            time.sleep(1)
            return True
    seen, asked = [], threading.Event()
    url, stall = sys.argv[1:]
    client = Client(on_event=print_it)
    client.get(url)
    {what}
    print("at the end", flush=True)
    {how}
    """
    id = server.new_id()
    urls = server.url("/seq/200", id=id, quiet=""), server.url("/seq/stall", id=id, quiet="")
    code, output, errors = end_of(start(program, *urls))
    if "daemon" in what:  # What it raises at the end does not matter.
        errors = ""
    assert (code, output, errors) == (0, "at the end\n", "")


def test_calls_have_ended_before_python_can_no_longer_be_called_back(server: Server) -> None:
    """Given functions that run at exit after those of this package, then no call is in progress."""
    program = """
    import atexit
    client = Client(on_event=lambda event: None)
    call = client.submit("GET", sys.argv[1])
    """
    first = "import atexit\natexit.register(lambda: print(call.wait(0)))\n"
    process = start(program, server.url("/seq/stall", id=server.new_id()), first=first)
    assert end_of(process) == (0, "None\n", "")


def test_what_the_parent_made_is_refused_in_the_child(server: Server) -> None:
    """It never hangs; and the child may close and drop it."""
    client, switch = Client(), CancelSwitch()
    url = server.url("/seq/200", id=server.new_id())
    response, unread = client.get(url), client.get(url)
    assert len(response.content) == 64
    call = client.submit("GET", server.url("/seq/stall", id=server.new_id()))

    def work() -> None:
        for use in (
            lambda: client.get(url),
            lambda: client.submit("GET", url),
            client.stats,
            call.wait,
            lambda: call.wait(0),
            call.response,
            lambda: unread.content,
            lambda: unread.text,
            lambda: unread.headers,
            lambda: unread.attempts,
            lambda: unread.url,
            lambda: unread.content_is_cut_off,
        ):
            with pytest.raises(ForkedError):
                use()
        with Client() as own, pytest.raises(ForkedError):
            own.get(url, cancel=switch)
        assert len(response.content) == 64
        call.cancel()
        switch.trigger()
        client.close()

    in_child(work)
    assert len(unread.content) == 64
    with pytest.raises(TimeoutError):
        call.wait(0)
    assert client.get(url).status == 200
    client.close()


def test_what_the_child_makes_works(server: Server) -> None:
    """Also in a child of a thread that is not the main one, during another thread's request."""
    url = server.url("/seq/503,200", {"503.h": "Retry-After:0"}, id=server.new_id(), cycle="")
    client = Client()
    call = client.submit("GET", server.url("/seq/stall", id=server.new_id()))

    def work() -> None:
        with Client() as own:
            assert own.get(url).status == 200
            assert own.submit("GET", url).response().status == 200

    in_child(work)
    call.cancel()
    client.close()


@pytest.mark.parametrize("where", ["strategy", "on_event of the engine's thread", "on_event of the caller's thread"])
def test_a_fork_inside_a_callback(server: Server, where: str) -> None:
    """In the child, the parent's objects are refused as always; and this thread must not wait, as in any callback."""
    url = server.url("/seq/200", id=server.new_id(), cycle="")
    ran: list[bool] = []
    forked = threading.Event()

    def work() -> None:
        for use in (lambda: client.get(url), lambda: client.submit("GET", url), client.stats):
            with pytest.raises(ForkedError):
                use()
        with Client() as own:
            with pytest.raises(InCallbackError):
                own.get(url)
            # Not ThreadPoolExecutor: with Python 3.9, a child may wait forever for a lock that its parent held.
            statuses: list[int] = []
            thread = threading.Thread(target=lambda: statuses.append(own.get(url).status))
            thread.start()
            thread.join()
            assert statuses == [200]

    def fork(*_: object) -> bool:
        if not ran:
            ran.append(True)
            in_child(work)
            forked.set()
        return False

    class Forks(CustomRetryStrategy):
        def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            return fork()

    client = Client(Forks()) if where == "strategy" else Client(on_event=fork)
    with client:
        if "caller" in where:
            thread = ThreadPoolExecutor(1)
            assert thread.submit(client.get, url).result().status == 200
            thread.shutdown()
        elif "engine" in where:
            call = client.submit("GET", url)
            assert forked.wait(60)  # No thread waits for the call before.
            assert call.response().status == 200
        else:
            assert client.get(url).status == 200
    assert ran == [True]


def test_a_child_of_multiprocessing_ends_well(server: Server) -> None:
    """Given a client that the parent has open, then the child closes nothing that belongs to the parent."""
    program = """
    import multiprocessing
    client = Client()
    def work(url):
        with Client() as own:
            print(own.get(url).status, flush=True)
    client.get(sys.argv[1])
    process = multiprocessing.get_context("fork").Process(target=work, args=(sys.argv[1],))
    process.start()
    process.join()
    print(process.exitcode, client.get(sys.argv[1]).status)
    """
    process = start(program, server.url("/seq/200", id=server.new_id()))
    code, output, _ = end_of(process)
    assert (code, output) == (0, "200\n0 200\n")
